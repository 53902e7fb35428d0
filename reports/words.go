package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue/evaluation"
)

// Captions say how to read a figure.
const (
	headlineCaption = "Interruption, overlap and the share of starts without a gap are means of the policy as tuned. " +
		"The worst start is the one that cost most."
	frontierCaption = "Each line is one policy. Further right, the successor is submitted earlier, so more hours are spent with both " +
		"jobs running; the height is how long the work then still stands still. Lower is better, and the useful comparison is " +
		"straight up and down: equal overlap, less interruption. The dashed line is what a constant lead achieves without " +
		"knowing anything, the line named oracle what nobody can beat. A marker is the policy as it was tuned beforehand; " +
		"it may lie above its own line."
	scoresCaption = "Gap closed: how far the policy goes from a constant lead (0 %) to the oracle (100 %), averaged over overlaps of 1, 2 and 4 h. " +
		"Cost as tuned: what it costs with the parameter that was chosen before. Whiskers are 95 % intervals from resampling blocks of " +
		"four days; an arrow means that the interval goes on, or that its end is not known."
	plannerCaption = " Against best planner: the difference to the best policy that learns nothing. Two policies with overlapping intervals may " +
		"still differ clearly, because they met the same days; where the interval of the difference spares 0, it is unlikely to be luck."
	loadCaption = "A start is light, medium or heavy when submitting only at the predecessor's end would have meant a wait of up to 2 h, " +
		"of 2 to 12 h, or of more. Mind that each panel has its own scale."
	curveCaption = "One start in full. The curve says what would have come of each lead: above the line an interruption, below it an " +
		"overlap. Where it jumps, a slightly earlier submission would have started hours earlier."
	chainCaption = "Drawn to scale. The bar at the top is the work as its user sees it: running, standing still, or running twice. " +
		"Below is each link, hatched while it waited and solid while it ran."
	monthsCaption = "Each month is scored once, by policies that were trained on the time before and tuned on the month before. " +
		"The last column scores the starts of all months together."
	monthCostCaption = "The same starts, each at the parameter that was tuned for its month."
	waitsCaption     = "For each wait, the share of jobs that waited no longer. The closer the lines, the more the simulated cluster is like " +
		"the real one. Waits under a minute lie on the left edge."
	calibrationCaption = "When a forecast says that the wait will stay below some value with 90 % probability, this should be so in 90 % of the " +
		"cases. Below the diagonal, waits were longer than forecast."
)

func (b Backtest) scoresCaption() string {
	if b.Report.BestPlanner == "" {
		return scoresCaption
	}
	return scoresCaption + plannerCaption
}

func (b Backtest) stressCaption() string {
	sentences := []string{"The policies keep the parameter that they were tuned to; only the cluster of the test period changes."}
	for _, s := range b.Report.Stress {
		sentences = append(sentences, s.Name+": "+s.What)
	}
	return strings.Join(sentences, " ")
}

// measured says what was measured, in sentences.
func (b Backtest) measured() []string {
	r := b.Report
	var text []string
	if r.PairNodes > 0 {
		text = append(text, fmt.Sprintf("A long job is continued by a second one of the same shape: %s for %s each. "+
			"For each start, every policy says when to submit the second job, and the outcome is looked up: an interruption, "+
			"when the second job begins after the first has ended, or an overlap, when it begins before.",
			count(r.PairNodes, "node"), limit(r.PairTime)))
	}
	if test := r.Periods.Test; known(test.From) && known(test.To) && test.To > test.From {
		p := r.Periods
		text = append(text, fmt.Sprintf("Policies were trained on %s, their parameter was chosen on %s, and they were scored on "+
			"%s: %s. Starts less than %s before the end of a period are left out, so that no outcome reaches into the next one.",
			span(p.Train), span(p.Tune), span(p.Test), count(r.Starts, "start"), hours(p.Embargo.Hours())))
	}
	return append(text, fmt.Sprintf("The cost of a start is its interruption plus %s times its overlap, in hours: "+
		"an hour of standing still is worth %s of running twice.",
		decimal(float64(r.OverlapPrice)), hours(1/float64(r.OverlapPrice))))
}

// limit writes a time limit such as "48h0m0s" as "48 h", and what it cannot
// read as it is.
func limit(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	return hours(d.Hours())
}

func span(p evaluation.Period) string {
	return p.From.Std().Format("2 Jan 2006") + " to " + p.To.Std().Format("2 Jan 2006")
}

