package trainer

import (
	"cmp"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor/drift"
)

// Guarded returns the contender that decides as `segue advise --model` does: by
// the policy of that name, the default for an empty one, and by learned.Planner
// where the features are unlike those that training saw, or where forecasts have
// not kept their word. It reads the blend that Recalibrate left in the episodes,
// and the doubts of castDoubt.
func Guarded(m *learned.Model, name string) (Contender, error) {
	p, err := m.Policy(name)
	if err != nil {
		return nil, err
	}
	return guarded{m, p, preferences}, nil
}

type guarded struct {
	model  *learned.Model
	policy *learned.Policy // nil: the quantile rule of the blend
	asked  []float64
}

func (g guarded) Name() string {
	if g.policy == nil {
		return learned.BlendQuantile + "-guarded"
	}
	return g.policy.Name + "-guarded"
}

func (g guarded) Params() []float64 { return g.asked }

func (g guarded) Choose(e *Episode) ([]int, error) {
	trained, err := g.trained(e)
	if err != nil {
		return nil, err
	}
	planner := e.Forecasts[learned.Planner(segue.Balanced).Forecaster]
	looked, familiar := 0, false
	return choose(e, g.asked, func(lead int, preference float64) bool {
		if looked != lead {
			looked = lead
			familiar, _ = g.model.Familiar(e.FeaturesAt(lead))
			familiar = familiar && (e.Doubts == nil || e.Doubts[lead] == "")
		}
		if familiar {
			return trained(lead, preference)
		}
		return learned.Planner(segue.Preference(preference)).Need(planner[lead]) >= e.Curve.Leads[lead]
	}), nil
}

// castDoubt notes in the episodes, which Recalibrate has corrected, where their
// forecasts are not to be trusted: by how those of earlier instants turned out, of
// which the waits were known.
func castDoubt(episodes []Episode) {
	var band drift.Coverage
	var outcomes []drift.Outcome
	for _, t := range turnouts(episodes, learned.Blend) {
		outcomes = append(outcomes, band.Outcome(t.Forecast, t.Wait(), t.Left))
	}
	slices.SortStableFunc(outcomes, func(a, b drift.Outcome) int { return cmp.Compare(a.Known, b.Known) })
	_ = inParallel(len(episodes), func() (func(i int) error, error) {
		return func(i int) error {
			e := &episodes[i]
			e.Doubts = make([]string, len(e.Curve.Leads))
			for k := range e.Doubts {
				_, e.Doubts[k] = band.Check(outcomes, e.At(k)-1) // the wait of one that starts at once is known no earlier
			}
			return nil
		}, nil
	}) // which cannot fail
}

// trained returns what the model decides at a lead of the episode.
func (g guarded) trained(e *Episode) (func(lead int, preference float64) bool, error) {
	if g.policy != nil {
		return deciding(g.policy, e)
	}
	return func(lead int, preference float64) bool {
		return learned.Quantile(learned.Blend, segue.Preference(preference)).Need(e.Forecasts[learned.Blend][lead]) >= e.Curve.Leads[lead]
	}, nil
}
