package evaluation_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue/evaluation"
)

func TestMeanPinballWeighsUnderforecastsByThePercentile(t *testing.T) {
	t.Parallel()
	// 0.9*(10-6) = 3.6 above, 0.1*(6-2) = 0.4 below, nothing when exact.
	got := evaluation.MeanPinball(0.9, []float64{6, 6, 6}, []float64{10, 2, 6})
	if diff := cmp.Diff((3.6+0.4)/3, got, nearly); diff != "" {
		t.Errorf("pinball loss (-want +got):\n%s", diff)
	}
}

func TestPinballIsLeastAtTheQuantile(t *testing.T) {
	t.Parallel()
	// The 0.8-quantile of 1..10 lies between 8 and 9.
	actual := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	loss := func(q float64) float64 {
		return evaluation.MeanPinball(0.8, slices.Repeat([]float64{q}, len(actual)), actual)
	}
	for _, other := range []float64{1, 5, 7.5, 9.5, 12} {
		if loss(8.5) > loss(other) {
			t.Errorf("loss %v at 8.5 is above %v at %v", loss(8.5), loss(other), other)
		}
	}
}

func TestCoverageByGroup(t *testing.T) {
	t.Parallel()
	group := []string{"2023-02", "2023-01", "2023-02", "2023-01", "2023-02"}
	predicted := []float64{5, 5, 5, 5, 5}
	actual := []float64{5, 6, 1, 2, 9} // equal counts as covered
	got := evaluation.CoverageBy(group, predicted, actual)
	want := []evaluation.GroupCoverage{
		{Group: "2023-01", N: 2, Coverage: 0.5},
		{Group: "2023-02", N: 3, Coverage: 2.0 / 3},
	}
	if diff := cmp.Diff(want, got, nearly); diff != "" {
		t.Errorf("by group (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(0.6, evaluation.Coverage(predicted, actual), nearly); diff != "" {
		t.Errorf("overall (-want +got):\n%s", diff)
	}
}

func TestCRPS(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sample []float64
		actual float64
		want   float64
	}{
		"one value is the absolute error": {[]float64{3}, 7, 4},
		// Distances 1 and 1, mean 1; pairs differ by 2 in half the cases: 1 - 1/2.
		"two values around the actual one": {[]float64{2, 4}, 3, 0.5},
		"sharp and right":                  {[]float64{3, 3, 3}, 3, 0},
		"no forecast":                      {nil, 3, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, evaluation.CRPS(test.sample, test.actual), nearly); diff != "" {
				t.Errorf("CRPS (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCRPSIsTheAreaBetweenTheDistributions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sample := rapid.SliceOfN(rapid.Float64Range(-50, 50), 1, 20).Draw(t, "sample")
		slices.Sort(sample)
		actual := rapid.Float64Range(-60, 60).Draw(t, "actual")
		// The integral of (F(z) - 1{z >= actual})^2, step by step.
		steps := append(slices.Clone(sample), actual)
		slices.Sort(steps)
		area := 0.0
		for i := 1; i < len(steps); i++ {
			mid := (steps[i] + steps[i-1]) / 2
			below := 0.0
			for _, x := range sample {
				if x <= mid {
					below++
				}
			}
			height := below / float64(len(sample))
			if mid >= actual {
				height--
			}
			area += height * height * (steps[i] - steps[i-1])
		}
		if diff := cmp.Diff(area, evaluation.CRPS(sample, actual), nearly); diff != "" {
			t.Fatalf("CRPS (-area +got):\n%s", diff)
		}
	})
}

func TestAssociation(t *testing.T) {
	t.Parallel()
	a := []float64{1, 2, 3, 4}
	for name, test := range map[string]struct {
		b                      []float64
		pearson, spearman, mae float64
	}{
		"equal":    {[]float64{1, 2, 3, 4}, 1, 1, 0},
		"reversed": {[]float64{4, 3, 2, 1}, -1, -1, 2},
		// Deviations of b from its mean 2.5: -1.5, .5, -.5, 1.5, so the
		// products add up to 2.25-0.25-0.25+2.25 = 4, the squares to 5.
		"one swap": {[]float64{1, 3, 2, 4}, 0.8, 0.8, 0.5},
		// Mean of b 4.75: products 7.125 - 0.125 + 0.125 + 6.375, squares 5 and
		// 40.75. Ranks 0, 1.5, 1.5, 3: products 4.5, squares 5 and 4.5.
		"ties":     {[]float64{0, 5, 5, 9}, 13.5 / math.Sqrt(5*40.75), 4.5 / math.Sqrt(5*4.5), 2.75},
		"constant": {[]float64{2, 2, 2, 2}, math.NaN(), math.NaN(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []float64{evaluation.Pearson(a, test.b), evaluation.Spearman(a, test.b), evaluation.MAE(a, test.b)}
			if diff := cmp.Diff([]float64{test.pearson, test.spearman, test.mae}, got, nearly); diff != "" {
				t.Errorf("Pearson, Spearman, MAE (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSlicesOfDifferentLengthsAreAProgrammingError(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	evaluation.MAE([]float64{1}, nil)
}
