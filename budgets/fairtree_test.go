package budgets_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/budgets"
)

const hour = time.Hour

// charges is what each user used, in billable-seconds, by "account/name".
type charges map[string]float64

func newTree(t testing.TB, accounts []budgets.Account, users []budgets.User) *budgets.Tree {
	t.Helper()
	tree, err := budgets.NewTree(accounts, users)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// charged returns a usage without decay that holds the charges.
func charged(t testing.TB, tree *budgets.Tree, users []budgets.User, used charges) *budgets.Usage {
	t.Helper()
	usage, err := tree.NewUsage(0, budgets.NoDecay)
	if err != nil {
		t.Fatal(err)
	}
	for i, u := range users {
		usage.Charge(i, 0, segue.Seconds(1), used[u.Account+"/"+u.Name])
	}
	return usage
}

func TestFairTreeRanksUsersAsItsPageSays(t *testing.T) {
	t.Parallel()
	inParent := budgets.SharesParent
	tests := map[string]struct {
		accounts []budgets.Account
		users    []budgets.User
		used     charges
		want     []float64 // ranks, of as many as there are users
	}{
		// Under the root: physics has 60 of 100 shares and used 800 of 1000,
		// so LF = 0.6/0.8 = 0.75; biology has 40 and used 200, LF = 0.4/0.2 = 2.
		// Biology is visited first, whatever its users did.
		// In biology: cy has 1 of 2 shares and used 150 of 200: 0.5/0.75 = 0.67;
		// di 0.5/0.25 = 2. So di is ranked 4 of 4, cy 3.
		// In physics: an has 1 of 4 shares and used 100 of 800: 0.25/0.125 = 2;
		// bo 0.75/0.875 = 0.857. So an is ranked 2, bo 1.
		"worked example: accounts come before users, and lower use before higher": {
			accounts: []budgets.Account{{Name: "physics", Shares: 60}, {Name: "biology", Shares: 40}},
			users: []budgets.User{
				{Name: "an", Account: "physics", Shares: 1},
				{Name: "bo", Account: "physics", Shares: 3},
				{Name: "cy", Account: "biology", Shares: 1},
				{Name: "di", Account: "biology", Shares: 1},
			},
			used: charges{"physics/an": 100, "physics/bo": 700, "biology/cy": 150, "biology/di": 50},
			want: []float64{2, 1, 3, 4},
		},
		"nobody used anything: all are first": {
			accounts: []budgets.Account{{Name: "a", Shares: 1}, {Name: "b", Shares: 9}},
			users: []budgets.User{
				{Name: "x", Account: "a", Shares: 1},
				{Name: "y", Account: "b", Shares: 5},
				{Name: "z", Account: "b", Shares: 1},
			},
			want: []float64{3, 3, 3},
		},
		"tied sibling users share a rank, and the next one is not moved up": {
			users: []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 1}, {Name: "z", Shares: 1}},
			used:  charges{"/x": 1, "/y": 1, "/z": 2},
			want:  []float64{3, 3, 1},
		},
		// Both accounts have LF 1, so their users form one list: x and v with
		// 0.5/0.25 = 2, then y and w with 0.5/0.75.
		"tied sibling accounts rank their users as one list": {
			accounts: []budgets.Account{{Name: "a", Shares: 1}, {Name: "b", Shares: 1}},
			users: []budgets.User{
				{Name: "x", Account: "a", Shares: 1},
				{Name: "y", Account: "a", Shares: 1},
				{Name: "v", Account: "b", Shares: 1},
				{Name: "w", Account: "b", Shares: 1},
			},
			used: charges{"a/x": 1, "a/y": 3, "b/v": 1, "b/w": 3},
			want: []float64{4, 2, 4, 2},
		},
		// u has 1 of 2 shares and used half, LF 1, and so has account a.
		"a user tied with an account has the rank of its highest ranked user": {
			accounts: []budgets.Account{{Name: "a", Shares: 1}},
			users: []budgets.User{
				{Name: "u", Shares: 1},
				{Name: "x", Account: "a", Shares: 1},
				{Name: "y", Account: "a", Shares: 1},
			},
			used: charges{"/u": 4, "a/x": 1, "a/y": 3},
			want: []float64{3, 3, 1},
		},
		// deep is the only child of a besides the empty account, which sorts
		// first (no usage) and has nobody to take the tied rank.
		"the tie reaches past an empty account": {
			accounts: []budgets.Account{
				{Name: "a", Shares: 1}, {Name: "empty", Parent: "a", Shares: 1}, {Name: "deep", Parent: "a", Shares: 1},
			},
			users: []budgets.User{
				{Name: "u", Shares: 1},
				{Name: "x", Account: "deep", Shares: 1},
				{Name: "y", Account: "deep", Shares: 1},
			},
			used: charges{"/u": 4, "deep/x": 1, "deep/y": 3},
			want: []float64{3, 3, 1},
		},
		"no shares is last even without usage": {
			users: []budgets.User{{Name: "x", Shares: 0}, {Name: "y", Shares: 1}, {Name: "z", Shares: 1}},
			used:  charges{"/y": 5, "/z": 1},
			want:  []float64{1, 2, 3},
		},
		"a user with the parent's shares is first whatever it used": {
			users: []budgets.User{{Name: "x", Shares: inParent}, {Name: "y", Shares: 1}, {Name: "z", Shares: 1}},
			used:  charges{"/x": 90, "/y": 5, "/z": 1},
			want:  []float64{3, 1, 2},
		},
		// Without the account b, x competes with y: 0.5/0.75 against 0.5/0.25.
		"children of an account with the parent's shares belong to the account above": {
			accounts: []budgets.Account{{Name: "a", Shares: 1}, {Name: "b", Parent: "a", Shares: inParent}},
			users: []budgets.User{
				{Name: "x", Account: "b", Shares: 1},
				{Name: "y", Account: "a", Shares: 1},
			},
			used: charges{"b/x": 3, "a/y": 1},
			want: []float64{1, 2},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := newTree(t, test.accounts, test.users)
			got := make([]float64, tree.Users())
			tree.Factors(charged(t, tree, test.users, test.used), got)
			for i := range got {
				got[i] = math.Round(got[i] * float64(len(got)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ranks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTreeRefusesWhatIsNotATree(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		accounts []budgets.Account
		users    []budgets.User
		want     string
	}{
		"an account of an unknown parent": {
			accounts: []budgets.Account{{Name: "a", Parent: "b"}},
			want:     `account "a": unknown parent "b"`,
		},
		"an account named like another": {
			accounts: []budgets.Account{{Name: "a"}, {Name: "a"}},
			want:     `account "a": the name is taken ("" is the root)`,
		},
		"accounts in a circle": {
			accounts: []budgets.Account{{Name: "a", Parent: "b"}, {Name: "b", Parent: "a"}},
			want:     `account "a": its parents form a cycle`,
		},
		"a user of an unknown account": {
			users: []budgets.User{{Name: "x", Account: "a"}},
			want:  `user "x": unknown account "a"`,
		},
		"a user twice in one account": {
			users: []budgets.User{{Name: "x"}, {Name: "x"}},
			want:  `user "x" is in account "" twice`,
		},
		"negative shares": {
			users: []budgets.User{{Name: "x", Shares: -2}},
			want:  `user x: -2 shares, want 0 or more, or SharesParent`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := budgets.NewTree(test.accounts, test.users)
			if err == nil || err.Error() != test.want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("got error %v (kind %s), want %q (kind invalid)", err, segue.KindOf(err), test.want)
			}
		})
	}
}

// randomTree draws up to three levels of accounts with users everywhere, small
// shares and small whole charges, so that ties are frequent.
func randomTree(t *rapid.T) (*budgets.Tree, []float64) {
	var accounts []budgets.Account
	names := []string{""}
	for i := range rapid.IntRange(0, 5).Draw(t, "accounts") {
		name := string(rune('a' + i))
		accounts = append(accounts, budgets.Account{
			Name:   name,
			Parent: rapid.SampledFrom(names).Draw(t, "parent"),
			Shares: rapid.IntRange(-1, 3).Draw(t, "account shares"),
		})
		names = append(names, name)
	}
	var users []budgets.User
	var used []float64
	for i := range rapid.IntRange(1, 8).Draw(t, "users") {
		users = append(users, budgets.User{
			Name:    string(rune('p' + i)),
			Account: rapid.SampledFrom(names).Draw(t, "account"),
			Shares:  rapid.IntRange(-1, 3).Draw(t, "shares"),
		})
		used = append(used, float64(rapid.IntRange(0, 4).Draw(t, "used")))
	}
	tree, err := budgets.NewTree(accounts, users)
	if err != nil {
		t.Fatal(err)
	}
	return tree, used
}

func factorsOf(t *rapid.T, tree *budgets.Tree, used []float64, scale float64) []float64 {
	usage, err := tree.NewUsage(0, budgets.NoDecay)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range used {
		usage.Charge(i, 0, segue.Seconds(1), v*scale)
	}
	out := make([]float64, tree.Users())
	tree.Factors(usage, out)
	return out
}

func TestFactorsLieAboveZeroAndTheFirstUserHasOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, used := randomTree(t)
		best := 0.0
		for i, f := range factorsOf(t, tree, used, 1) {
			if !(f > 0 && f <= 1) {
				t.Fatalf("user %d has factor %g, want one in (0, 1]", i, f)
			}
			best = max(best, f)
		}
		if best != 1 {
			t.Fatalf("the best factor is %g, want 1", best)
		}
	})
}

