//go:build native

package learning

import (
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/environment"
)

// tableOf returns the decision problem of the streams' episodes that keep
// reports true for, with the forecasts that they hold. histories adds what only
// a transformer reads.
func tableOf(streams []trainer.Stream, histories bool, keep func(at segue.Time) bool) environment.Table {
	t := environment.Table{Width: len(policy.StateNames())}
	if histories {
		t.HistorySteps, t.HistoryWidth = predictor.SummarySteps, len(predictor.SummaryNames())
	}
	for _, s := range streams {
		for i := range s.Episodes {
			if e := &s.Episodes[i]; keep(e.Curve.Submit) {
				t.Episodes = append(t.Episodes, episodeOf(e, histories))
			}
		}
	}
	return t
}

func episodeOf(e *trainer.Episode, histories bool) environment.Episode {
	out := environment.Episode{Weight: 1}
	for k, lead := range e.Curve.Leads {
		out.Leads = append(out.Leads, float32(lead.Hours()))
		out.Outcomes = append(out.Outcomes, float32(e.Curve.Outcomes[k].Hours()))
		out.States = policy.State(e.FeaturesAt(k), e.Forecasts[learned.Blend][k], lead, out.States)
		if histories {
			out.Histories = e.Timeline.Window(e.At(k), out.Histories)
		}
	}
	return out
}

// gateInputs returns the places among a network's inputs of what tells regimes
// of load apart.
func gateInputs() []int {
	names := policy.StateNames()
	var places []int
	for _, name := range []string{
		"request.size", "free.size", "pending.jobs_log", "running.work_expected", "pending.work_expected",
		"past.wait_mean.24h", "past.load.24h", "past.load.72h", "forecast.p50", "forecast.p90",
	} {
		places = append(places, slices.Index(names, name))
	}
	return places
}
