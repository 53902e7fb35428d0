package trainer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy"
)

// episodeOf returns an episode with leads of 0, 1, 2... hours, their outcomes in
// hours and, for the forecaster "f", a single wait in hours for each.
func episodeOf(submit segue.Time, outcome, forecast []float64) Episode {
	hours := func(h float64) time.Duration { return time.Duration(h * float64(hour)) }
	e := Episode{Curve: outcomes.Curve{Submit: submit}, Forecasts: map[string][]segue.Forecast{}}
	for k, x := range outcome {
		e.Curve.Leads = append(e.Curve.Leads, time.Duration(k)*hour)
		e.Curve.Outcomes = append(e.Curve.Outcomes, hours(x))
	}
	for _, w := range forecast {
		e.Forecasts["f"] = append(e.Forecasts["f"], segue.NewForecast(0, "f", []time.Duration{hours(w)}))
	}
	return e
}

func TestChosenLeadByHand(t *testing.T) {
	t.Parallel()
	scale := policy.Rule{Forecaster: "f", Form: policy.Scale, Param: 1}
	with := func(change func(*policy.Rule)) policy.Rule { r := scale; change(&r); return r }
	tests := map[string]struct {
		rule     policy.Rule
		forecast []float64 // of the wait, by lead in hours: the last is the earliest
		want     int
	}{
		"as soon as the forecast is the time that is left": {scale, []float64{9, 9, 2, 1, 1}, 2},
		"the first moment counts, not the last":            {scale, []float64{9, 9, 9, 3, 1}, 3},
		"at once":                                          {scale, []float64{0, 0, 0, 0, 4}, 4},
		"never: at the end":                                {scale, []float64{9, 0.9, 1.9, 2.9, 3.9}, 0},
		"twice the forecast":                               {with(func(r *policy.Rule) { r.Param = 2 }), []float64{9, 9, 9, 1.5, 1}, 3},
		"only the forecast at the start":                   {with(func(r *policy.Rule) { r.AtStart = true }), []float64{9, 9, 9, 9, 2.5}, 2},
		"a constant lead between two":                      {policy.Rule{Form: policy.Constant, Param: 2.7}, []float64{9, 9, 9, 9, 9}, 2},
		"a constant lead beyond the start":                 {policy.Rule{Form: policy.Constant, Param: 27}, []float64{9, 9, 9, 9, 9}, 4},
		"reactive":                                         {policy.Rule{Form: policy.Constant}, []float64{9, 9, 9, 9, 9}, 0},
		"a forecaster that said nothing":                   {scale, nil, 2},
		"a quantile":                                       {with(func(r *policy.Rule) { r.Form, r.Param = policy.Quantile, 0.9 }), []float64{0, 1, 1, 3, 3}, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := episodeOf(0, []float64{0, 0, 0, 0, 0}, tt.forecast)
			if got := chosenLead(&e, tt.rule); got != tt.want {
				t.Errorf("submits with a lead of %d h, want %d h", got, tt.want)
			}
		})
	}
}

func TestTrialIsALookUp(t *testing.T) {
	t.Parallel()
	episodes := []Episode{
		episodeOf(midnight(1), []float64{3, 2, -1}, []float64{1, 1, 1}),
		episodeOf(midnight(2), []float64{0, -1, -2}, []float64{2, 2, 2}),
	}
	family := policy.Family{Rule: policy.Rule{Name: "p", Forecaster: "f", Form: policy.Scale}, Params: []float64{0, 1, 2}}
	want := evaluation.Trial{
		Starts:   evaluation.Starts{At: []segue.Time{midnight(1), midnight(2)}, Reactive: []float64{3, 0}},
		Constant: evaluation.Outcomes{Name: "constant", Params: []float64{0, 1, 2}, X: [][]float64{{3, 0}, {2, -1}, {-1, -2}}},
		Policies: []evaluation.Outcomes{{Name: "p", Params: []float64{0, 1, 2}, X: [][]float64{{3, 0}, {2, -2}, {-1, -2}}}},
	}
	if diff := cmp.Diff(want, trialOf(t, episodes, family)); diff != "" {
		t.Errorf("trial differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(evaluation.Trial{}, trialOf(t, nil, family)); diff != "" {
		t.Errorf("trial of no episodes differs (-want +got):\n%s", diff)
	}
}

func TestConstantRowsAreTheCurves(t *testing.T) {
	t.Parallel()
	episodes, err := Collect(t.Context(), setupOf(busyReplay(2, 20)), Starts(midnight(5), midnight(8), 12*hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	constant := policy.Family{Rule: policy.Rule{Name: "fixed", Form: policy.Constant}, Params: []float64{0, 2, 4, 6, 8, 10, 12}}
	trial := trialOf(t, episodes, constant)
	for k := range trial.Constant.X {
		for i, e := range episodes {
			if got, want := trial.Constant.X[k][i], e.Curve.Outcomes[k].Hours(); got != want {
				t.Errorf("row %d of constant is %g at start %d, want the curve's %g", k, got, i, want)
			}
		}
	}
	if diff := cmp.Diff(trial.Constant.X, trial.Policies[0].X); diff != "" {
		t.Errorf("a rule with a constant lead is another thing than constant (-constant +rule):\n%s", diff)
	}
}

// What a policy achieves in a backtest is what it achieves in a chain, where it
// is asked at every step with a forecast of that moment.
func TestChainUnderARuleIsWhatTheTrialSays(t *testing.T) {
	t.Parallel()
	r := busyReplay(4, 20)
	setup := setupOf(r).withDefaults()
	at := midnight(9)
	episodes, err := Collect(t.Context(), setup, []segue.Time{at}, nil)
	if err != nil {
		t.Fatal(err)
	}
	turned := CorrectPlanner(episodes, nil)
	e := &episodes[0]
	params := map[policy.Form][]float64{policy.Constant: {0}, policy.Scale: {0.3, 1}, policy.Margin: {-2, 2}, policy.Quantile: {0.5, 0.9}}
	submitted := map[time.Duration]bool{}
	for _, family := range policy.Families() {
		for _, param := range params[family.Form] {
			rule := family.With(param)
			cluster, history := watched(t, setup, at)
			links, err := setup.follow(cluster, history, rule, setup.Grid.Step, turned)
			if err != nil {
				t.Fatal(err)
			}
			k := chosenLead(e, rule)
			submitted[e.Curve.Leads[k]] = true
			if links[0].End != e.Curve.End || links[1].Outcome != e.Curve.Outcomes[k] || links[1].Submit != e.Curve.End.Add(-e.Curve.Leads[k]) {
				t.Errorf("%s at %g: submitted at %s with the outcome %s, in the trial %s and %s", family.Name, param,
					links[1].Submit, links[1].Outcome, e.Curve.End.Add(-e.Curve.Leads[k]), e.Curve.Outcomes[k])
			}
		}
	}
	if len(submitted) < 4 {
		t.Errorf("the rules chose only %d different leads: the start says too little", len(submitted))
	}
}

// trialOf returns the trial of one family.
func trialOf(t *testing.T, episodes []Episode, family policy.Family) evaluation.Trial {
	t.Helper()
	trial, err := Trial(episodes, []Contender{Ruled(family)})
	if err != nil {
		t.Fatal(err)
	}
	return trial
}
