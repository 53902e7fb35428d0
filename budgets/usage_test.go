package budgets_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/budgets"
)

func oneUser(t testing.TB, halfLife time.Duration) *budgets.Usage {
	t.Helper()
	usage, err := newTree(t, nil, []budgets.User{{Name: "x", Shares: 1}}).NewUsage(0, halfLife)
	if err != nil {
		t.Fatal(err)
	}
	return usage
}

func TestUsageHalvesEveryHalfLife(t *testing.T) {
	t.Parallel()
	usage := oneUser(t, time.Hour)
	usage.Charge(0, -1, 0, 1e6)
	for passed := 1; passed <= 100; passed++ { // far past the point where the reference moves
		usage.Decay(segue.Time(0).Add(time.Duration(passed) * time.Hour))
		want := math.Ldexp(1, -passed)
		if got := usage.Of(0); math.Abs(got-want) > 1e-9*want {
			t.Fatalf("after %d half-lives usage is %g, want %g", passed, got, want)
		}
	}
}

// TestExactDecayDiffersFromSlurmsByAKnownAmount compares with the numbers that
// Slurm's decay factor gives: 1 - 0.693/604800 = 0.9999988541667 a second.
func TestExactDecayDiffersFromSlurmsByAKnownAmount(t *testing.T) {
	t.Parallel()
	const slurmFactor = 0.9999988541667
	week := segue.Time(0).Add(budgets.DefaultHalfLife)

	t.Run("an old charge after seven days", func(t *testing.T) {
		t.Parallel()
		usage := oneUser(t, budgets.DefaultHalfLife)
		usage.Charge(0, -1, 0, 1e6) // one billable-second, over a microsecond
		usage.Decay(week)
		got := usage.Of(0)
		if slurm := math.Pow(slurmFactor, 604800); math.Abs(slurm-0.500073) > 1e-6 {
			t.Fatalf("Slurm's factor gives %.6f after a half-life, want 0.500073", slurm)
		}
		if math.Abs(got-0.5) > 1e-9 {
			t.Errorf("exact decay gives %.9f after a half-life, want 0.5 (0.015 %% below Slurm's 0.500073)", got)
		}
	})
	t.Run("one step of five minutes", func(t *testing.T) {
		t.Parallel()
		usage := oneUser(t, budgets.DefaultHalfLife)
		usage.Charge(0, 0, segue.Seconds(300), 1)
		if slurm := 300 * math.Pow(slurmFactor, 300); math.Abs(slurm-299.897) > 1e-3 {
			t.Fatalf("Slurm counts %.3f billable-seconds, want 299.897", slurm)
		}
		if got := usage.Of(0); math.Abs(got-299.948) > 1e-3 {
			t.Errorf("the exact integral is %.3f billable-seconds, want 299.948", got)
		}
	})
}

func TestUsageWithoutDecayIsTheSumOfCharges(t *testing.T) {
	t.Parallel()
	usage := oneUser(t, budgets.NoDecay)
	usage.Charge(0, 0, segue.Seconds(100), 2)
	usage.Charge(0, segue.Seconds(1e9), segue.Seconds(1e9+1), 3)
	if got := usage.Of(0); got != 203 {
		t.Errorf("usage is %g billable-seconds, want 203", got)
	}
}

func TestChargesOfNothingAddNothing(t *testing.T) {
	t.Parallel()
	usage := oneUser(t, 0)
	usage.Charge(0, segue.Seconds(5), segue.Seconds(5), 1)
	usage.Charge(0, segue.Seconds(5), segue.Seconds(4), 1)
	usage.Charge(0, 0, segue.Seconds(5), 0)
	usage.Charge(0, 0, segue.Seconds(5), -3)
	usage.Charge(0, 0, segue.Seconds(5), math.NaN())
	usage.Charge(0, segue.NoTime, segue.Seconds(5), 1)
	usage.Charge(0, 0, segue.Never, 1)
	if got := usage.Total(); got != 0 {
		t.Errorf("total usage is %g, want 0", got)
	}
}

func TestUsageRefusesAnImpossibleBeginning(t *testing.T) {
	t.Parallel()
	tree := newTree(t, nil, nil)
	for name, try := range map[string]func() error{
		"negative half-life": func() error { _, err := tree.NewUsage(0, -time.Hour); return err },
		"no beginning":       func() error { _, err := tree.NewUsage(segue.NoTime, 0); return err },
		"never":              func() error { _, err := tree.NewUsage(segue.Never, 0); return err },
	} {
		if err := try(); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: got %v, want an error of kind invalid", name, err)
		}
	}
}

func TestCuttingAnIntervalUpChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		halfLife := time.Duration(rapid.Int64Range(int64(time.Minute), int64(30*24*time.Hour)).Draw(t, "half-life"))
		end := rapid.Int64Range(2, 400*86400).Draw(t, "end")
		cut := rapid.Int64Range(1, end-1).Draw(t, "cut")
		tree, err := budgets.NewTree(nil, []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 1}})
		if err != nil {
			t.Fatal(err)
		}
		usage, err := tree.NewUsage(0, halfLife)
		if err != nil {
			t.Fatal(err)
		}
		usage.Charge(0, 0, segue.Seconds(end), 3)
		usage.Charge(1, 0, segue.Seconds(cut), 3)
		usage.Charge(1, segue.Seconds(cut), segue.Seconds(end), 3)
		if diff := cmp.Diff(usage.Of(0), usage.Of(1), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Fatalf("whole and cut intervals differ (-whole +cut):\n%s", diff)
		}
	})
}

func TestEqualHistoriesStayTiedThroughDecay(t *testing.T) {
	t.Parallel()
	users := []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 1}, {Name: "z", Shares: 1}}
	tree := newTree(t, nil, users)
	usage, err := tree.NewUsage(0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 2000 { // 1,000 half-lives
		from := segue.Time(0).Add(time.Duration(step) * 30 * time.Minute)
		usage.Charge(0, from, from.Add(7*time.Minute), 3)
		usage.Charge(1, from, from.Add(7*time.Minute), 3)
		usage.Charge(2, from, from.Add(8*time.Minute), 3)
	}
	got := make([]float64, 3)
	tree.Factors(usage, got)
	if diff := cmp.Diff([]float64{1, 1, 1.0 / 3}, got); diff != "" {
		t.Errorf("factors (-want +got):\n%s", diff)
	}
}

func TestACopyGoesItsOwnWay(t *testing.T) {
	t.Parallel()
	usage := oneUser(t, budgets.NoDecay)
	usage.Charge(0, 0, segue.Seconds(1), 1)
	var fork budgets.Usage
	usage.CopyInto(&fork)
	fork.Charge(0, 0, segue.Seconds(1), 10)
	usage.Charge(0, 0, segue.Seconds(1), 100)
	if diff := cmp.Diff([]float64{101, 11}, []float64{usage.Of(0), fork.Of(0)}); diff != "" {
		t.Errorf("usage of original and copy (-want +got):\n%s", diff)
	}
}
