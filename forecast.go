package segue

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Forecast is the wait of one request submitted at one instant, as an
// empirical distribution: equally likely waits in ascending order. A point
// forecast has one.
type Forecast struct {
	At     Time
	Source string // the forecaster's stable name
	// Waits are ascending and never negative. Empty means "no forecast".
	Waits []time.Duration
}

// NewForecast returns the distribution of the given waits, which it sorts in
// place; negative waits become 0.
func NewForecast(at Time, source string, waits []time.Duration) Forecast {
	for i, w := range waits {
		waits[i] = max(w, 0)
	}
	slices.Sort(waits)
	return Forecast{At: at, Source: source, Waits: waits}
}

// Empty reports whether there is no forecast to decide by.
func (f Forecast) Empty() bool { return len(f.Waits) == 0 }

// Quantile returns the p-quantile of the wait, p in [0, 1], interpolated
// linearly between the order statistics (type 7 of Hyndman and Fan, 1996).
func (f Forecast) Quantile(p float64) time.Duration {
	n := len(f.Waits)
	if n == 0 {
		return 0
	}
	pos := min(max(p, 0), 1) * float64(n-1)
	lo := int(pos)
	if lo+1 >= n {
		return f.Waits[n-1]
	}
	frac := pos - float64(lo)
	return f.Waits[lo] + time.Duration(math.Round(frac*float64(f.Waits[lo+1]-f.Waits[lo])))
}

// Mean returns the expected wait.
func (f Forecast) Mean() time.Duration {
	if len(f.Waits) == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range f.Waits {
		sum += float64(w)
	}
	return time.Duration(sum / float64(len(f.Waits)))
}

// StartsWithin returns the probability that the wait is at most d.
func (f Forecast) StartsWithin(d time.Duration) float64 {
	if len(f.Waits) == 0 {
		return 0
	}
	return float64(sort.Search(len(f.Waits), func(i int) bool { return f.Waits[i] > d })) / float64(len(f.Waits))
}

// Interruption returns the expected time that the work stands still when the
// predecessor ends in remaining: E[max(0, wait-remaining)].
func (f Forecast) Interruption(remaining time.Duration) time.Duration {
	return f.meanOf(func(w time.Duration) time.Duration { return max(0, w-remaining) })
}

// Overlap returns the expected time that both links run when the predecessor
// ends in remaining: E[max(0, remaining-wait)].
func (f Forecast) Overlap(remaining time.Duration) time.Duration {
	return f.meanOf(func(w time.Duration) time.Duration { return max(0, remaining-w) })
}

func (f Forecast) meanOf(g func(time.Duration) time.Duration) time.Duration {
	if len(f.Waits) == 0 {
		return 0
	}
	sum := 0.0
	for _, w := range f.Waits {
		sum += float64(g(w))
	}
	return time.Duration(sum / float64(len(f.Waits)))
}
