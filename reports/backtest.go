package reports

import (
	"fmt"
	"math"
	"strconv"

	"github.com/segue-project/segue/evaluation"
)

// Backtest is the report of one backtest. Only Report is needed; what else
// there is adds sections.
type Backtest struct {
	Title string // default "Backtest"
	// Trace says in a sentence or two which cluster and which history the
	// outcomes come from, and how they were obtained.
	Trace string
	// Command is the command line that made this report.
	Command string
	Report  evaluation.Report
	// Policies says in words what each policy does.
	Policies []PolicyText
	// Curves are single starts, Chains whole chains.
	Curves []OutcomeCurve
	Chains []Timeline
	// Waits compares simulated waits with recorded ones, Quantiles shows how
	// well the forecasts are calibrated.
	Waits     *Distribution
	Quantiles *Calibration
	// Notes are sentences that limit what the numbers say.
	Notes []string
}

// PolicyText puts a policy into words: Label is how it is called in tables and
// figures, What explains it in a sentence.
type PolicyText struct {
	Name, Label, What string
	// Diagnostic policies know what nobody can know; none is called the
	// cheapest.
	Diagnostic bool
}

// HTML returns the report as one file that needs nothing else and runs no
// script.
func (b Backtest) HTML() ([]byte, error) {
	page := page{
		Title:    b.Title,
		Trace:    b.Trace,
		Command:  b.Command,
		Answer:   b.answer(),
		About:    "What was measured",
		Measured: b.measured(),
		Headline: b.headline(),
		Caption:  headlineCaption,
		Policies: b.explained(),
		Notes:    b.Notes,
		Words:    backtestWords,
	}
	if page.Title == "" {
		page.Title = "Backtest"
	}
	page.add(b.frontier(), "frontier", "How much interruption is left at each overlap", frontierCaption)
	page.add(b.scores(), "scores", "How good each policy is, and how sure that is", b.scoresCaption())
	page.add(b.loads(), "load", "Light, medium and heavy queues", loadCaption)
	for i, curve := range b.Curves {
		page.add(curve, "start-"+strconv.Itoa(i+1), curve.Title, curveCaption)
	}
	for i, chain := range b.Chains {
		page.add(chain, "chain-"+strconv.Itoa(i+1), chain.Title, chainCaption)
	}
	if len(b.Report.Stress) > 0 {
		page.add(b.stress(), "stress", "When the cluster is not what the policies were tuned for", b.stressCaption())
	}
	if b.Report.Rolling != nil {
		page.addTable(b.months(gapInMonth), "months-gap", "Month by month: gap closed", monthsCaption)
		page.addTable(b.months(costInMonth), "months-cost", "Month by month: cost in hours per start", monthCostCaption)
	}
	if b.Waits != nil {
		page.add(*b.Waits, "waits", b.Waits.Title, waitsCaption)
	}
	if b.Quantiles != nil {
		page.add(*b.Quantiles, "calibration", b.Quantiles.Title, calibrationCaption)
	}
	return page.render()
}

// label returns what a policy is called on the page.
func (b Backtest) label(name string) string {
	for _, p := range b.Policies {
		if p.Name == name && p.Label != "" {
			return p.Label
		}
	}
	switch name {
	case evaluation.ConstantName:
		return "constant lead"
	case evaluation.OracleName:
		return "oracle"
	}
	return name
}

// rows returns the policies of scores as rows of dots; the same policy has the
// same look everywhere.
func (b Backtest) rows(scores []evaluation.Score) []DotRow {
	rows := make([]DotRow, len(scores))
	policy := 0
	for i, s := range scores {
		rows[i] = DotRow{Name: b.label(s.Name)}
		switch s.Name {
		case evaluation.ConstantName:
			rows[i].Look = ConstantLook
		case evaluation.OracleName:
			rows[i].Look = OracleLook
		default:
			rows[i].Look = Look(policy)
			policy++
		}
	}
	return rows
}

