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

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/reports"
)

func html(t *testing.T, b reports.Backtest) string {
	t.Helper()
	page, err := b.HTML()
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestReportIsOneSmallFileThatNeedsNothingElse(t *testing.T) {
	t.Parallel()
	page := html(t, backtest(t))
	if len(page) > 500_000 {
		t.Errorf("report has %d bytes, want at most 500,000", len(page))
	}
	for _, never := range []string{"<script", "src=", "@import", "url(", "<link", "<iframe", "NaN", "ZgotmplZ"} {
		if strings.Contains(page, never) {
			t.Errorf("report holds %q", never)
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^"<\s]*`).FindAllString(page, -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("report refers to %s", address)
		}
	}
	if page != html(t, backtest(t)) {
		t.Error("equal values give different bytes")
	}
}

func TestReportHoldsEverySection(t *testing.T) {
	t.Parallel()
	page := html(t, backtest(t))
	var got []string
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		got = append(got, id[1])
	}
	want := []string{
		"measured", "frontier", "scores", "load", "start-1", "chain-1", "stress", "months-gap", "months-cost",
		"waits", "calibration", "policies", "words", "made",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	for _, sentence := range []string{
		"segue backtest --trace made-up.log --nodes 8 --time 48h --html report.html",
		"8 nodes for 48\u00a0h each",
		"scored on 1 Apr 2023 to 1 May 2023: 163 starts",
		"an hour of standing still is worth 4\u00a0h of running twice",
		"Waits are made up, so the numbers say nothing about any cluster.",
		"fewer_nodes: Eight of 76 nodes are gone.",
	} {
		if !strings.Contains(page, sentence) {
			t.Errorf("report lacks %q", sentence)
		}
	}
}

func estimate(mean, lo, hi evaluation.Number) evaluation.Estimate {
	return evaluation.Estimate{Mean: mean, Lo: lo, Hi: hi}
}

// scored is a report with the yardsticks, a planner and trees that cost the
// given difference more.
func scored(difference evaluation.Estimate) reports.Backtest {
	var b reports.Backtest
	b.Report.OverlapPrice = 0.25
	b.Report.Blocks = 22
	b.Report.BestPlanner = "planner"
	b.Report.Policies = []evaluation.Score{
		{Name: "constant", Cost: estimate(3.18, 2.5, 4)},
		{Name: "planner", Cost: estimate(1.5, 1.2, 1.8), GapClosed: estimate(0.6, 0.5, 0.7)},
		{Name: "trees", Cost: estimate(1.5+difference.Mean, 1.1, 1.7), GapClosed: estimate(0.67, 0.51, 0.8), OverPlanner: difference},
		{Name: "oracle", Cost: estimate(0.3, 0.2, 0.4), GapClosed: estimate(1, 1, 1)},
	}
	return b
}

func TestReportAnswersInSentences(t *testing.T) {
	t.Parallel()
	nan := evaluation.Number(math.NaN())
	for name, test := range map[string]struct {
		report reports.Backtest
		want   []string
	}{
		"clear advantage": {scored(estimate(-0.2, -0.3, -0.1)), []string{
			"The cheapest policy of this test period is trees, with 1.30 h per start (95 % interval 1.10 to 1.70). " +
				"A constant lead costs 3.18 h, and the oracle, which knows every outcome, 0.30 h.",
			"At equal overlap it closes 67 % (51 to 80 %) of the gap between the two.",
			"The best planner, chosen on the tuning period, is planner; the difference to it is −0.20 h per start " +
				"(−0.30 to −0.10). The interval does not hold 0, so the advantage is unlikely to be luck, though picking the cheapest " +
				"policy afterwards flatters it.",
		}},
		"perhaps luck": {scored(estimate(-0.2, -0.5, 0.1)), []string{
			"The cheapest policy of this test period is trees, with 1.30 h per start (95 % interval 1.10 to 1.70). " +
				"A constant lead costs 3.18 h, and the oracle, which knows every outcome, 0.30 h.",
			"At equal overlap it closes 67 % (51 to 80 %) of the gap between the two.",
			"The best planner, chosen on the tuning period, is planner; the difference to it is −0.20 h per start " +
				"(−0.50 to 0.10), which may be luck: the interval holds 0.",
		}},
		"the planner wins": {scored(estimate(0.2, -0.5, 0.1)), []string{
			"The cheapest policy of this test period is planner, with 1.50 h per start (95 % interval 1.20 to 1.80). " +
				"A constant lead costs 3.18 h, and the oracle, which knows every outcome, 0.30 h.",
			"At equal overlap it closes 60 % (50 to 70 %) of the gap between the two.",
			"It is also the planner that was cheapest on the tuning period: no other policy costs less.",
		}},
		"nothing scored": {reports.Backtest{}, []string{"There is no policy to compare."}},
		"too short": {
			func() reports.Backtest {
				b := scored(estimate(nan, nan, nan))
				b.Report.Blocks, b.Report.BestPlanner = 1, ""
				b.Report.Policies[1].Cost = estimate(1.5, nan, nan)
				b.Report.Policies[1].GapClosed = estimate(nan, nan, nan)
				return b
			}(),
			[]string{
				"The cheapest policy of this test period is planner, with 1.50 h per start. " +
					"A constant lead costs 3.18 h, and the oracle, which knows every outcome, 0.30 h.",
				"The intervals rest on 1 block of four days only and are themselves uncertain.",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := html(t, test.report)
			_, answer, _ := strings.Cut(page, "What came out")
			answer, _, _ = strings.Cut(answer, "</section>")
			var got []string
			for _, p := range regexp.MustCompile(`<p>(.*?)</p>`).FindAllStringSubmatch(answer, -1) {
				got = append(got, strings.ReplaceAll(p[1], "\u00a0", " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportEscapesWhatComesFromOutside(t *testing.T) {
	t.Parallel()
	const attack = `"><script>alert(1)</script>`
	b := backtest(t)
	b.Title, b.Trace, b.Command = attack, attack, attack
	b.Notes = []string{attack}
	b.Policies = append(b.Policies, reports.PolicyText{Name: "fitted_q", Label: attack, What: attack})
	b.Report.PairTime = attack
	b.Report.Stress[0].Name, b.Report.Stress[0].What = attack, attack
	b.Report.Rolling.Runs[0].Label = attack
	b.Chains[0].Links[0].Name, b.Chains[0].Title = attack, attack
	b.Curves[0].ChosenBy, b.Curves[0].Title = attack, attack
	b.Waits.Series[0].Name = attack
	b.Quantiles.Series[0].Name = attack
	if page := html(t, b); strings.Contains(page, "<script") {
		at := strings.Index(page, "<script")
		t.Errorf("report holds a script: ...%s", page[max(at-100, 0):at+20])
	}
}

func TestReportSurvivesHostileScores(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := hostile{t}
		number := func() evaluation.Number { return evaluation.Number(h.number()) }
		bounds := func() evaluation.Estimate { return estimate(number(), number(), number()) }
		var b reports.Backtest
		b.Report.PairNodes, b.Report.OverlapPrice = h.count(), number()
		b.Report.Periods.Test = evaluation.Period{From: h.time(), To: h.time()}
		for range h.count() {
			b.Report.Policies = append(b.Report.Policies, evaluation.Score{
				Name: h.text(), GapClosed: bounds(), Cost: bounds(), OverPlanner: bounds(),
				Tuned:    evaluation.Setting{Overlap: number(), Interruption: number()},
				Worst:    evaluation.Worst{Interruption: number(), Overlap: number()},
				Frontier: []evaluation.Point{{Overlap: h.number(), Interruption: h.number()}},
			})
		}
		b.Report.BestPlanner = h.text()
		b.Report.Stress = []evaluation.Stress{{Name: h.text(), What: h.text(), Result: b.Report.Result}}
		b.Report.Rolling = &evaluation.Rolling{Runs: []evaluation.Labelled{{Label: h.text()}}, Pooled: b.Report.Result}
		page, err := b.HTML()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(page, []byte("<script")) || bytes.Contains(page, []byte("<img")) {
			t.Fatal("report holds markup from outside")
		}
	})
}

func TestSimulationIsAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	file := reports.Simulation{
		Title:   "Two < three nodes & more",
		Facts:   []string{"24,777 jobs", "segue simulate --svg cluster.svg"},
		Cluster: cluster(),
	}.SVG()
	if len(file) > 200_000 {
		t.Errorf("picture of 12,960 samples has %d bytes, want them thinned", len(file))
	}
	var texts []string
	for _, p := range parse(t, file) {
		texts = append(texts, p.text)
	}
	for i, want := range []string{"Two < three nodes & more", "24,777 jobs", "segue simulate --svg cluster.svg"} {
		if texts[i] != want {
			t.Errorf("line %d is %q, want %q", i, texts[i], want)
		}
	}
	decoder := xml.NewDecoder(bytes.NewReader(file))
	styles := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "style" {
			styles++
		}
	}
	if styles != 1 {
		t.Errorf("picture has %d style sheets, want 1", styles)
	}
}

func TestHandoversOfAChain(t *testing.T) {
	t.Parallel()
	start := day(2023, 3, 1)
	hour := func(h int64) segue.Time { return start + segue.Seconds(h*3600) }
	chain := reports.Timeline{
		Until: hour(100),
		Links: []reports.Link{
			{Name: "third", Start: hour(40), End: hour(50)},                             // runs alone after a gap of 4 h
			{Name: "first", Start: hour(0), End: hour(20)},                              //
			{Name: "second", Start: hour(15), End: hour(36)},                            // 5 h before the first ends
			{Name: "inside", Start: hour(41), End: hour(43)},                            // within the third
			{Name: "exact", Start: hour(50), End: segue.NoTime},                         // still runs
			{Name: "queued", Submit: hour(90), Start: segue.NoTime, End: segue.NoTime},  // takes no part
			{Name: "cancelled", Submit: hour(1), Start: segue.NoTime, End: segue.Never}, // nor does it
		},
	}
	want := []reports.Handover{
		{From: hour(15), To: hour(20), Hours: -5},
		{From: hour(36), To: hour(40), Hours: 4},
		{From: hour(41), To: hour(43), Hours: -2},
		{From: hour(50), To: hour(50), Hours: 0},
	}
	if diff := cmp.Diff(want, chain.Handovers()); diff != "" {
		t.Errorf("handovers (-want +got):\n%s", diff)
	}
	wantRows := [][]string{
		{"first", "1 Jan 1970 00:00", "1 Mar 2023 00:00", "1 Mar 2023 20:00", "–"},
		{"second", "1 Jan 1970 00:00", "1 Mar 2023 15:00", "2 Mar 2023 12:00", "5 h overlap"},
		{"third", "1 Jan 1970 00:00", "2 Mar 2023 16:00", "3 Mar 2023 02:00", "4 h interruption"},
	}
	if diff := cmp.Diff(wantRows, chain.Table().Rows[:3]); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
