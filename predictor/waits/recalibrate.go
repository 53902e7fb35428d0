package waits

import (
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// turnout is one outcome: the levels between which it lay in its forecast (not
// one, where the forecast has the same wait several times), for one beyond the
// forecast's last wait by what factor, and whether it was below the first.
type turnout struct {
	from, to float64
	over     float64
	wait     time.Duration
	below    bool
}

func turnoutOf(f segue.Forecast, wait time.Duration) turnout {
	return turnout{from: f.StartsWithin(wait - 1), to: f.StartsWithin(wait), over: excess(f, wait), wait: wait, below: wait < f.Waits[0]}
}

// excess returns by what factor a wait is beyond the forecast's longest.
func excess(f segue.Forecast, wait time.Duration) float64 {
	last := f.Waits[len(f.Waits)-1]
	if wait <= last {
		return 1
	}
	return (wait.Hours() + Offset) / (last.Hours() + Offset)
}

// correct moves the waits of a forecast to where turnouts lay.
func correct(f segue.Forecast, t turnouts) segue.Forecast {
	levels, stretch := t.levels(f.Waits[len(f.Waits)-1])
	short := t.shortWeight / t.total
	waits := make([]time.Duration, max(len(f.Waits), ranks))
	for j := range waits {
		p := (float64(j) + 0.5) / float64(len(waits))
		if p < short {
			waits[j] = min(f.Waits[0], t.shortQuantile(p/short))
			continue
		}
		waits[j] = f.Quantile(quantile(levels, p))
		if over := (p - stretch.from) / (1 - stretch.from); stretch.by > 1 && over > 0 {
			waits[j] = hours((waits[j].Hours()+Offset)*(1+(stretch.by-1)*over) - Offset)
		}
	}
	return segue.NewForecast(f.At, f.Source, waits)
}

// stretching says from which level on forecasts were overrun, and by what mean
// factor.
type stretching struct{ from, by float64 }

// steps is the resolution of the distribution of levels.
const steps = 50

// turnouts sums outcomes up: the weights of steps equal parts of [0, 1], the
// outcomes beyond their forecasts, and the waits of those below, by the part of
// Grid that they end.
type turnouts struct {
	weights             [steps]float64
	total               float64
	overWeight, overSum float64
	overHours           float64 // waited by them
	short               [len(Grid) + 1]float64
	shortWeight         float64
}

// Defaults of a Follower.
const (
	defaultHalfLife = 4 * 24 * time.Hour
	defaultPrior    = 8.0
)

// expect adds the assumption that forecasts are right, as so many outcomes; 0 is
// the default.
func (t *turnouts) expect(prior float64) {
	if prior == 0 {
		prior = defaultPrior
	}
	t.total += prior
	for i := range t.weights {
		t.weights[i] += prior / steps
	}
}

func (t *turnouts) add(o *turnout, weight float64) {
	spreadOver(&t.weights, o.from, o.to, weight)
	t.total += weight
	t.overrun(o.over, o.wait, weight)
	if o.below {
		k, _ := slices.BinarySearch(Grid[:], o.wait.Hours())
		t.short[k] += weight
		t.shortWeight += weight
	}
}

// shortQuantile returns a quantile of the waits that were below their forecasts.
// Those up to the first part of Grid count as no wait at all.
func (t *turnouts) shortQuantile(p float64) time.Duration {
	sum, from := 0.0, 0.0
	for k, to := range Grid {
		share := t.short[k] / t.shortWeight
		if k == 0 {
			to = 0
		}
		if share > 0 && sum+share >= p {
			return hours(from + (to-from)*(p-sum)/share)
		}
		sum, from = sum+share, to
	}
	return hours(from)
}

// overrun counts an outcome beyond its forecast by a factor above 1.
func (t *turnouts) overrun(factor float64, wait time.Duration, weight float64) {
	if factor > 1 {
		t.overWeight, t.overSum, t.overHours = t.overWeight+weight, t.overSum+weight*math.Log(factor), t.overHours+weight*wait.Hours()
	}
}

// levels returns the distribution of the levels of the outcomes, and how to stretch a
// forecast of that longest wait.
func (t turnouts) levels(last time.Duration) ([steps]float64, stretching) {
	for i := range t.weights {
		t.weights[i] /= t.total
	}
	if t.overWeight == 0 {
		return t.weights, stretching{1, 1}
	}
	// Half of the overrunning outcomes lie beyond their geometric mean, which is
	// reached in the middle of their share. A factor says little where nearly no wait
	// was foreseen: it leads no further than to three times what was waited.
	by := math.Exp(2 * t.overSum / t.overWeight)
	most := (3*t.overHours/t.overWeight + Offset) / (last.Hours() + Offset)
	return t.weights, stretching{1 - t.overWeight/t.total, min(by, max(most, 1))}
}

// spreadOver adds the weight evenly to the parts from one level to another.
func spreadOver(weights *[steps]float64, from, to, weight float64) {
	first, last := min(int(from*steps), steps-1), min(int(math.Ceil(to*steps)), steps)
	if last <= first {
		last = first + 1
	}
	for i := first; i < last; i++ {
		weights[i] += weight / float64(last-first)
	}
}

// quantile inverts the distribution of levels, which is even within a part.
func quantile(weights [steps]float64, p float64) float64 {
	sum := 0.0
	for i, w := range weights {
		if sum+w >= p && w > 0 {
			return (float64(i) + (p-sum)/w) / steps
		}
		sum += w
	}
	return 1
}
