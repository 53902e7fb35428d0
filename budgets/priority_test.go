package budgets_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue/budgets"
)

func TestPriorityAddsTheWeightedFactors(t *testing.T) {
	t.Parallel()
	weights := budgets.Weights{Age: 7000, FairShare: 4000, JobSize: 100, Partition: 3000, QOS: 500}
	tests := map[string]struct {
		weights budgets.Weights
		factors budgets.Factors
		want    int64
	}{
		"half a week, half a share": {
			weights: weights,
			factors: budgets.Factors{Age: 84 * time.Hour, FairShare: 0.5, JobSize: 0.25, Partition: 1, QOS: 1},
			want:    3500 + 2000 + 25 + 3000 + 500,
		},
		"age counts up to MaxAge and no further": {
			weights: budgets.Weights{Age: 1000, MaxAge: time.Hour},
			factors: budgets.Factors{Age: 90 * 24 * time.Hour},
			want:    1000,
		},
		"a job that is not eligible yet has no age": {
			weights: weights,
			factors: budgets.Factors{Age: -time.Hour, Partition: 1},
			want:    3000,
		},
		"small jobs are favoured on demand": {
			weights: budgets.Weights{JobSize: 1000, FavorSmall: true},
			factors: budgets.Factors{JobSize: 0.25},
			want:    750,
		},
		"nice takes away": {
			weights: weights,
			factors: budgets.Factors{Partition: 1, Nice: 100},
			want:    2900,
		},
		"the floor is 1": {
			weights: weights,
			factors: budgets.Factors{Nice: 10000},
			want:    1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.weights.Priority(test.factors); got != test.want {
				t.Errorf("priority is %d, want %d", got, test.want)
			}
		})
	}
}

func TestJobSizeFactorAveragesNodesAndProcessors(t *testing.T) {
	t.Parallel()
	cluster := budgets.Size{Nodes: 76, CPUs: 9728}
	tests := map[string]struct {
		job, cluster budgets.Size
		want         float64
	}{
		"the whole cluster":                {cluster, cluster, 1},
		"half the nodes, a quarter of CPU": {budgets.Size{Nodes: 38, CPUs: 2432}, cluster, 0.375},
		"processors not counted":           {budgets.Size{Nodes: 19}, cluster, 0.25},
		"more than there is":               {budgets.Size{Nodes: 100}, cluster, 1},
		"an unknown cluster":               {budgets.Size{Nodes: 4}, budgets.Size{}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := budgets.JobSizeFactor(test.job, test.cluster); got != test.want {
				t.Errorf("factor is %g, want %g", got, test.want)
			}
		})
	}
}

func TestOlderJobsNeverHaveLessPriority(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weights := budgets.Weights{Age: rapid.Float64Range(0, 1e6).Draw(t, "age weight"), FairShare: 1000}
		factors := budgets.Factors{
			Age:       time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "age")),
			FairShare: rapid.Float64Range(0, 1).Draw(t, "fair share"),
		}
		before := weights.Priority(factors)
		factors.Age += time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "older"))
		if after := weights.Priority(factors); after < before {
			t.Fatalf("priority fell from %d to %d with age", before, after)
		}
	})
}
