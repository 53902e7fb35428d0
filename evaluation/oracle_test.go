package evaluation_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue/evaluation"
)

// Two starts seen through leads of 0, 4 and 8 h. The first can be 2 h late or
// 2 h early, so it switches at a price of 1; the second 1 h late or 3 h early,
// so it switches at 1/3.
func twoStarts() evaluation.Outcomes {
	return evaluation.Outcomes{
		Params: []float64{0, 4, 8},
		X:      [][]float64{{6, 1}, {2, -3}, {-2, -7}},
	}
}

func TestOracleSwitchesEachStartAtItsOwnPrice(t *testing.T) {
	t.Parallel()
	got := evaluation.Oracle(twoStarts(), 0.25)
	want := evaluation.Outcomes{
		Name:   "oracle",
		Params: []float64{0, 0.25, 1.0 / 3, 1},
		X:      [][]float64{{-2, -3}, {-2, -3}, {-2, 1}, {2, 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("oracle (-want +got):\n%s", diff)
	}
}

func TestOracleTakesWhatThereIsWhenOneSideIsMissing(t *testing.T) {
	t.Parallel()
	got := evaluation.Oracle(evaluation.Outcomes{
		Params: []float64{0, 4},
		X:      [][]float64{{5, -6, 0}, {3, -9, -4}}, // always late, always early, exact at lead 0
	}, 0.25)
	want := [][]float64{{3, -6, 0}, {3, -6, 0}}
	if diff := cmp.Diff(want, got.X); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestOracleIsAsGoodAsTheBestOfAllAssignmentsOfLeads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		starts := rapid.IntRange(1, 4).Draw(t, "starts")
		leads := rapid.IntRange(1, 4).Draw(t, "leads")
		constant := evaluation.Outcomes{}
		for k := range leads {
			constant.Params = append(constant.Params, float64(k))
			constant.X = append(constant.X, rapid.SliceOfN(rapid.Float64Range(-10, 10), starts, starts).Draw(t, "row"))
		}
		oracle := evaluation.NewFrontier(evaluation.Oracle(constant).Points())

		var all []evaluation.Point
		assignment := make([]float64, starts)
		var assign func(i int)
		assign = func(i int) {
			if i == starts {
				all = append(all, evaluation.Mean(assignment))
				return
			}
			for k := range leads {
				assignment[i] = constant.X[k][i]
				assign(i + 1)
			}
		}
		assign(0)
		best := evaluation.NewFrontier(all)
		for overlap := 0.0; overlap <= 10; overlap += 0.25 {
			if diff := cmp.Diff(best.At(overlap), oracle.At(overlap), nearly); diff != "" {
				t.Fatalf("at overlap %v (-want +got):\n%s", overlap, diff)
			}
		}
	})
}

func TestOracleOfManyStartsKeepsAFewHundredRowsAndLosesNothingThatMatters(t *testing.T) {
	t.Parallel()
	const starts = 3000
	constant := evaluation.Outcomes{Params: []float64{0, 1}, X: [][]float64{make([]float64, starts), make([]float64, starts)}}
	budget, exact := 1.0*starts, 0.0 // the best use of a mean overlap of 1 h, start by start
	for i := range starts {
		interruption := 6 * float64(i+1) / starts // the price at which start i switches, over its overlap of 2 h
		constant.X[0][i], constant.X[1][i] = interruption, -2
	}
	for i := starts - 1; i >= 0; i-- {
		if budget >= 2 {
			budget -= 2
			continue
		}
		exact += constant.X[0][i] / starts
	}
	oracle := evaluation.Oracle(constant, 0.25)
	if rows := len(oracle.X); rows > 513 {
		t.Errorf("oracle has %d rows, want at most 512 and the price", rows)
	}
	if got := evaluation.NewFrontier(oracle.Points()).At(1); math.Abs(got-exact) > 1e-3 {
		t.Errorf("interruption at 1 h is %v, want %v within 0.001", got, exact)
	}
}
