package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
)

func TestNeedByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rule     policy.Rule
		forecast segue.Forecast
		want     time.Duration
	}{
		"a constant lead":              {policy.Rule{Form: policy.Constant, Param: 2.5}, segue.Forecast{}, 150 * minute},
		"a constant lead below 0":      {policy.Rule{Form: policy.Constant, Param: -1}, segue.Forecast{}, 0},
		"twice the mean":               {policy.Rule{Form: policy.Scale, Param: 2}, waits(1, 3), 4 * hour},
		"nothing of the mean":          {policy.Rule{Form: policy.Scale, Param: 0}, waits(1, 3), 0},
		"the mean and an hour":         {policy.Rule{Form: policy.Margin, Param: 1}, waits(1, 3), 3 * hour},
		"the mean less more than it":   {policy.Rule{Form: policy.Margin, Param: -9}, waits(1, 3), 0},
		"the median":                   {policy.Rule{Form: policy.Quantile, Param: 0.5}, waits(1, 2, 6), 2 * hour},
		"the longest wait":             {policy.Rule{Form: policy.Quantile, Param: 1}, waits(1, 2, 6), 6 * hour},
		"no quantile: at the end":      {policy.Rule{Form: policy.Quantile, Param: 0}, waits(1, 2, 6), 0},
		"blind: two hours":             {policy.Rule{Form: policy.Quantile, Param: 0.5, Forecaster: "f"}, segue.Forecast{}, 2 * hour},
		"blind: twice two hours":       {policy.Rule{Form: policy.Scale, Param: 2, Forecaster: "f"}, segue.Forecast{}, 4 * hour},
		"blind: two hours and one":     {policy.Rule{Form: policy.Margin, Param: 1, Forecaster: "f"}, segue.Forecast{}, 3 * hour},
		"blind, but told the end":      {policy.Rule{Form: policy.Quantile, Param: 0, Forecaster: "f"}, segue.Forecast{}, 0},
		"a form that there is not":     {policy.Rule{Form: 9, Param: 3}, waits(1), 0},
		"a constant lead needs no eye": {policy.Rule{Form: policy.Constant, Param: 1}, segue.Forecast{}, hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.rule.Need(tt.forecast); got != tt.want {
				t.Errorf("needs a lead of %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNeedLeavesTheForecastAlone(t *testing.T) {
	t.Parallel()
	f := segue.Forecast{At: noon, Source: "f"}
	policy.Rule{Form: policy.Quantile, Param: 0.5, Forecaster: "f"}.Need(f)
	if !f.Empty() {
		t.Error("an empty forecast has been filled")
	}
}

func TestFamiliesAreWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range policy.Families() {
		if f.Name == "" || seen[f.Name] || f.Name == "constant" || f.Name == "oracle" {
			t.Errorf("the family name %q is empty, reserved or used twice", f.Name)
		}
		seen[f.Name] = true
		if f.What == "" || f.What[len(f.What)-1] == '.' {
			t.Errorf("%s: explained by %q, want a phrase without a full stop", f.Name, f.What)
		}
		if len(f.Params) == 0 || !slices.IsSorted(f.Params) || len(slices.Compact(slices.Clone(f.Params))) != len(f.Params) {
			t.Errorf("%s: parameters %v, want them ascending", f.Name, f.Params)
		}
		if least := f.With(f.Params[0]); least.Need(waits(8, 20)) > 0 {
			t.Errorf("%s: no parameter means the end: at %v it needs %s", f.Name, least.Param, least.Need(waits(8, 20)))
		}
	}
}

// Along its parameter a family goes from no waste to no gap: the lead that it
// needs grows.
func TestFamiliesGrowWithTheirParameter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(policy.Families()).Draw(t, "family")
		forecast := drawForecast(t, noon)
		last := time.Duration(0)
		for _, param := range f.Params {
			need := f.With(param).Need(forecast)
			if need < last {
				t.Fatalf("%s at %v needs %s, less than before (%s)", f.Name, param, need, last)
			}
			last = need
		}
	})
}

func TestPlannersKnowNothingOfTheFuture(t *testing.T) {
	t.Parallel()
	want := []string{
		"average", "average-updated", "recent-shape-quantile", "forward-limits-margin", "forward-limits-scaled",
		"forward-last-two-margin", "forward-last-two-scaled", "forward-learned-margin", "forward-learned-scaled",
		"monte-carlo-margin", "monte-carlo-scaled", "monte-carlo-quantile", "monte-carlo-corrected-scaled", "monte-carlo-corrected-quantile",
	}
	if diff := cmp.Diff(want, policy.Planners()); diff != "" {
		t.Errorf("planners differ (-want +got):\n%s", diff)
	}
}