// answer says what came out, in sentences.
func (b Backtest) answer() []string {
	scores := b.Report.Policies
	best, ok := b.cheapest()
	if !ok {
		return []string{"There is no policy to compare."}
	}
	name := b.label(best.Name)
	text := []string{
		fmt.Sprintf("The cheapest policy of this test period is %s, with %s h per start%s. "+
			"A constant lead costs %s h, and the oracle, which knows every outcome, %s h.",
			name, decimal(float64(best.Cost.Mean)), interval("95 % interval ", best.Cost, decimal),
			decimal(float64(costOf(scores, evaluation.ConstantName).Mean)),
			decimal(float64(costOf(scores, evaluation.OracleName).Mean))),
	}
	if best.GapClosed.Mean.Known() {
		text = append(text, fmt.Sprintf("At equal overlap it closes %s of the gap between the two.",
			withInterval(best.GapClosed, percent)))
	}
	if planner := b.Report.BestPlanner; planner != "" {
		text = append(text, b.againstPlanner(best, planner))
	}
	if blocks := b.Report.Blocks; blocks < 10 {
		text = append(text, fmt.Sprintf("The intervals rest on %s of four days only and are themselves uncertain.",
			count(blocks, "block")))
	}
	return text
}

func (b Backtest) againstPlanner(best evaluation.Score, planner string) string {
	if best.Name == planner {
		return "It is also the planner that was cheapest on the tuning period: no other policy costs less."
	}
	d := best.OverPlanner
	text := fmt.Sprintf("The best planner, chosen on the tuning period, is %s; the difference to it is %s h per start%s",
		b.label(planner), decimal(float64(d.Mean)), interval("", d, decimal))
	switch {
	case d.Hi < 0:
		return text + ". The interval does not hold 0, so the advantage is unlikely to be luck, " +
			"though picking the cheapest policy afterwards flatters it."
	case d.Lo.Known() && d.Hi.Known():
		return text + ", which may be luck: the interval holds 0."
	}
	return text + "."
}

// cheapest returns the policy of least cost that is neither a yardstick nor a
// diagnostic.
func (b Backtest) cheapest() (best evaluation.Score, ok bool) {
	for _, s := range b.Report.Policies {
		if s.Name == evaluation.ConstantName || s.Name == evaluation.OracleName || !s.Cost.Mean.Known() {
			continue
		}
		if slices.ContainsFunc(b.Policies, func(p PolicyText) bool { return p.Name == s.Name && p.Diagnostic }) {
			continue
		}
		if !ok || s.Cost.Mean < best.Cost.Mean {
			best, ok = s, true
		}
	}
	return best, ok
}

// interval writes the bounds of e behind some words: " (95 % interval 1.10 to
// 1.61)", " (51 to 80 %)"; nothing when they are not known, or no bounds at all.
func interval(words string, e evaluation.Estimate, write func(float64) string) string {
	if (!e.Lo.Known() && !e.Hi.Known()) || (e.Lo == e.Mean && e.Hi == e.Mean) {
		return ""
	}
	return " (" + words + strings.TrimSuffix(write(float64(e.Lo)), " %") + " to " + write(float64(e.Hi)) + ")"
}

// withInterval writes "1.33 (1.10 to 1.61)".
func withInterval(e evaluation.Estimate, write func(float64) string) string {
	return write(float64(e.Mean)) + interval("", e, write)
}

// headline is the table of all policies.
func (b Backtest) headline() Table {
	t := Table{Columns: []string{
		"policy", "gap closed (95 % interval)", "cost, h (95 % interval)",
		"interruption, h", "overlap, h", "no gap", "worst start",
	}}
	for _, s := range b.Report.Policies {
		t.Rows = append(t.Rows, []string{
			b.label(s.Name),
			withInterval(s.GapClosed, percent), withInterval(s.Cost, decimal),
			decimal(float64(s.Tuned.Interruption)), decimal(float64(s.Tuned.Overlap)),
			percent(float64(s.Tuned.ZeroInterruption)), worstOf(s.Worst),
		})
	}
	return t
}

// months is the table of a rolling origin, one number of each policy per
// month.
func (b Backtest) months(number func(evaluation.Score) string) Table {
	rolling := b.Report.Rolling
	t := Table{Columns: []string{"test month (starts)"}}
	columns := append(slices.Clone(rolling.Runs), evaluation.Labelled{Label: "all", Result: rolling.Pooled})
	for _, run := range columns {
		t.Columns = append(t.Columns, run.Label+" ("+strconv.Itoa(run.Starts)+")")
	}
	for _, s := range rolling.Pooled.Policies {
		row := []string{b.label(s.Name)}
		for _, run := range columns {
			cell := unknown
			for _, score := range run.Policies {
				if score.Name == s.Name {
					cell = number(score)
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func gapInMonth(s evaluation.Score) string { return percent(float64(s.GapClosed.Mean)) }

func costInMonth(s evaluation.Score) string { return decimal(float64(s.Cost.Mean)) }

// explained returns the policies that have an explanation, by label.
func (b Backtest) explained() []PolicyText {
	var texts []PolicyText
	for _, p := range b.Policies {
		if p.What != "" {
			texts = append(texts, PolicyText{Name: p.Name, Label: b.label(p.Name), What: p.What})
		}
	}
	return texts
}

// worstOf says what the worst of many came to.
func worstOf(w evaluation.Worst) string {
	switch {
	case w.Interruption > 0:
		return hours(float64(w.Interruption)) + " gap"
	case w.Overlap.Known():
		return hours(float64(w.Overlap)) + " overlap"
	}
	return unknown
}
