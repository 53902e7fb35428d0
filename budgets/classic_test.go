package budgets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue/budgets"
)

// TestClassicFactorsOfSlurmsPublishedExample asserts the factors printed on
// Slurm's classic fair-share page (figure 3): A has 40 shares (B 30, C 10), D 60
// (E 25, F 35); user 1 in B used 0.2 of the machine, user 2 in C 0.25, user 4 in
// E 0.25. The page leaves open who used the other 0.3: here a user of the root
// without shares, so that the rest is as printed.
func TestClassicFactorsOfSlurmsPublishedExample(t *testing.T) {
	t.Parallel()
	accounts := []budgets.Account{
		{Name: "A", Shares: 40},
		{Name: "D", Shares: 60},
		{Name: "B", Parent: "A", Shares: 30},
		{Name: "C", Parent: "A", Shares: 10},
		{Name: "E", Parent: "D", Shares: 25},
		{Name: "F", Parent: "D", Shares: 35},
	}
	users := []budgets.User{
		{Name: "1", Account: "B", Shares: 1},
		{Name: "2", Account: "C", Shares: 1},
		{Name: "3", Account: "C", Shares: 1},
		{Name: "4", Account: "E", Shares: 1},
		{Name: "5", Account: "F", Shares: 1},
		{Name: "rest", Shares: 0},
	}
	want := []float64{0.408479, 0.022097, 0.125000, 0.500000, 0.749154, 0}
	tree := newTree(t, accounts, users)
	got := make([]float64, len(users))
	tree.ClassicFactors(charged(t, tree, users, charges{"B/1": 0.20, "C/2": 0.25, "E/4": 0.25, "/rest": 0.3}), 1, got)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-4)); diff != "" {
		t.Errorf("factors (-want +got):\n%s", diff)
	}
}

func TestClassicFactorHalvesWithEachShareUsed(t *testing.T) {
	t.Parallel()
	inParent := budgets.SharesParent
	tests := map[string]struct {
		users     []budgets.User
		used      charges
		dampening float64
		want      []float64
	}{
		"as much as its share: 0.5": {
			users: []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 1}},
			used:  charges{"/x": 1, "/y": 1},
			want:  []float64{0.5, 0.5},
		},
		"twice its share: 0.25, and nothing: 1": {
			users: []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 1}},
			used:  charges{"/x": 1},
			want:  []float64{0.25, 1},
		},
		"a dampening of 2 takes the square root": {
			users:     []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 1}},
			used:      charges{"/x": 1},
			dampening: 2,
			want:      []float64{0.5, 1},
		},
		"no usage at all: 1, but 0 without shares": {
			users: []budgets.User{{Name: "x", Shares: 1}, {Name: "y", Shares: 0}},
			want:  []float64{1, 0},
		},
		"the parent's shares and usage": {
			users: []budgets.User{{Name: "x", Shares: inParent}, {Name: "y", Shares: 1}},
			used:  charges{"/y": 1},
			want:  []float64{0.5, 0.5},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := newTree(t, nil, test.users)
			got := make([]float64, len(test.users))
			tree.ClassicFactors(charged(t, tree, test.users, test.used), test.dampening, got)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("factors (-want +got):\n%s", diff)
			}
		})
	}
}
