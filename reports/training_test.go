package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue/reports"
)

// training is a report with every section.
func training() reports.Training {
	frontier, costs := smallFrontier(), smallDots()
	costs.Panels = costs.Panels[1:]
	costs.Panels[0].Title = "8 nodes x 48h0m0s"
	trees := course()
	return reports.Training{
		Title: "Training of 2023-02", Trace: "100 jobs of jobs.log.", Command: "segue-trainer train --trace jobs.log --out 2023-02",
		Facts:    [][2]string{{"training window", "2022-11-01 until 2023-01-01"}, {"seed", "1"}},
		Settings: [][2]string{{"every", "4h0m0s"}},
		Trees:    &trees,
		Policies: []reports.TrainedPolicy{
			{Name: "moe-dqn", What: "A mixture.", Rule: 0.2, Best: 0.15, BestStep: 500, Steps: 1000, Most: 4000, Course: course()},
			{Name: "dqn", Rule: 0.2, Best: 0.2, Steps: 3000, Most: 4000, Course: course()},
		},
		ByFold: quantiles(), ByLoad: quantiles(), Coverage: &costs, Frontier: &frontier, Costs: &costs,
		Parent:  "2023-01",
		Changes: []reports.Change{{Section: "training", Name: "until", Before: "2022-12-01", After: "2023-01-01"}},
		Metrics: []reports.Change{{Name: "episodes", Before: "100", After: "120"}, {Name: "new", After: "1"}},
		Effort:  []reports.Step{{Name: "samples", Seconds: 90}, {Name: "dqn", Seconds: 10}}, MemoryMiB: 812,
		Notes: []string{"Made up."},
	}
}

func pageOf(t *testing.T, r reports.Training) string {
	t.Helper()
	page, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestTrainingReportHoldsEverySection(t *testing.T) {
	t.Parallel()
	page := pageOf(t, training())
	var got []string
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		got = append(got, id[1])
	}
	want := []string{
		"measured", "made-from", "settings", "trees", "policy-1", "policy-2", "calibration-fold", "calibration-load", "coverage", "frontier", "costs",
		"changes", "metrics", "effort", "words", "made",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		"moe-dqn costs 25\u00a0% less on the validation than the rule from which it began, after step 500 of 1000.",
		"dqn kept the rule from which it began: of 3000 steps none cost less on the validation.",
		"planner costs least for 8 nodes x 48h0m0s: 1.33 (1.10 to 1.61) h a start.",
		"What changed since 2023-01", "The process had at most 812 MiB of memory in use at once.",
		`<th scope="row">samples</th><td>90</td><td>90 %</td>`, `<th scope="row">new</th><td>–</td><td>1</td>`,
		"segue-trainer train --trace jobs.log --out 2023-02",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("report lacks %q", want)
		}
	}
	if page != pageOf(t, training()) {
		t.Error("equal values give different bytes")
	}
	wellFormed(t, page)
	for _, never := range []string{"<script", "src=", "@import", "url(", "<link", "<iframe", "NaN", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("report holds %q", never)
		}
	}
}

// metas are the elements of a page that end without saying so.
var metas = regexp.MustCompile(`<meta [^>]*>`)

// wellFormed wants every element of a page ended.
func wellFormed(t interface{ Fatalf(string, ...any) }, page string) {
	decoder := xml.NewDecoder(strings.NewReader(metas.ReplaceAllString(page, "")))
	decoder.Entity = xml.HTMLEntity
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
	}
}

func TestTrainingReportWithoutAnythingSaysSo(t *testing.T) {
	t.Parallel()
	page := pageOf(t, reports.Training{})
	if !strings.Contains(page, "The model has a forecast and no network.") || strings.Contains(page, `id="changes"`) {
		t.Error("an empty report does not say that there is no network, or speaks of changes")
	}
}

func TestTrainingReportEscapesWhatComesFromOutside(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := hostile{t}
		figure := h.text()
		lines := reports.Lines{Title: figure, X: h.text(), Panels: []reports.LinePanel{{
			Axis: h.text(), Series: []reports.LineSeries{{Name: h.text(), X: h.numbers(), Y: h.numbers()}},
		}}}
		dots := reports.Dots{Title: h.text(), Rows: []reports.DotRow{{Name: h.text()}}, Panels: []reports.DotPanel{{
			Title: h.text(), Values: []reports.Dot{{Value: h.number(), Lo: h.number(), Hi: h.number()}},
		}}}
		r := reports.Training{
			Title: h.text(), Trace: h.text(), Command: h.text(), Facts: [][2]string{{h.text(), h.text()}}, Settings: [][2]string{{h.text(), h.text()}}, Trees: &lines,
			Policies: []reports.TrainedPolicy{{Name: h.text(), What: h.text(), Rule: h.number(), Best: h.number(), BestStep: h.count(), Course: lines}},
			Coverage: &dots, Costs: &dots, Parent: h.text(), Changes: []reports.Change{{h.text(), h.text(), h.text(), h.text()}},
			Metrics: []reports.Change{{Name: h.text(), Before: h.text()}}, Effort: []reports.Step{{Name: h.text(), Seconds: h.number()}},
			MemoryMiB: h.number(), Notes: []string{h.text()},
		}
		page, err := r.HTML()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(page, []byte("<script")) || bytes.Contains(page, []byte("<img")) {
			t.Fatal("report holds markup from outside")
		}
	})
	hostile := training()
	hostile.Policies[0].Rule = math.NaN()
	hostile.Parent, hostile.Facts[0][1] = `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`
	page := pageOf(t, hostile)
	wellFormed(t, page)
	if !strings.Contains(page, "What changed since &lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the name of the parent is not shown as it is")
	}
}
