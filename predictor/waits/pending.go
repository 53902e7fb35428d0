package waits

import (
	"cmp"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Pending is a forecast of a wait that is not over yet.
type Pending struct {
	Forecast segue.Forecast
	Age      time.Duration // how long the wait has lasted so far
}

// CorrectAmong is Correct, knowing also the waits that are not over at the
// forecast's instant. When a queue grows, short waits are known before long ones:
// without the pending jobs the latest outcomes look too good. Each counts as one
// outcome, above the level that its age has reached, spread there as the outcomes
// are that got so far (Efron's redistribution to the right, 1967).
func (r *Recalibrator) CorrectAmong(f segue.Forecast, pending []Pending) segue.Forecast {
	if f.Empty() || len(r.seen)+len(pending) == 0 {
		return f
	}
	return correct(f, r.turnouts(f.At).among(pending))
}

// among returns the turnouts with those of the waits that are not over.
func (t turnouts) among(pending []Pending) turnouts {
	type reached struct{ level, over float64 }
	list := make([]reached, 0, len(pending))
	for _, p := range pending {
		if p.Forecast.Empty() {
			continue
		}
		if level := p.Forecast.StartsWithin(p.Age - 1); level > 0 {
			list = append(list, reached{level, excess(p.Forecast, p.Age)})
		}
	}
	slices.SortFunc(list, func(a, b reached) int { return cmp.Compare(a.level, b.level) })
	for _, p := range list {
		t.redistribute(p.level)
		t.total++
		t.overrun(p.over, 1)
	}
	return t
}

// redistribute adds a weight of one to the parts from a level on, in proportion
// to what they have.
func (t *turnouts) redistribute(level float64) {
	first := min(int(level*steps), steps-1)
	sum := 0.0
	for _, w := range t.weights[first:] {
		sum += w
	}
	for i := first; i < steps; i++ {
		t.weights[i] += t.weights[i] / sum // the prior leaves no part empty
	}
}
