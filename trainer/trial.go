package trainer

import (
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy"
)

// Trial turns episodes into the outcomes of every contender at every value of
// its parameter.
func Trial(episodes []Episode, contenders []Contender) (evaluation.Trial, error) {
	var t evaluation.Trial
	if len(episodes) == 0 {
		return t, nil
	}
	for i := range episodes {
		t.Starts.At = append(t.Starts.At, episodes[i].Curve.Submit)
		t.Starts.Reactive = append(t.Starts.Reactive, episodes[i].Curve.Reactive().Hours())
	}
	t.Constant = constant(episodes)
	for _, contender := range contenders {
		o := evaluation.Outcomes{Name: contender.Name(), Params: contender.Params()}
		for range o.Params {
			o.X = append(o.X, make([]float64, len(episodes)))
		}
		err := inParallel(len(episodes), func() (func(i int) error, error) {
			return func(i int) error {
				chosen, err := contender.Choose(&episodes[i])
				for p, lead := range chosen {
					o.X[p][i] = episodes[i].Curve.Outcomes[lead].Hours()
				}
				return err
			}, nil
		})
		if err != nil {
			return t, fmt.Errorf("%s: %w", contender.Name(), err)
		}
		t.Policies = append(t.Policies, o)
	}
	return t, nil
}

// constant returns the outcomes of every lead of the grid.
func constant(episodes []Episode) evaluation.Outcomes {
	o := evaluation.Outcomes{Name: evaluation.ConstantName}
	for k, lead := range episodes[0].Curve.Leads {
		row := make([]float64, len(episodes))
		for i := range episodes {
			row[i] = episodes[i].Curve.Outcomes[k].Hours()
		}
		o.Params = append(o.Params, lead.Hours())
		o.X = append(o.X, row)
	}
	return o
}

// chosenLead returns the index of the lead at which the rule submits: the
// first, from the earliest on, that is not more than it needs.
func chosenLead(e *Episode, rule policy.Rule) int {
	forecasts := e.Forecasts[rule.Forecaster]
	last := len(e.Curve.Leads) - 1
	for k := last; k > 0; k-- {
		var f segue.Forecast
		switch {
		case forecasts == nil:
		case rule.AtStart:
			f = forecasts[last] // the longest lead is nearest to the start
		default:
			f = forecasts[k]
		}
		if rule.Need(f) >= e.Curve.Leads[k] {
			return k
		}
	}
	return 0
}
