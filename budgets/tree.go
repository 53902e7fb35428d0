package budgets

import "github.com/segue-project/segue"

// SharesParent is the share of an account or user that has none of its own
// (Slurm's fairshare=parent). Such a user has the best level fair share among
// its siblings; the children of such an account count as children of the
// account above it.
const SharesParent = -1

// Account is one inner node of the tree of accounts.
type Account struct {
	Name   string // unique
	Parent string // name of the account above; "" is the root
	Shares int    // raw shares among its siblings, or SharesParent
}

// User is one user within one account (Slurm's association). A person who
// charges two accounts is two Users.
type User struct {
	Name    string // unique within its account
	Account string // "" is the root
	Shares  int    // raw shares among its siblings, or SharesParent
}

// Tree is the hierarchy of accounts and users, compiled for ranking. It is
// immutable and may be shared.
//
// The nodes are numbered root, accounts, users; users are known outside by
// their index in the slice that NewTree was given.
type Tree struct {
	firstUser int32
	parent    []int32   // of each node; -1 for the root
	share     []float64 // of each node among its siblings, in [0, 1]
	inherits  []bool    // users with SharesParent
	// children[childStart[n]:childStart[n+1]] are node n's children.
	childStart []int32
	children   []int32
	users      map[[2]string]int // {account, name} to index
}

const root = 0

// NewTree compiles accounts and users, each in any order. It refuses
// duplicates, unknown accounts, cycles and negative shares with kind Invalid.
func NewTree(accounts []Account, users []User) (*Tree, error) {
	first := 1 + len(accounts)
	t := &Tree{
		firstUser: int32(first),
		parent:    make([]int32, first+len(users)),
		inherits:  make([]bool, first+len(users)),
		users:     make(map[[2]string]int, len(users)),
	}
	nodeOf := map[string]int32{"": root}
	shares := make([]int, first+len(users))
	for i, a := range accounts {
		if _, taken := nodeOf[a.Name]; taken {
			return nil, segue.Errorf(segue.Invalid, "account %q: the name is taken (\"\" is the root)", a.Name)
		}
		nodeOf[a.Name] = int32(1 + i)
		shares[1+i] = a.Shares
	}
	t.parent[root] = -1
	for i, a := range accounts {
		above, known := nodeOf[a.Parent]
		if !known {
			return nil, segue.Errorf(segue.Invalid, "account %q: unknown parent %q", a.Name, a.Parent)
		}
		t.parent[1+i] = above
	}
	if err := t.refuseCycles(accounts); err != nil {
		return nil, err
	}
	for i, u := range users {
		above, known := nodeOf[u.Account]
		if !known {
			return nil, segue.Errorf(segue.Invalid, "user %q: unknown account %q", u.Name, u.Account)
		}
		key := [2]string{u.Account, u.Name}
		if _, taken := t.users[key]; taken {
			return nil, segue.Errorf(segue.Invalid, "user %q is in account %q twice", u.Name, u.Account)
		}
		t.users[key] = i
		t.parent[first+i] = above
		shares[first+i] = u.Shares
		t.inherits[first+i] = u.Shares == SharesParent
	}
	for n, s := range shares {
		if s < 0 && s != SharesParent {
			return nil, segue.Errorf(segue.Invalid, "%s: %d shares, want 0 or more, or SharesParent",
				describe(n, accounts, users), s)
		}
	}
	t.bypass(shares)
	t.normalise(shares)
	t.linkChildren()
	return t, nil
}

// Users returns the number of users.
func (t *Tree) Users() int { return len(t.parent) - int(t.firstUser) }

// User returns the index of a user within an account.
func (t *Tree) User(account, name string) (int, bool) {
	i, ok := t.users[[2]string{account, name}]
	return i, ok
}

func (t *Tree) refuseCycles(accounts []Account) error {
	for i := range accounts {
		steps := 0
		for n := t.parent[1+i]; n != root; n = t.parent[n] {
			if steps++; steps > len(accounts) {
				return segue.Errorf(segue.Invalid, "account %q: its parents form a cycle", accounts[i].Name)
			}
		}
	}
	return nil
}

// bypass hangs the children of accounts without shares of their own under the
// nearest account that has some, as sacctmgr's fairshare=parent does. The
// bypassed accounts are left without children.
func (t *Tree) bypass(shares []int) {
	isBypassed := func(n int32) bool { return n != root && n < t.firstUser && shares[n] == SharesParent }
	for n := 1; n < len(t.parent); n++ {
		for isBypassed(t.parent[n]) {
			t.parent[n] = t.parent[t.parent[n]]
		}
	}
}

func (t *Tree) normalise(shares []int) {
	sum := make([]float64, len(t.parent))
	for n := 1; n < len(t.parent); n++ {
		sum[t.parent[n]] += float64(max(shares[n], 0))
	}
	t.share = make([]float64, len(t.parent))
	t.share[root] = 1
	for n := 1; n < len(t.parent); n++ {
		if shares[n] > 0 {
			t.share[n] = float64(shares[n]) / sum[t.parent[n]]
		}
	}
}

func (t *Tree) linkChildren() {
	n := len(t.parent)
	t.childStart = make([]int32, n+1)
	for _, p := range t.parent[1:] {
		t.childStart[p+1]++
	}
	for i := range n {
		t.childStart[i+1] += t.childStart[i]
	}
	next := append([]int32(nil), t.childStart[:n]...)
	t.children = make([]int32, n-1)
	for i, p := range t.parent[1:] {
		t.children[next[p]] = int32(i + 1)
		next[p]++
	}
}

func (t *Tree) childrenOf(n int32) []int32 { return t.children[t.childStart[n]:t.childStart[n+1]] }

func (t *Tree) isUser(n int32) bool { return n >= t.firstUser }

func describe(node int, accounts []Account, users []User) string {
	if node <= len(accounts) {
		return "account " + accounts[node-1].Name
	}
	return "user " + users[node-1-len(accounts)].Name
}
