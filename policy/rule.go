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
	Quantile             // the Param-quantile of the wait; nothing at 0
)

// blindWait is the wait that a rule goes by when it has no forecast.
const blindWait = 2 * time.Hour

// Blind reports whether the rule reads forecasts and has got an empty one.
func (r Rule) Blind(f segue.Forecast) bool { return r.Forecaster != "" && f.Empty() }

// Need returns the lead that the rule wants: submit when no more than that
// remains of the current link. It is never negative. A rule that needs a
// forecast and has none goes by a wait of two hours.
func (r Rule) Need(f segue.Forecast) time.Duration {
	if r.Blind(f) {
		f.Waits = []time.Duration{blindWait}
	}
	switch r.Form {
	case Constant:
		return max(0, hours(r.Param))
	case Scale:
		return max(0, time.Duration(r.Param*float64(f.Mean())))
	case Margin:
		return max(0, f.Mean()+hours(r.Param))
	case Quantile:
		if r.Param <= 0 {
			return 0 // never before the end
		}
		return f.Quantile(r.Param)
	}
	return 0
}

func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }

// Family is a rule and the values of its parameter that are worth trying. What
// explains it to a reader of results in one sentence.
type Family struct {
	Rule
	Params []float64
	What   string
}

// With returns the family's rule at one value.
func (f Family) With(param float64) Rule {
	r := f.Rule
	r.Param = param
	return r
}

// Corrected is the name of the Monte Carlo forecast as moved by how earlier ones
// turned out (waits.Follower).
const Corrected = "monte-carlo-corrected"

// Families returns every family there is, in the order of the results table.
func Families() []Family {
	factors := grid(0, 4, 0.05)
	margins := grid(-72, 36, 1)
	levels := grid(0, 0.98, 0.02)
	return []Family{
		{Rule{Name: "reactive", Form: Constant}, []float64{0}, "submit when the current link ends, as a chain of afterany dependencies does"},
		{
			Rule{Name: "average", Forecaster: "recent", Form: Scale, AtStart: true},
			factors,
			"the mean wait of the last 100 jobs when the current link starts, times a factor",
		},
		{
			Rule{Name: "average-updated", Forecaster: "recent", Form: Scale},
			factors,
			"the mean wait of the last 100 jobs, looked at again at every decision, times a factor",
		},
		{
			Rule{Name: "recent-shape-quantile", Forecaster: "recent-shape", Form: Quantile},
			levels,
			"a quantile of the last 100 waits of jobs of the same shape, the user's own first",
		},
		{
			Rule{Name: "forward-limits-margin", Forecaster: "forward-limits", Form: Margin},
			margins,
			"the start that the scheduler foresees if every job runs to its limit (squeue --start), plus a margin",
		},
		{
			Rule{Name: "forward-limits-scaled", Forecaster: "forward-limits", Form: Scale},
			factors,
			"the wait that the scheduler foresees if every job runs to its limit (squeue --start), times a factor",
		},
		{
			Rule{Name: "forward-last-two-margin", Forecaster: "forward-last-two", Form: Margin},
			margins,
			"a simulation in which each job runs as long as its user's last two on average, plus a margin",
		},
		{
			Rule{Name: "forward-last-two-scaled", Forecaster: "forward-last-two", Form: Scale},
			factors,
			"a simulation in which each job runs as long as its user's last two on average, times a factor",
		},
		{
			Rule{Name: "forward-learned-margin", Forecaster: "forward-learned", Form: Margin},
			margins,
			"a simulation with the median run time of such jobs, given how long they have run, plus a margin",
		},
		{
			Rule{Name: "forward-learned-scaled", Forecaster: "forward-learned", Form: Scale},
			factors,
			"a simulation with the median run time of such jobs, given how long they have run, times a factor",
		},
		{
			Rule{Name: "monte-carlo-margin", Forecaster: "monte-carlo", Form: Margin},
			margins,
			"the mean over simulations with drawn run times and arrivals, plus a margin",
		},
		{
			Rule{Name: "monte-carlo-scaled", Forecaster: "monte-carlo", Form: Scale},
			factors,
			"the mean over simulations with drawn run times and arrivals, times a factor",
		},
		{
			Rule{Name: "monte-carlo-quantile", Forecaster: "monte-carlo", Form: Quantile},
			levels,
			"a quantile of the waits over simulations with drawn run times and arrivals",
		},
		{
			Rule{Name: Corrected + "-scaled", Forecaster: Corrected, Form: Scale},
			factors,
			"the mean over simulations, moved by how earlier such forecasts turned out, times a factor",
		},
		{
			Rule{Name: Corrected + "-quantile", Forecaster: Corrected, Form: Quantile},
			levels,
			"a quantile of the waits over simulations, moved by how earlier such forecasts turned out",
		},
		{
			Rule{Name: "forward-true-scaled", Forecaster: "forward-true", Form: Scale},
			factors,
			"a diagnostic that nobody can have: a simulation with the true run times, times a factor",
		},
	}
}

// ForecastFamilies returns the families that decide by the forecast of one
// forecaster alone: its mean times a factor, and a quantile of it.
func ForecastFamilies(forecaster string) []Family {
	return []Family{
		{
			Rule{Name: forecaster + "-scaled", Forecaster: forecaster, Form: Scale},
			grid(0, 4, 0.05),
			"the mean wait that " + forecaster + " forecast, times a factor",
		},
		{
			Rule{Name: forecaster + "-quantile", Forecaster: forecaster, Form: Quantile},
			grid(0, 0.98, 0.02),
			"a quantile of the waits that " + forecaster + " forecast",
		},
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
