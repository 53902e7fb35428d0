package trainer

import (
	"cmp"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
)

// Turnout is a forecast with the wait that it was made of, and the
// instant at which that was known.
type Turnout struct {
	Forecast segue.Forecast
	Wait     time.Duration
	Known    segue.Time
	start    segue.Time // of its episode
}

// turnoutEvery is the distance of the leads whose outcomes recalibrate
// forecasts: neighbours turn out alike.
const turnoutEvery = 6 * time.Hour

// Recalibrate corrects the forecasts that Foretell left in the episodes by what
// was known before their instants of the earlier turnouts and of those of the
// episodes themselves, which it returns as they were before the correction. Of these
// and of what CorrectPlanner left it makes the forecasts learned.Blend.
func Recalibrate(episodes []Episode, earlier []Turnout) []Turnout {
	own := recalibrate(episodes, waits.Source, waits.Source, earlier)
	for i := range episodes {
		trees, planner := episodes[i].Forecasts[waits.Source], episodes[i].Forecasts[policy.Corrected]
		blend := slices.Clone(trees)
		for k := range planner {
			blend[k] = learned.Blended(trees[k], planner[k])
		}
		episodes[i].Forecasts[learned.Blend] = blend
	}
	return own
}

// CorrectPlanner adds the forecasts policy.Corrected to episodes that have those of
// Monte Carlo, as Recalibrate corrects a model's. Without these it does nothing.
func CorrectPlanner(episodes []Episode, earlier []Turnout) []Turnout {
	if len(episodes) == 0 || episodes[0].Forecasts[predictor.MonteCarloName] == nil {
		return nil
	}
	return recalibrate(episodes, predictor.MonteCarloName, policy.Corrected, earlier)
}

// recalibrate leaves the corrected forecasts of a forecaster under the name to.
func recalibrate(episodes []Episode, forecaster, to string, earlier []Turnout) []Turnout {
	own := turnouts(episodes, forecaster)
	var all []*segue.Forecast
	for i := range episodes {
		corrected := slices.Clone(episodes[i].Forecasts[forecaster])
		episodes[i].Forecasts[to] = corrected
		for k := range corrected {
			all = append(all, &corrected[k])
		}
	}
	slices.SortStableFunc(all, func(a, b *segue.Forecast) int { return cmp.Compare(a.At, b.At) })
	past := newPast(slices.Concat(earlier, own))
	for _, f := range all {
		*f = past.correct(*f)
	}
	return own
}

// past corrects forecasts, in order of time, by the turnouts that were known before
// each, and by those of which the wait was not over.
type past struct {
	follower waits.Follower
	made     []Turnout // those to come, in order of their forecasts
	known    []Turnout // those to be known, in order
	waiting  []Turnout
}

func newPast(turnouts []Turnout) *past {
	p := &past{made: slices.Clone(turnouts), known: sorted(turnouts)}
	slices.SortStableFunc(p.made, func(a, b Turnout) int { return cmp.Compare(a.Forecast.At, b.Forecast.At) })
	return p
}

func (p *past) correct(f segue.Forecast) segue.Forecast {
	for len(p.made) > 0 && p.made[0].Forecast.At < f.At {
		p.waiting = append(p.waiting, p.made[0])
		p.made = p.made[1:]
	}
	for len(p.known) > 0 && p.known[0].Known < f.At {
		t := &p.known[0]
		p.follower.Observe(t.Forecast, t.Wait, t.Known)
		p.known = p.known[1:]
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(t Turnout) bool { return t.Known < f.At })
	pending := make([]waits.Pending, len(p.waiting))
	for i, t := range p.waiting {
		pending[i] = waits.Pending{Forecast: t.Forecast, Age: f.At.Sub(t.Forecast.At)}
	}
	return p.follower.Correct(f, pending)
}

// turnouts returns how a forecaster's forecasts turned out, a few for every episode.
func turnouts(episodes []Episode, forecaster string) []Turnout {
	var list []Turnout
	for i := range episodes {
		e := &episodes[i]
		next := time.Duration(0)
		for k, lead := range e.Curve.Leads {
			if lead < next {
				continue
			}
			next = lead + turnoutEvery
			start := e.Curve.End.Add(e.Curve.Outcomes[k])
			list = append(list, Turnout{Forecast: e.Forecasts[forecaster][k], Wait: start.Sub(e.At(k)), Known: start, start: e.Curve.Submit})
		}
	}
	return list
}

func sorted(list []Turnout) []Turnout {
	slices.SortStableFunc(list, func(a, b Turnout) int { return cmp.Compare(a.Known, b.Known) })
	return list
}
