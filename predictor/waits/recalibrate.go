package waits

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

// Recalibrator corrects forecasts by how earlier ones turned out. Every outcome
// that becomes known says at which level of its forecast the wait came to lie;
// were the forecasts right, these levels would be spread evenly. The corrected
// p-quantile is the forecast's quantile at the level that a share p of the
// latest outcomes did not exceed, and waits beyond every level of their
// forecasts stretch it (conformal prediction with weights that fade; Vovk et
// al., 2005; Gibbs and Candès, 2021). The zero Recalibrator changes nothing.
type Recalibrator struct {
	// HalfLife is the age at which an outcome counts half; default four days.
	HalfLife time.Duration
	// Prior is the weight of the assumption that the forecasts are right, in
	// outcomes; default 8.
	Prior float64

	seen []turnout
}

// turnout is one outcome: the levels between which it lay in its forecast (not
// one, where the forecast has the same wait several times), and for one beyond
// the forecast's last wait by what factor.
type turnout struct {
	known    segue.Time
	from, to float64
	over     float64
}

// Observe learns how a forecast turned out. known is the instant at which the
// wait was known; instants must not fall.
func (r *Recalibrator) Observe(f segue.Forecast, wait time.Duration, known segue.Time) {
	if f.Empty() {
		return
	}
	r.seen = append(r.seen, turnoutOf(f, wait, known))
}

func turnoutOf(f segue.Forecast, wait time.Duration, known segue.Time) turnout {
	return turnout{known: known, from: f.StartsWithin(wait - 1), to: f.StartsWithin(wait), over: excess(f, wait)}
}

// excess returns by what factor a wait is beyond the forecast's longest.
func excess(f segue.Forecast, wait time.Duration) float64 {
	last := f.Waits[len(f.Waits)-1]
	if wait <= last {
		return 1
	}
	return (wait.Hours() + Offset) / (last.Hours() + Offset)
}

// Correct returns the forecast with its waits moved to where earlier outcomes
// lay. It knows what had been observed by the forecast's instant.
func (r *Recalibrator) Correct(f segue.Forecast) segue.Forecast {
	if f.Empty() || len(r.seen) == 0 {
		return f
	}
	return correct(f, r.turnouts(f.At))
}

// correct moves the waits of a forecast to where turnouts lay.
func correct(f segue.Forecast, t turnouts) segue.Forecast {
	levels, stretch := t.levels()
	waits := make([]time.Duration, max(len(f.Waits), ranks))
	for j := range waits {
		p := (float64(j) + 0.5) / float64(len(waits))
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

// turnouts sums outcomes up: the weights of steps equal parts of [0, 1] and the
// outcomes beyond their forecasts.
type turnouts struct {
	weights             [steps]float64
	total               float64
	overWeight, overSum float64
}

// Defaults of Recalibrator and Follower.
const (
	defaultHalfLife = 4 * 24 * time.Hour
	defaultPrior    = 8.0
)

// turnouts returns the outcomes that were known at an instant, and the prior.
func (r *Recalibrator) turnouts(at segue.Time) turnouts {
	half := r.HalfLife
	if half == 0 {
		half = defaultHalfLife
	}
	var t turnouts
	t.expect(r.Prior)
	for i := len(r.seen) - 1; i >= 0; i-- {
		o := &r.seen[i]
		if o.known > at {
			continue
		}
		weight := math.Exp2(-at.Sub(o.known).Hours() / half.Hours())
		if weight < 1e-3 {
			break
		}
		t.add(o, weight)
	}
	return t
}

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
	t.overrun(o.over, weight)
}

// overrun counts an outcome beyond its forecast by a factor above 1.
func (t *turnouts) overrun(factor, weight float64) {
	if factor > 1 {
		t.overWeight, t.overSum = t.overWeight+weight, t.overSum+weight*math.Log(factor)
	}
}

// levels returns the distribution of the levels of the outcomes.
func (t turnouts) levels() ([steps]float64, stretching) {
	for i := range t.weights {
		t.weights[i] /= t.total
	}
	if t.overWeight == 0 {
		return t.weights, stretching{1, 1}
	}
	// Half of the overrunning outcomes lie beyond their geometric mean, which is
	// reached in the middle of their share.
	return t.weights, stretching{1 - t.overWeight/t.total, math.Exp(2 * t.overSum / t.overWeight)}
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
