package evaluation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// MAE returns the mean absolute difference of a and b, NaN when they are
// empty. It panics if the lengths differ.
func MAE(a, b []float64) float64 {
	sameLength(len(a), len(b))
	sum := 0.0
	for i, v := range a {
		sum += math.Abs(v - b[i])
	}
	return sum / float64(len(a))
}

// Pearson returns Pearson's correlation of a and b, NaN when either does not
// vary or there are fewer than two pairs. It panics if the lengths differ.
func Pearson(a, b []float64) float64 {
	sameLength(len(a), len(b))
	if len(a) < 2 {
		return math.NaN()
	}
	return stat.Correlation(a, b, nil)
}

// Spearman returns the rank correlation of a and b: Pearson's correlation of
// their ranks, equal values sharing the mean of theirs. It panics if the
// lengths differ.
func Spearman(a, b []float64) float64 {
	sameLength(len(a), len(b))
	return Pearson(ranks(a), ranks(b))
}

func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int {
		switch {
		case values[i] < values[k]:
			return -1
		case values[i] > values[k]:
			return 1
		}
		return i - k
	})
	rank := make([]float64, len(values))
	for lo := 0; lo < len(order); {
		hi := lo
		for hi < len(order) && values[order[hi]] == values[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			rank[i] = float64(lo+hi-1) / 2
		}
		lo = max(hi, lo+1)
	}
	return rank
}
