package provisioner

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Trained is a model that is asked to decide.
type Trained struct {
	ID     string // of the model, for the decision
	Model  *learned.Model
	Policy string // its policy that decides; empty for its default
	// History is the window of the hours before (predictor.RecordedWindow), which
	// only a transformer reads.
	History []float32
	// LongestLead is the limit of the longest pair that it was trained for, 0 for
	// not known: with more remaining no network is asked.
	LongestLead time.Duration
	// Pairs are the shapes that it was trained for, and Hindsight is what LookBack
	// says of it by them.
	Pairs     []segue.Shape
	Hindsight Hindsight
}

// AdviseBy is Advise by a trained model. Its trees forecast the wait of a
// submission now, from the features of what is known and from the forecasters of
// predictor.Sources, by.Hindsight corrects that and the planner's forecast, and its
// policy decides by the blend of the two. Later submissions are priced
// by the same forecast, moved by how the Monte Carlo forecast changes until then.
// Where the model stands aside, the decision is that of Advise, and its
// reason says why.
func AdviseBy(
	by Trained, now predictor.Present, cluster simulator.Config, monte predictor.MonteCarloConfig, q Question,
) (segue.Decision, error) {
	s, err := plan(now, cluster, monte, q)
	if err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	sources, err := predictor.NewSources(cluster, monte)
	if err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	told := predictor.Told{s.Forecast.Source: s.Forecast}
	if err := tell(told, sources, &now, q.Request); err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	var describer predictor.Describer
	d, err := by.Model.Decide(by.Policy, learned.Situation{
		Situation: s, Features: describer.Describe(&now, q.Request, told, nil), History: by.History, LongestLead: by.LongestLead,
		Correct: by.Hindsight.Correct, Doubt: by.Hindsight.Doubt, CorrectPlanner: by.Hindsight.CorrectPlanner,
	})
	if err != nil {
		return segue.Decision{}, fmt.Errorf("advise: model %s: %w", by.ID, err)
	}
	d.Model = by.ID
	return d, nil
}

// tell asks the sources that have not told yet.
func tell(told predictor.Told, sources []predictor.Forecaster, now *predictor.Present, request segue.Request) error {
	for _, f := range sources {
		if _, known := told[f.Name()]; known {
			continue
		}
		forecast, err := f.Forecast(now, request)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		told[f.Name()] = forecast
	}
	return nil
}
