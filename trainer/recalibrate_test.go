package trainer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
)

// foreseenEpisode has leads of 0 to 18 hours, at each of which the planner foresees
// waits of 10 to 12 hours; what is submitted then starts after the wait.
func foreseenEpisode(submit segue.Time, wait time.Duration) Episode {
	e := episodeOf(submit, make([]float64, 19), nil)
	e.Curve.End = submit.Add(18 * hour)
	for k, lead := range e.Curve.Leads {
		e.Curve.Outcomes[k] = wait - lead
		e.Forecasts[predictor.MonteCarloName] = append(e.Forecasts[predictor.MonteCarloName],
			segue.NewForecast(e.At(k), predictor.MonteCarloName, []time.Duration{10 * hour, 11 * hour, 12 * hour}))
	}
	return e
}

// A job that starts at once is known to have when it is submitted, and not before:
// the forecast for it is not corrected by it, the next ones are.
func TestForecastIsNotCorrectedByItsOwnOutcome(t *testing.T) {
	t.Parallel()
	episodes := []Episode{foreseenEpisode(midnight(1), 0)}
	CorrectPlanner(episodes, nil)
	first := len(episodes[0].Curve.Leads) - 1
	raw, corrected := episodes[0].Forecasts[predictor.MonteCarloName], episodes[0].Forecasts[policy.Corrected]
	if diff := cmp.Diff(raw[first], corrected[first]); diff != "" {
		t.Errorf("the first forecast is corrected by what came of it:\n%s", diff)
	}
	if got := corrected[0].Mean(); got >= 11*hour {
		t.Errorf("after jobs that started at once the mean is %s, want less than the 11h foreseen", got)
	}
}

// A wait that is not over is known to last: nineteen hours of it say that ten were too
// few, long before it ends.
func TestForecastIsCorrectedByWaitsThatAreNotOver(t *testing.T) {
	t.Parallel()
	var episodes []Episode
	for i := range 10 {
		episodes = append(episodes, foreseenEpisode(midnight(1).Add(time.Duration(i)*minute), 100*hour))
	}
	later := foreseenEpisode(midnight(2).Add(12*hour), 100*hour)
	CorrectPlanner(append(episodes, later), nil)
	last := len(later.Curve.Leads) - 1
	if got := later.Forecasts[policy.Corrected][last].Quantile(0.5); got <= 12*hour {
		t.Errorf("the median is %s after 36 hours in which none of the jobs has started, want more than 12h", got)
	}
	CorrectPlanner([]Episode{later}, nil)
	if diff := cmp.Diff(later.Forecasts[predictor.MonteCarloName][last], later.Forecasts[policy.Corrected][last]); diff != "" {
		t.Errorf("without the others its first forecast is another:\n%s", diff)
	}
}

// Stress runs have a quarter of the starts: what was known before the test period is
// thinned to as many.
func TestStressRunsKnowAsMuchOfBeforeAsOfAfter(t *testing.T) {
	t.Parallel()
	b := backtest{BacktestConfig: BacktestConfig{Every: 4 * hour}}
	b.Split.Test.From = midnight(10)
	var list []Turnout
	for i := range 120 { // of twenty days
		start := midnight(1).Add(time.Duration(i) * 4 * hour)
		list = append(list, Turnout{waits.Turnout{Left: start.Add(hour)}, start})
	}
	kept := b.before(list)
	if want := 9 * 6 / stressEvery; len(kept) != want && len(kept) != want+1 {
		t.Errorf("%d turnouts of nine days are kept, want about %d", len(kept), want)
	}
	for _, k := range kept {
		if k.Left >= b.Split.Test.From {
			t.Errorf("one that was known at %s is kept", k.Left)
		}
	}
}
