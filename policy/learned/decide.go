package learned

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/predictor/waits"
)

// Situation is what a model decides from.
type Situation struct {
	// Situation holds the planner's forecasts, of which Forecast decides where the
	// model stands aside, and has a share in the blend where it does not. There the
	// alternatives are those of Later as the model sees them: its forecast of a
	// submission now, moved by how the planner's simulations change until later.
	policy.Situation
	// Features are those of a predictor.Describer for a submission now.
	Features []float32
	// History is the window of predictor.SummarySteps summaries, the oldest
	// first. Only a transformer reads it.
	History []float32
	// Correct and CorrectPlanner, when not nil, move the forecasts of the trees and
	// of the planner by how earlier ones turned out, and Doubt says why the two
	// together are not to be trusted for all that; empty when they are.
	Correct, CorrectPlanner func(segue.Forecast) segue.Forecast
	Doubt                   string
	// LongestLead is the most that ever remained of a current link in training, 0
	// for not known. With more than that remaining a network is not asked: there
	// is time.
	LongestLead time.Duration
}

// Blend is the name of the forecast that a model decides by: see Blended.
const Blend = "blend"

// Blended returns the forecast that a model decides by: that of its trees averaged
// with the planner's, both as corrected. The two err in different ways. Trees know
// how such queues went on, and not this one's jobs; simulations know its jobs, and
// not what they leave out. Where there is no planner's it is the trees'.
func Blended(trees, planner segue.Forecast) segue.Forecast {
	if planner.Empty() {
		return trees
	}
	return waits.Average(Blend, trees, planner)
}

// BlendQuantile and TreesQuantile are the names of the policies that every model
// has: they cover the quantile that the preference asks for, of the blend and of the
// trees' forecast alone.
const (
	BlendQuantile = Blend + "-quantile"
	TreesQuantile = waits.Source + "-quantile"
)

// PolicyNames returns the names of the policies that can decide, the default
// first: moe-dqn where the model has it, else its first network, else
// BlendQuantile.
func (m *Model) PolicyNames() []string {
	names := make([]string, 0, len(m.Policies)+2)
	for _, p := range m.Policies {
		names = append(names, p.Name)
	}
	if i := slices.Index(names, "moe-dqn"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "moe-dqn")
	}
	return append(names, BlendQuantile, TreesQuantile)
}

// Policy returns the network of that name, nil for BlendQuantile and TreesQuantile.
// An empty name is the default. A name that the model does not have is an error of
// kind segue.Invalid.
func (m *Model) Policy(name string) (*Policy, error) {
	names := m.PolicyNames()
	if name == "" {
		name = names[0]
	}
	if !slices.Contains(names, name) {
		return nil, segue.Errorf(segue.Invalid, "the model has no policy %q: want one of %s", name, strings.Join(names, ", "))
	}
	i := slices.IndexFunc(m.Policies, func(p Policy) bool { return p.Name == name })
	if i < 0 {
		return nil, nil
	}
	return &m.Policies[i], nil
}

// Planner is the rule that decides where a model stands aside, and where there is
// none.
func Planner(prefer segue.Preference) policy.Rule {
	return Quantile(policy.Corrected, prefer)
}

// Plan answers as Planner does, by the situation's forecasts as correct moves them;
// by nil they stay.
func Plan(s policy.Situation, correct func(segue.Forecast) segue.Forecast) segue.Decision {
	if correct != nil {
		s.Forecast = correct(s.Forecast)
		s.Later = slices.Clone(s.Later)
		for i, f := range s.Later {
			s.Later[i] = correct(f)
		}
	}
	return policy.Decide(Planner(s.Prefer), s)
}

// Quantile is the rule that covers the quantile of a forecaster's waits that the
// preference asks for: of Blend, waits.Source or policy.Corrected.
func Quantile(forecaster string, prefer segue.Preference) policy.Rule {
	return policy.Rule{Name: forecaster + "-quantile", Forecaster: forecaster, Form: policy.Quantile, Param: prefer.CriticalQuantile()}
}

