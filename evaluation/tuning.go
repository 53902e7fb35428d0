package evaluation

import (
	"fmt"
	"math"
	"slices"

	"github.com/segue-project/segue"
)

// tuned is a test trial together with the parameter that each policy got on
// the tuning period. Policies are counted as in Trial.all: the constant lead
// is number 0.
type tuned struct {
	test Trial
	// params are the chosen values, NaN where a policy has no parameter or
	// the starts of several runs with different values were joined.
	params []float64
	// chosen[p][i] is the outcome of policy p on test start i at its value.
	chosen [][]float64
	// tuningCost is each policy's cost at its value, summed over the tuning
	// starts.
	tuningCost []float64
}

// tune chooses for each policy the row whose mean cost on run.Tune is least,
// the first of equals.
func tune(run Run, cfg Config) (tuned, error) {
	for _, part := range []struct {
		period string
		trial  Trial
	}{{"tuning", run.Tune}, {"test", run.Test}} {
		if err := part.trial.validate(); err != nil {
			return tuned{}, fmt.Errorf("%s: %s period: %w", run.name(), part.period, err)
		}
	}
	if err := sameShape(run.Tune, run.Test); err != nil {
		return tuned{}, fmt.Errorf("%s: tuning and test period: %w", run.name(), err)
	}
	t := tuned{test: run.Test}
	for p, policy := range run.Test.all() {
		row, cost := cheapest(run.Tune.all()[p], cfg.Prefer.OverlapPrice())
		param := math.NaN()
		if policy.Params != nil {
			param = policy.Params[row]
		}
		t.params = append(t.params, param)
		t.chosen = append(t.chosen, policy.X[row])
		t.tuningCost = append(t.tuningCost, cost*float64(run.Tune.Len()))
	}
	return t, nil
}

// cheapest returns the row of least mean cost, and that cost in hours.
func cheapest(o Outcomes, price float64) (row int, cost float64) {
	cost = math.Inf(1)
	for k, p := range o.Points() {
		if c := p.Cost(price); c < cost {
			row, cost = k, c
		}
	}
	return row, cost
}

// join returns the starts of both, each with the outcome at its own value.
func (t tuned) join(u tuned) (tuned, error) {
	if t.params == nil {
		return u, nil
	}
	if err := sameShape(t.test, u.test); err != nil {
		return tuned{}, err
	}
	joined := tuned{test: t.test.join(u.test)}
	for p := range t.params {
		param := t.params[p]
		if param != u.params[p] {
			param = math.NaN()
		}
		joined.params = append(joined.params, param)
		joined.chosen = append(joined.chosen, slices.Concat(t.chosen[p], u.chosen[p]))
		joined.tuningCost = append(joined.tuningCost, t.tuningCost[p]+u.tuningCost[p])
	}
	return joined, nil
}

// bestPlanner returns the number of the planner that cost least on the tuning
// period, -1 when cfg names none.
func (t tuned) bestPlanner(cfg Config) (int, error) {
	best := -1
	for _, name := range cfg.Planners {
		p := slices.IndexFunc(t.test.all(), func(o Outcomes) bool { return o.Name == name })
		if p < 0 {
			return 0, segue.Errorf(segue.Invalid, "planner %q is not among the policies", name)
		}
		if best < 0 || t.tuningCost[p] < t.tuningCost[best] {
			best = p
		}
	}
	return best, nil
}

// sameShape refuses two trials unless they hold the same policies, in the same
// order, with the same parameter values.
func sameShape(a, b Trial) error {
	if len(a.Policies) != len(b.Policies) {
		return segue.Errorf(segue.Invalid, "%d policies and %d", len(a.Policies), len(b.Policies))
	}
	for p, policy := range a.all() {
		other := b.all()[p]
		if policy.Name != other.Name {
			return segue.Errorf(segue.Invalid, "policy %d is %q and %q", p, policy.Name, other.Name)
		}
		if len(policy.X) != len(other.X) || !slices.Equal(policy.Params, other.Params) {
			return segue.Errorf(segue.Invalid, "policy %q has different parameter values", policy.Name)
		}
	}
	return nil
}
