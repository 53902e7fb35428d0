package evaluation

import (
	"math"
	"slices"
)

// Pinball returns the pinball (quantile) loss of forecasting the p-quantile as
// predicted when actual came: p(actual-predicted) when it came above,
// (1-p)(predicted-actual) below (Koenker and Bassett, 1978). It has the unit of
// its arguments.
func Pinball(p, predicted, actual float64) float64 {
	if actual >= predicted {
		return p * (actual - predicted)
	}
	return (1 - p) * (predicted - actual)
}

// MeanPinball returns the mean pinball loss of the forecasts predicted of the
// p-quantile, NaN when there are none. It panics if the lengths differ.
func MeanPinball(p float64, predicted, actual []float64) float64 {
	sameLength(len(predicted), len(actual))
	sum := 0.0
	for i, y := range actual {
		sum += Pinball(p, predicted[i], y)
	}
	return sum / float64(len(actual))
}

// Coverage returns the share of actual values that are at most the quantile
// forecast for them, NaN when there are none. A calibrated forecast of the
// p-quantile has coverage p. It panics if the lengths differ.
func Coverage(predicted, actual []float64) float64 {
	sameLength(len(predicted), len(actual))
	covered := 0
	for i, y := range actual {
		if y <= predicted[i] {
			covered++
		}
	}
	return float64(covered) / float64(len(actual))
}

// GroupCoverage is the coverage within one group: a month, a load.
type GroupCoverage struct {
	Group    string
	N        int
	Coverage float64
}

// CoverageBy returns the coverage of each group, the groups in ascending
// order; group[i] is the group of actual[i]. It panics if the lengths differ.
func CoverageBy(group []string, predicted, actual []float64) []GroupCoverage {
	sameLength(len(group), len(actual))
	sameLength(len(predicted), len(actual))
	members := map[string][]int{}
	for i, g := range group {
		members[g] = append(members[g], i)
	}
	var result []GroupCoverage
	for g, keep := range members {
		result = append(result, GroupCoverage{
			Group:    g,
			N:        len(keep),
			Coverage: Coverage(pick(predicted, keep), pick(actual, keep)),
		})
	}
	slices.SortFunc(result, func(a, b GroupCoverage) int {
		if a.Group < b.Group {
			return -1
		}
		return 1
	})
	return result
}

// CRPS returns the continuous ranked probability score of a forecast that is
// the empirical distribution of the equally likely values in sample, which
// ascend, when actual came:
//
//	E|X-actual| - E|X-X'|/2
//
// (Gneiting and Raftery, 2007, eq. 21), exactly, in the unit of its arguments.
// A single value scores its absolute error. NaN for an empty sample.
func CRPS(sample []float64, actual float64) float64 {
	m := float64(len(sample))
	distance, spread := 0.0, 0.0
	for i, x := range sample {
		distance += math.Abs(x - actual)
		spread += (2*float64(i) - m + 1) * x // each pair i<j gives x_j - x_i once
	}
	return distance/m - spread/(m*m)
}

func sameLength(a, b int) {
	if a != b {
		panic("evaluation: slices of different lengths")
	}
}