// Decide answers with the policy of that name, an empty one being the default,
// within the safe envelope of policy.Enveloped. Where the features are unlike
// those that training saw, or there is doubt of the forecasts, the model stands
// aside: Planner decides, and the reason says why.
func (m *Model) Decide(name string, s Situation) (segue.Decision, error) {
	if s.Prefer == 0 {
		s.Prefer = segue.Balanced
	}
	network, err := m.Policy(name)
	if err != nil {
		return segue.Decision{}, err
	}
	familiar, why := m.Familiar(s.Features)
	if familiar && s.Doubt != "" {
		familiar, why = false, s.Doubt
	}
	if !familiar {
		d := Plan(s.Situation, s.CorrectPlanner)
		d.Reason = strings.TrimSuffix(d.Reason, ".") + "; the model stands aside: " + why + "."
		return d, nil
	}
	forecaster, err := m.NewForecaster()
	if err != nil {
		return segue.Decision{}, err
	}
	trees := corrected(forecaster.Forecast(s.At, s.Features), s.Correct)
	source := Blend
	if name == TreesQuantile {
		source, s.Forecast = waits.Source, trees
	} else {
		s.Forecast = Blended(trees, corrected(s.Forecast, s.CorrectPlanner))
	}
	s.Later = moved(s.Forecast, s.Later)
	if network == nil {
		rule := Quantile(source, s.Prefer)
		d := policy.Enveloped(rule.Name, rule.Need(s.Forecast), s.Situation)
		d.Reason = reason(d, s.MaxLead)
		return d, nil
	}
	return network.decide(s)
}

func corrected(f segue.Forecast, by func(segue.Forecast) segue.Forecast) segue.Forecast {
	if by == nil {
		return f
	}
	return by(f)
}

// moved returns the model's forecasts at the instants of the planner's: trees
// know the queue as it is and not as it will be, so that each quantile
// goes along with the planner's from the first of its forecasts, a submission
// now, to the later one.
func moved(model segue.Forecast, planner []segue.Forecast) []segue.Forecast {
	var list []segue.Forecast
	for _, later := range planner {
		if later.At == model.At {
			list = append(list, model)
			continue
		}
		waits := make([]time.Duration, len(model.Waits))
		for j, wait := range model.Waits {
			p := (float64(j) + 0.5) / float64(len(waits))
			waits[j] = wait + later.Quantile(p) - planner[0].Quantile(p)
		}
		list = append(list, segue.NewForecast(later.At, model.Source+" + "+later.Source, waits))
	}
	return list
}

// lookAhead is the distance of the later moments for which a network is asked.
const lookAhead = 30 * time.Minute

// longestLead is LongestLead where that is not known: the longest wait that a
// forecast says.
const longestLead = 14 * 24 * time.Hour

// decide asks the network whether to submit now. If not, it is asked for later
// and later moments as if the queue stayed as it is: at the first at which it
// would submit it must be asked again at the latest.
func (p *Policy) decide(s Situation) (segue.Decision, error) {
	if p.Spec.Kind == networks.Transformer && len(s.History) != p.Spec.History.Steps*p.Spec.History.Width {
		return segue.Decision{}, segue.Errorf(segue.Invalid, "the policy %s reads a history of %d numbers, there are %d", p.Name,
			p.Spec.History.Steps*p.Spec.History.Width, len(s.History))
	}
	decider, err := p.NewDecider()
	if err != nil {
		return segue.Decision{}, err
	}
	lead := min(s.Remaining, longestLead)
	for _, most := range []time.Duration{s.LongestLead, s.MaxLead} {
		if most > 0 {
			lead = min(lead, most)
		}
	}
	var state []float32
	for history := s.History; lead > 0; lead -= lookAhead {
		state = policy.State(s.Features, s.Forecast, lead, state[:0])
		if decider.Submit(state, history, lead, s.Prefer.OverlapPrice()) {
			break
		}
		history = nil
	}
	d := policy.Enveloped(p.Name, lead, s.Situation)
	d.Reason = reason(d, s.MaxLead)
	return d, nil
}

// reason says in one sentence why, with the numbers of a submission now.
func reason(d segue.Decision, maxLead time.Duration) string {
	if d.Remaining <= 0 {
		return "Submit now: the current link has ended."
	}
	f := d.Forecast
	verdict := "Submit now"
	if !d.Submit {
		verdict = "Wait until " + policy.Clock(d.SubmitAt)
	}
	text := fmt.Sprintf("%s: the current link ends in %s, and of such jobs submitted now %.0f %% would start before that, "+
		"for an expected %s of interruption and %s of overlap; %s decides so at a price of %.2g h of interruption for an hour of overlap",
		verdict, policy.Words(d.Remaining), 100*f.StartsWithin(d.Remaining), policy.Words(f.Interruption(d.Remaining)),
		policy.Words(f.Overlap(d.Remaining)), d.Policy, d.Prefer.OverlapPrice())
	if maxLead > 0 && !d.Submit && d.SubmitAt.Sub(d.At) == (d.Remaining-maxLead).Truncate(time.Microsecond) {
		text += fmt.Sprintf(", and you allow %s of lead at most", policy.Words(maxLead))
	}
	return text + "."
}
