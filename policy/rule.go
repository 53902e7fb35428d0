package policy

import (
	"time"

	"github.com/segue-project/segue"
)

// Rule is a policy with its parameter: the lead before the end of the current
// link at which the next one is submitted, as a function of the forecast.
type Rule struct {
	Name       string  // stable
	Forecaster string  // whose forecast it reads; "" for none
	Form       Form    // how
	Param      float64 // hours, a factor or a probability, by Form
	// AtStart reads the forecast once, when the current link starts, instead
	// of at every decision.
	AtStart bool
}

// Form is the shape of a rule.
type Form uint8

// The forms of rules.
const (
	Constant Form = iota // Param hours, whatever the forecast
	Scale                // Param x the mean wait
	Margin               // the mean wait + Param hours
	Quantile             // the Param-quantile of the wait
)

// Need returns the lead that the rule wants: submit when no more than that
// remains of the current link. It is never negative.
func (r Rule) Need(f segue.Forecast) time.Duration {
	switch r.Form {
	case Constant:
		return max(0, hours(r.Param))
	case Scale:
		return max(0, time.Duration(r.Param*float64(f.Mean())))
	case Margin:
		return max(0, f.Mean()+hours(r.Param))
	case Quantile:
		return f.Quantile(r.Param)
	}
	return 0
}

func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }

// Family is a rule and the values of its parameter that are worth trying.
type Family struct {
	Rule
	Params []float64
}

// With returns the family's rule at one value.
func (f Family) With(param float64) Rule {
	r := f.Rule
	r.Param = param
	return r
}

// ConstantName is the family that submits a fixed time before the end.
const ConstantName = "constant"

// Families returns every family there is, in the order of the results table.
func Families() []Family {
	factors := grid(0, 4, 0.05)
	margins := grid(-30, 30, 0.5)
	levels := grid(0.02, 0.98, 0.02)
	return []Family{
		{Rule: Rule{Name: "reactive", Form: Constant}, Params: []float64{0}},
		{Rule: Rule{Name: "average", Forecaster: "recent", Form: Scale, AtStart: true}, Params: factors},
		{Rule: Rule{Name: "average-updated", Forecaster: "recent", Form: Scale}, Params: factors},
		{Rule: Rule{Name: "recent-shape-quantile", Forecaster: "recent-shape", Form: Quantile}, Params: levels},
		{Rule: Rule{Name: "forward-limits-margin", Forecaster: "forward-limits", Form: Margin}, Params: margins},
		{Rule: Rule{Name: "forward-limits-scaled", Forecaster: "forward-limits", Form: Scale}, Params: factors},
		{Rule: Rule{Name: "forward-last-two-margin", Forecaster: "forward-last-two", Form: Margin}, Params: margins},
		{Rule: Rule{Name: "forward-last-two-scaled", Forecaster: "forward-last-two", Form: Scale}, Params: factors},
		{Rule: Rule{Name: "forward-learned-margin", Forecaster: "forward-learned", Form: Margin}, Params: margins},
		{Rule: Rule{Name: "forward-learned-scaled", Forecaster: "forward-learned", Form: Scale}, Params: factors},
		{Rule: Rule{Name: "monte-carlo-margin", Forecaster: "monte-carlo", Form: Margin}, Params: margins},
		{Rule: Rule{Name: "monte-carlo-scaled", Forecaster: "monte-carlo", Form: Scale}, Params: factors},
		{Rule: Rule{Name: "monte-carlo-quantile", Forecaster: "monte-carlo", Form: Quantile}, Params: levels},
		{Rule: Rule{Name: "forward-true-scaled", Forecaster: "forward-true", Form: Scale}, Params: factors},
	}
}

// Planners are the names of the families that need nothing but their one tuned
// parameter and know nothing that could not be known.
func Planners() []string {
	var names []string
	for _, f := range Families() {
		if f.Forecaster != "" && f.Forecaster != "forward-true" {
			names = append(names, f.Name)
		}
	}
	return names
}

func grid(from, to, step float64) []float64 {
	n := int((to-from)/step + 1.5)
	values := make([]float64, n)
	for i := range values {
		values[i] = from + float64(i)*step
	}
	return values
}
