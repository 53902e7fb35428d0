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

// Turnout is how the forecast for a submit time of an episode turned out.
type Turnout struct {
	waits.Turnout
	episode segue.Time // when its episode began
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
		*f = past.Correct(*f)
	}
	return own
}

func newPast(list []Turnout) *waits.Past {
	turnouts := make([]waits.Turnout, len(list))
	for i := range list {
		turnouts[i] = list[i].Turnout
	}
	return waits.NewPast(waits.Follower{}, turnouts, 0)
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
			list = append(list, Turnout{waits.Turnout{
				Forecast: e.Forecasts[forecaster][k], Left: e.Curve.End.Add(e.Curve.Outcomes[k]), Started: true,
			}, e.Curve.Submit})
		}
	}
	return list
}
