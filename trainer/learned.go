package trainer

import (
	"fmt"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/predictor/waits"
)

// LearnedFamilies are the rules that decide by the forecasts of a model: its trees'
// and the blend.
func LearnedFamilies() []policy.Family {
	return slices.Concat(policy.ForecastFamilies(waits.Source), policy.ForecastFamilies(learned.Blend))
}

// Foretell adds the forecasts of a model of waits to the episodes, which must
// hold features. model must return a model of its own for every goroutine.
func Foretell(episodes []Episode, model func() (*waits.Model, error)) error {
	err := inParallel(len(episodes), func() (func(i int) error, error) {
		m, err := model()
		if err != nil {
			return nil, err
		}
		return func(i int) error {
			e := &episodes[i]
			raw := make([]segue.Forecast, len(e.Curve.Leads))
			for k := range raw {
				raw[k] = m.Forecast(e.At(k), e.FeaturesAt(k))
			}
			e.Forecasts[waits.Source] = raw
			return nil
		}, nil
	})
	if err != nil {
		return fmt.Errorf("foretell: %w", err)
	}
	return nil
}

// Network returns the contender that decides as the policy of a model, which
// reads the blend that Recalibrate left in the episodes.
func Network(p *learned.Policy) Contender { return network{p, preferences} }

type network struct {
	policy *learned.Policy
	asked  []float64
}

// preferences are those for which networks are asked: hours of overlap worth
// an hour of interruption; 0 never submits before the end.
var preferences = []float64{0, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10, 12, 14, 17, 20, 25, 32, 40, 50}

func (n network) Name() string      { return n.policy.Name }
func (n network) Params() []float64 { return n.asked }

// Choose goes through the leads once, and asks for the preferences that have
// not submitted yet.
func (n network) Choose(e *Episode) ([]int, error) {
	submit, err := deciding(n.policy, e)
	if err != nil {
		return nil, err
	}
	return choose(e, n.asked, submit), nil
}

// deciding returns whether a network submits at a lead of the episode.
func deciding(p *learned.Policy, e *Episode) (func(lead int, preference float64) bool, error) {
	decider, err := p.NewDecider()
	if err != nil {
		return nil, err
	}
	view := viewer{transformer: p.Spec.Kind == networks.Transformer}
	return func(lead int, preference float64) bool {
		window := view.move(e, lead)
		return decider.Submit(view.state, window, e.Curve.Leads[lead], 1/preference)
	}, nil
}

// viewer keeps what a network sees at one lead of an episode.
type viewer struct {
	transformer   bool
	lead          int        // that was looked at last, 0 for none
	hour          segue.Time // that the window was looked at last
	state, window []float32
}

// move looks at the lead of that index, unless it does already, and returns the
// window that a transformer reads there, nil where that is the one of before.
func (v *viewer) move(e *Episode, lead int) []float32 {
	if v.lead == lead {
		return nil
	}
	v.lead = lead
	v.state = policy.State(e.FeaturesAt(lead), e.Forecasts[learned.Blend][lead], e.Curve.Leads[lead], v.state[:0])
	hour := nextHour(e.At(lead) + 1)
	if !v.transformer || v.window != nil && v.hour == hour {
		return nil
	}
	v.hour = hour
	v.window = e.Timeline.Window(e.At(lead), v.window[:0])
	return v.window
}

// choose returns for every preference the first lead, from the earliest on, at
// which submit says so; the last one is the end.
func choose(e *Episode, preferences []float64, submit func(lead int, preference float64) bool) []int {
	chosen := make([]int, len(preferences))
	for k := len(e.Curve.Leads) - 1; k > 0; k-- {
		for i, preference := range preferences {
			if chosen[i] == 0 && preference > 0 && submit(k, preference) {
				chosen[i] = k
			}
		}
	}
	return chosen
}
