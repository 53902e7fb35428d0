package waits

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Follower corrects forecasts by how earlier ones turned out. Every wait that
// becomes known says at which level of its forecast it came to lie; were the
// forecasts right, these levels would be spread evenly. The corrected p-quantile is
// the forecast's quantile at the level that a share p of the latest waits did not
// exceed, and waits beyond every level of their forecasts stretch it (conformal
// prediction with weights that fade; Vovk et al., 2005; Gibbs and Candès, 2021).
// Waits below every level of their forecasts take the place of its shortest ones, as
// far as they are shorter: no level of a forecast of days says that jobs start at
// once. It learns from waits that are not over too. When a queue grows, short waits
// are known before long ones: by finished waits alone it looks too good.
//
// It goes forward in time, in constant time for a step. The zero Follower changes
// nothing.
type Follower struct {
	// HalfLife is the age at which an outcome counts half; default four days.
	HalfLife time.Duration
	// Prior is the weight of the assumption that the forecasts are right, in
	// outcomes; default 8.
	Prior float64

	seen turnouts // as they weigh at the instant at
	at   segue.Time
}

// Pending is a forecast of a wait that is not over yet.
type Pending struct {
	Forecast segue.Forecast
	Age      time.Duration // how long the wait has lasted so far
}

// Observe learns how a forecast turned out, at the instant at which the wait was
// known; instants must not fall.
func (f *Follower) Observe(said segue.Forecast, wait time.Duration, known segue.Time) {
	if said.Empty() {
		return
	}
	f.advance(known)
	o := turnoutOf(said, wait)
	f.seen.add(&o, 1)
}

// advance lets what was seen fade.
func (f *Follower) advance(at segue.Time) {
	half := f.HalfLife
	if half == 0 {
		half = defaultHalfLife
	}
	if f.seen.total > 0 {
		f.seen.fade(math.Exp2(-max(at.Sub(f.at), 0).Hours() / half.Hours()))
	}
	f.at = at
}

func (t *turnouts) fade(share float64) {
	for i := range t.weights {
		t.weights[i] *= share
	}
	for i := range t.short {
		t.short[i] *= share
	}
	t.overWeight, t.overSum, t.overHours = t.overWeight*share, t.overSum*share, t.overHours*share
	t.total, t.shortWeight = t.total*share, t.shortWeight*share
}

// Correct returns the forecast with its waits moved to where earlier outcomes
// lay. Each of the waits that are not over at its instant counts as one outcome,
// above the level that its age has reached, spread there as the outcomes are that
// got so far (Efron's redistribution to the right, 1967).
func (f *Follower) Correct(said segue.Forecast, pending []Pending) segue.Forecast {
	if said.Empty() {
		return said
	}
	f.advance(said.At)
	t := f.seen
	t.expect(f.Prior)
	if !t.among(pending) && f.seen.total == 0 {
		return said
	}
	return correct(said, t)
}

// among adds the waits that are not over and reports whether any said something.
func (t *turnouts) among(pending []Pending) bool {
	type reached struct {
		level, over float64
		age         time.Duration
	}
	list := make([]reached, 0, len(pending))
	for _, p := range pending {
		if p.Forecast.Empty() {
			continue
		}
		if level := p.Forecast.StartsWithin(p.Age - 1); level > 0 {
			list = append(list, reached{level, excess(p.Forecast, p.Age), p.Age})
		}
	}
	slices.SortFunc(list, func(a, b reached) int { return cmp.Compare(a.level, b.level) })
	for _, p := range list {
		t.redistribute(p.level)
		t.total++
		t.overrun(p.over, p.age, 1)
	}
	return len(list) > 0
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