func TestUsingMoreNeverRaisesAUsersRank(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, used := randomTree(t)
		user := rapid.IntRange(0, len(used)-1).Draw(t, "user")
		before := factorsOf(t, tree, used, 1)[user]
		used[user] += float64(rapid.IntRange(1, 5).Draw(t, "more"))
		if after := factorsOf(t, tree, used, 1)[user]; after > before {
			t.Fatalf("user %d rose from %g to %g by using more", user, before, after)
		}
	})
}

func TestFactorsDoNotDependOnTheUnitOfUsage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, used := randomTree(t)
		scale := math.Ldexp(1, rapid.IntRange(-40, 40).Draw(t, "power of two"))
		if diff := cmp.Diff(factorsOf(t, tree, used, 1), factorsOf(t, tree, used, scale)); diff != "" {
			t.Fatalf("factors change with the unit (-one +scaled):\n%s", diff)
		}
	})
}

func TestRankingAllocatesNothing(t *testing.T) { // counts allocations, so never in parallel
	tree, usage := bigTree(t, 300)
	out := make([]float64, tree.Users())
	copied := &budgets.Usage{}
	usage.CopyInto(copied)
	now := segue.Time(0)
	got := testing.AllocsPerRun(20, func() {
		next := now.Add(5 * time.Minute)
		copied.Charge(int(next)%300, now, next, 4)
		now = next
		tree.Factors(copied, out)
		tree.ClassicFactors(copied, 1, out)
		usage.CopyInto(copied)
	})
	if got != 0 {
		t.Errorf("a charge, a ranking and a copy allocate %g times, want 0", got)
	}
}

func BenchmarkFactors(b *testing.B) {
	tree, usage := bigTree(b, 300)
	out := make([]float64, tree.Users())
	b.ReportAllocs()
	for b.Loop() {
		tree.Factors(usage, out)
	}
}

// bigTree has one account per ten users and uneven usage.
func bigTree(t testing.TB, users int) (*budgets.Tree, *budgets.Usage) {
	t.Helper()
	var accounts []budgets.Account
	var us []budgets.User
	for i := range users {
		account := "a" + string(rune('0'+i/10))
		if i%10 == 0 {
			accounts = append(accounts, budgets.Account{Name: account, Shares: 1 + i%7})
		}
		us = append(us, budgets.User{Name: "u" + string(rune('0'+i)), Account: account, Shares: 1})
	}
	tree := newTree(t, accounts, us)
	usage, err := tree.NewUsage(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range users {
		usage.Charge(i, 0, segue.Time(0).Add(hour), float64(i*i%97))
	}
	return tree, usage
}
