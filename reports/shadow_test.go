package reports_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/reports"
)

// shadowed is a report of shadow mode with every section.
func shadowed(t *testing.T) reports.Shadow {
	t.Helper()
	ways := evaluation.Ways{Names: []string{"recorded", "user", "segue", "shifted", "oracle"}, X: make([][]float64, 5)}
	for i := range 40 {
		ways.At = append(ways.At, day(2023, 2, 1).Add(time.Duration(i)*17*time.Hour))
		ways.Users = append(ways.Users, []string{"ada", "<b>ben</b>"}[i%2])
		ways.Reactive = append(ways.Reactive, float64(i%20))
		for k, x := range []float64{12, 10, 1, 2, 0} {
			ways.X[k] = append(ways.X[k], x+float64(i%3))
		}
	}
	compared, err := evaluation.CompareWays(ways, "user", evaluation.Config{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	table := reports.Table{Columns: []string{"what", "hours"}, Rows: [][]string{{"something", "1.00"}}}
	return reports.Shadow{
		Trace: "100 jobs.", Command: "segue shadow --trace jobs.log", Compared: compared, Own: "segue", Shifted: "shifted", Recorded: "recorded",
		Ways:  []reports.PolicyText{{Name: "segue", Label: "Segue", What: "By advice."}},
		Leads: []evaluation.Point{{Overlap: 0, Interruption: 12}, {Overlap: 4, Interruption: 2}},
		Found: [][2]string{{"jobs", "40"}}, Hows: table, Totals: table, Forecasts: table, World: table, List: table,
		Examples: []reports.Timeline{chain()}, Notes: []string{"Made up."},
	}
}

func shadowPage(t *testing.T, s reports.Shadow) string {
	t.Helper()
	page, err := s.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestShadowReportHoldsEverySection(t *testing.T) {
	t.Parallel()
	page := shadowPage(t, shadowed(t))
	var got []string
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		got = append(got, id[1])
	}
	want := []string{
		"measured", "means", "changes", "frontier", "load", "users", "found", "hows", "totals", "forecasts", "world", "example-1", "list", "policies", "words", "made",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"40 jobs were continued by hand. Users&#39; work stood still for 11.0\u00a0h at each and ran twice for 0.00\u00a0h; by Segue&#39;s advice it would have been 1.98\u00a0h",
		"recorded of users are 13.0\u00a0h", "Segue is cheaper, and that is unlikely to be luck.", "Segue was cheaper at 100\u00a0% of them",
		"leave 12.0\u00a0h of interruption; Segue leaves 1.98\u00a0h", "Segue&#39;s cost is 2.98\u00a0h and not 1.98\u00a0h.", "&lt;b&gt;ben&lt;/b&gt;", "<h1>Segue beside what users did</h1>", "Made up.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if strings.Contains(page, "<b>ben") {
		t.Error("a user's name is not escaped")
	}
	if page != shadowPage(t, shadowed(t)) {
		t.Error("equal values give different bytes")
	}
}

// A report says when Segue is dearer, and when it cannot tell.
func TestShadowReportHidesNothing(t *testing.T) {
	t.Parallel()
	s := shadowed(t)
	for k, tt := range []struct {
		change evaluation.Estimate
		want   string
	}{
		{evaluation.Estimate{Mean: 2, Lo: 1, Hi: 3}, "Segue is dearer, and that is unlikely to be luck."},
		{evaluation.Estimate{Mean: -1, Lo: -3, Hi: 1}, "which may be luck."},
	} {
		s.Compared.Ways[2].Change = tt.change
		if page := shadowPage(t, s); !strings.Contains(page, tt.want) {
			t.Errorf("report %d lacks %q", k, tt.want)
		}
	}
}

func TestShadowReportOfNothing(t *testing.T) {
	t.Parallel()
	page := shadowPage(t, reports.Shadow{Examples: []reports.Timeline{{Links: []reports.Link{{Start: segue.NoTime}}}}})
	if want := "No job of the period was continued by hand, so there is nothing to compare."; !strings.Contains(page, want) {
		t.Errorf("report lacks %q", want)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, `id="means"`) {
		t.Error("a report of nothing has numbers")
	}
}
