package drift

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/segue-project/segue"
)

// Coverage is how often waits should be within a quantile of their forecasts. The
// zero value is what the project uses.
type Coverage struct {
	// Level of the quantile. Default 0.9.
	Level float64
	// Lo and Hi bound the share of waits within it. Defaults 0.03 below the
	// level, and 0.03 above, at most 1.
	Lo, Hi float64
	// Window is how long an outcome counts. Default 28 days.
	Window time.Duration
	// Block is for how long waits are alike: they are counted as one, so that one
	// bad day does not look like many. Default four days, and it takes four blocks
	// to say anything.
	Block time.Duration
	// MinOutcomes is how many outcomes it takes to say anything. Default 40.
	MinOutcomes int
}

// Default values of Coverage.
const (
	coverageWindow = 28 * 24 * time.Hour
	coverageBlock  = 4 * 24 * time.Hour
	minBlocks      = 4
)

func (c Coverage) withDefaults() Coverage {
	if c.Level == 0 {
		c.Level = 0.9
	}
	if c.Lo == 0 {
		c.Lo = max(0, c.Level-0.03)
	}
	if c.Hi == 0 {
		c.Hi = min(1, c.Level+0.03)
	}
	if c.Window == 0 {
		c.Window = coverageWindow
	}
	if c.Block == 0 {
		c.Block = coverageBlock
	}
	if c.MinOutcomes == 0 {
		c.MinOutcomes = 40
	}
	return c
}

// Outcome is how one forecast turned out: Within is 1 for a wait within the
// quantile and 0 for one beyond it, and Known the instant at which that was seen.
type Outcome struct {
	Known  segue.Time
	Within float64
}

// Outcome returns how a forecast turned out. Where the forecast has the wait that
// came many times, such as none at all, so that the quantile lies among them, it is
// within by that part: half of the waits that are none are not above a median of
// none.
func (c Coverage) Outcome(f segue.Forecast, wait time.Duration, known segue.Time) Outcome {
	c = c.withDefaults()
	below, at := f.StartsWithin(wait-1), f.StartsWithin(wait)
	switch {
	case at <= c.Level:
		return Outcome{known, 1}
	case below >= c.Level:
		return Outcome{known, 0}
	}
	return Outcome{known, (c.Level - below) / (at - below)}
}

// Check reports whether the forecasts keep their word at an instant, given how
// they turned out, in order of Known: those that were known then and not longer
// than the window before. They do not if the share within the quantile is
// outside the bounds by more than twice its standard error, which is that of
// blocks of time. Too few outcomes or blocks say nothing against them. If they
// do not keep it, why says so with the numbers.
func (c Coverage) Check(outcomes []Outcome, at segue.Time) (ok bool, why string) {
	c = c.withDefaults()
	first := sort.Search(len(outcomes), func(i int) bool { return outcomes[i].Known > at.Add(-c.Window) })
	last := sort.Search(len(outcomes), func(i int) bool { return outcomes[i].Known > at })
	share, margin, blocks := c.share(outcomes[min(first, last):last], at)
	if last-first < c.MinOutcomes || blocks < minBlocks || (share+margin >= c.Lo && share-margin <= c.Hi) {
		return true, ""
	}
	return false, fmt.Sprintf("%.0f %% of the %d waits of the last %.0f days were within the forecast's %g %% quantile, want %g to %g %%",
		100*share, last-first, c.Window.Hours()/24, 100*c.Level, 100*c.Lo, 100*c.Hi)
}

// share returns the share of the outcomes within the quantile, twice its standard
// error, and the number of blocks that have an outcome. The error is that of a ratio
// of sums over blocks (Cochran, Sampling Techniques, 1977, section 9.2).
func (c Coverage) share(outcomes []Outcome, at segue.Time) (share, margin float64, blocks int) {
	type block struct{ within, count float64 }
	var list []block
	current, total := -1, block{}
	for _, o := range outcomes {
		if n := int(at.Sub(o.Known) / c.Block); n != current {
			current, list = n, append(list, block{})
		}
		last := &list[len(list)-1]
		last.within, last.count = last.within+o.Within, last.count+1
		total.within, total.count = total.within+o.Within, total.count+1
	}
	if len(list) < 2 {
		return 0, 0, len(list)
	}
	share = total.within / total.count
	sum := 0.0
	for _, b := range list {
		excess := b.within - share*b.count
		sum += excess * excess
	}
	n := float64(len(list))
	return share, 2 * math.Sqrt(sum*n/(n-1)) / total.count, len(list)
}
