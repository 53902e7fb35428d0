//go:build native

package learning_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/reports"
	"github.com/segue-project/segue/trainer/learning"
	"github.com/segue-project/segue/trainer/libtorch"
)

func TestReportOfATrainingShowsAllOfIt(t *testing.T) {
	t.Parallel()
	learned, err := learning.Learn(t.Context(), quickly(""))
	if err != nil {
		t.Fatal(err)
	}
	var report reports.Training
	learned.AddTo(&report)

	var panels []string
	for _, p := range report.Policies {
		for _, panel := range p.Course.Panels {
			for _, s := range panel.Series {
				if len(s.X) > 0 {
					panels = append(panels, p.Name+" "+s.Name)
				}
			}
		}
	}
	want := []string{
		"moe-dqn loss", "moe-dqn validation cost", "moe-dqn expert 1", "moe-dqn expert 2", "moe-dqn expert 3", "moe-dqn expert 4",
		"pg loss", "pg validation cost",
	}
	if diff := cmp.Diff(want, panels); diff != "" {
		t.Errorf("curves (-want +got):\n%s", diff)
	}
	for i, p := range report.Policies {
		history := learned.Trainings[i].History
		at := slices.IndexFunc(history, func(h libtorch.Progress) bool { return h.Step == p.BestStep })
		if at < 0 || history[at].ValidationCost != p.Best || history[0].ValidationCost != p.Rule {
			t.Errorf("%s: the best step is %d with %g after %g, which its history does not say", p.Name, p.BestStep, p.Best, p.Rule)
		}
	}
	if n := len(report.Trees.Panels[0].Series); n != 5 {
		t.Errorf("the losses of %d fits, want those of four folds and of everything", n)
	}
	var policies []string
	for _, s := range report.Frontier.Series {
		policies = append(policies, s.Name)
	}
	if diff := cmp.Diff([]string{"constant", "trees-scaled", "trees-quantile", "blend-scaled", "blend-quantile", "moe-dqn", "pg", "oracle"}, policies); diff != "" {
		t.Errorf("policies of the frontier (-want +got):\n%s", diff)
	}

	page, err := report.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"trees", "policy-1", "policy-2", "calibration-fold", "calibration-load", "coverage", "frontier", "costs"} {
		if !regexp.MustCompile(` id="` + id + `"`).Match(page) {
			t.Errorf("the page has no section %s", id)
		}
	}
	if strings.Contains(string(page), "NaN") {
		t.Error("the page says NaN")
	}
}

// Groups by fold and by load are the same forecasts, and those that months hold.
func TestForecastsAreCountedOnceInEveryGrouping(t *testing.T) {
	t.Parallel()
	learned, err := learning.Learn(t.Context(), forecastOnly())
	if err != nil {
		t.Fatal(err)
	}
	count := func(groups []learning.Reliability) (n int, within float64) {
		level := slices.Index(learning.Levels, 0.9)
		for _, g := range groups {
			n, within = n+g.Count, within+g.Within[level]*float64(g.Count)
		}
		return n, within
	}
	wantCount, wantWithin := 0, 0.0
	for _, c := range learned.Coverage {
		wantCount, wantWithin = wantCount+c.Count, wantWithin+c.At90*float64(c.Count)
	}
	for name, groups := range map[string][]learning.Reliability{"fold": learned.ByFold, "load": learned.ByLoad} {
		n, within := count(groups)
		if n != wantCount || within < wantWithin-1e-6 || within > wantWithin+1e-6 {
			t.Errorf("by %s %d forecasts with %g waits within the 0.9 quantile, want %d with %g", name, n, within, wantCount, wantWithin)
		}
	}
	for _, p := range learned.Validation.Policies {
		if yardstick := p.Name == evaluation.ConstantName || p.Name == evaluation.OracleName; !yardstick && len(p.Costs) != 1 {
			t.Errorf("%s has %d costs on the validation fold, want that of one pair", p.Name, len(p.Costs))
		}
	}
}

// forecastOnly is quickly without networks.
func forecastOnly() learning.Config {
	cfg := quickly("")
	cfg.Policies = []string{}
	return cfg
}