func (b Backtest) frontier() Frontier {
	f := Frontier{Title: "Frontiers of all policies"}
	rows := b.rows(b.Report.Policies)
	for i, s := range b.Report.Policies {
		f.Series = append(f.Series, FrontierSeries{
			Name:   rows[i].Name,
			Look:   rows[i].Look,
			Points: s.Frontier,
			Tuned: &evaluation.Point{
				Overlap:      float64(s.Tuned.Overlap),
				Interruption: float64(s.Tuned.Interruption),
			},
		})
	}
	return f
}

func (b Backtest) scores() Dots {
	scores := b.Report.Policies
	gap := DotPanel{
		Title: "gap closed", Axis: "share of the gap", Percent: true, Least: -1,
		Marks: []Mark{{0, "constant"}, {1, "oracle"}},
	}
	cost := DotPanel{Title: "cost as tuned", Axis: "hours per start"}
	panels := []DotPanel{gap, cost}
	if b.Report.BestPlanner != "" {
		panels = append(panels, DotPanel{
			Title: "against best planner", Axis: "hours per start", Marks: []Mark{{0, "equal"}},
		})
	}
	for _, s := range scores {
		panels[0].Values = append(panels[0].Values, dotOf(s.GapClosed))
		panels[1].Values = append(panels[1].Values, dotOf(s.Cost))
		if len(panels) > 2 {
			panels[2].Values = append(panels[2].Values, dotOf(s.OverPlanner))
		}
	}
	return Dots{Title: "Scores with 95 % intervals", Rows: b.rows(scores), Panels: panels}
}

func dotOf(e evaluation.Estimate) Dot {
	return Dot{Value: float64(e.Mean), Lo: float64(e.Lo), Hi: float64(e.Hi)}
}

// bare is a dot without an interval.
func bare(n evaluation.Number) Dot { return Dot{Value: float64(n), Lo: float64(n), Hi: float64(n)} }

func (b Backtest) loads() Dots {
	scores := b.Report.Policies
	g := Dots{Title: "Cost by load", Rows: b.rows(scores)}
	for _, load := range []struct {
		name string
		of   func(evaluation.ByLoad) evaluation.LoadScore
	}{
		{"light", func(l evaluation.ByLoad) evaluation.LoadScore { return l.Light }},
		{"medium", func(l evaluation.ByLoad) evaluation.LoadScore { return l.Medium }},
		{"heavy", func(l evaluation.ByLoad) evaluation.LoadScore { return l.Heavy }},
	} {
		panel := DotPanel{Title: load.name, Axis: "cost, hours per start"}
		for i, s := range scores {
			part := load.of(s.ByLoad)
			panel.Values = append(panel.Values, bare(part.Cost))
			if i == 0 {
				panel.Title = load.name + " (" + count(part.Starts, "start") + ")"
			}
		}
		g.Panels = append(g.Panels, panel)
	}
	return g
}

// stress compares the costs under each stress with those in the cluster as it
// is.
func (b Backtest) stress() Dots {
	g := Dots{Title: "Cost under stress", SameScale: true, Rows: b.rows(b.Report.Policies)}
	add := func(title string, scores []evaluation.Score) {
		panel := DotPanel{Title: title, Axis: "cost, hours per start"}
		for _, row := range b.Report.Policies {
			panel.Values = append(panel.Values, dotOf(costOf(scores, row.Name)))
		}
		g.Panels = append(g.Panels, panel)
	}
	add("as it is", b.Report.Policies)
	for _, s := range b.Report.Stress {
		add(s.Name, s.Policies)
	}
	return g
}

// costOf returns the cost of the named policy, unknown where it has no score.
func costOf(scores []evaluation.Score, name string) evaluation.Estimate {
	for _, s := range scores {
		if s.Name == name {
			return s.Cost
		}
	}
	nan := evaluation.Number(math.NaN())
	return evaluation.Estimate{Mean: nan, Lo: nan, Hi: nan}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
