package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/segue-project/segue/evaluation"
)

// backtestTables prints the results of a backtest for people to read.
type backtestTables struct {
	w        io.Writer
	markdown bool
}

func (b backtestTables) print(r evaluation.Report) error {
	fmt.Fprintf(b.w, "Pairs of %d-node jobs of %s; %d starts from %s to %s, tuned on the time before.\n\n", r.PairNodes, r.PairTime,
		r.Starts, r.Periods.Test.From.Std().Format(time.DateOnly), r.Periods.Test.To.Std().Format(time.DateOnly))
	b.policies(r.Result)
	fmt.Fprintf(b.w, "\nCost = interruption + %.2g x overlap, in hours per start, at the parameter that was best on the tuning period.\n"+
		"Intervals: 95 %%, bootstrap by blocks of four days, of which there are %d.\n", float64(r.OverlapPrice), r.Blocks)
	if r.BestPlanner != "" {
		fmt.Fprintf(b.w, "Best planner by its tuning period: %s.\n", r.BestPlanner)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b.w, "Note: %s\n", note)
	}
	b.coverage("", r.Result)
	b.loads(r.Result)
	b.months("Month by month, each tuned on the month before it", r.Rolling)
	for _, s := range r.Stress {
		b.months("Month by month, "+s.What, s.Rolling)
	}
	if len(r.Stress) > 0 {
		columns := []column{{"as it is", r.Result}}
		fmt.Fprintf(b.w, "\nWhen the cluster is not what the policies were tuned for:\n")
		for _, s := range r.Stress {
			fmt.Fprintf(b.w, "- %s: %s\n", s.Name, s.What)
			columns = append(columns, column{s.Name, s.Result})
		}
		b.compare("Under stress", columns)
	}
	return nil
}

func (b backtestTables) policies(r evaluation.Result) {
	t := b.table("policy", "gap closed", "95 %", "cost, hours", "95 %", "interruption", "overlap", "no gap", "worst", "parameter")
	for _, p := range r.Policies {
		t.AppendRow(table.Row{
			p.Name, percent(p.GapClosed.Mean), between(p.GapClosed, percent),
			number(p.Cost.Mean), between(p.Cost, number),
			number(p.Tuned.Interruption), number(p.Tuned.Overlap), percent(p.Tuned.ZeroInterruption),
			number(p.Worst.Cost), number(p.Tuned.Parameter),
		})
	}
	b.render(t)
}

func (b backtestTables) loads(r evaluation.Result) {
	if len(r.Policies) == 0 {
		return
	}
	n := r.Policies[0].ByLoad
	fmt.Fprintf(b.w, "\nCost by load of the start (reactive wait to 2 h, to 12 h, above), and interruption at a given mean overlap:\n\n")
	header := []any{
		"policy", fmt.Sprintf("light (%d)", n.Light.Starts), fmt.Sprintf("medium (%d)", n.Medium.Starts), fmt.Sprintf("heavy (%d)", n.Heavy.Starts),
	}
	for _, o := range evaluation.Overlaps {
		header = append(header, fmt.Sprintf("at %g h", o))
	}
	t := b.table(header...)
	for _, p := range r.Policies {
		row := table.Row{p.Name, number(p.ByLoad.Light.Cost), number(p.ByLoad.Medium.Cost), number(p.ByLoad.Heavy.Cost)}
		for _, i := range p.Interruption {
			row = append(row, number(i))
		}
		t.AppendRow(row)
	}
	b.render(t)
}

// months prints a rolling origin, where there is one.
func (b backtestTables) months(title string, r *evaluation.Rolling) {
	if r == nil {
		return
	}
	var runs []column
	for _, m := range r.Runs {
		runs = append(runs, column{m.Label, m.Result})
	}
	b.compare(title, append(runs, column{"all", r.Pooled}))
	for _, m := range r.Runs {
		b.coverage(m.Label+": ", m.Result)
	}
}

// coverage prints how the forecasts of models turned out.
func (b backtestTables) coverage(prefix string, r evaluation.Result) {
	for _, c := range r.Coverage {
		fmt.Fprintf(b.w, "%sof %d waits %s lay within the 0.9 quantile of the model's forecast (light %s of %d, medium %s of %d, heavy %s of %d), "+
			"%s within its median. %s\n", prefix, c.Forecasts, percent(c.At90), percent(c.Light.At90), c.Light.Forecasts,
			percent(c.Medium.At90), c.Medium.Forecasts, percent(c.Heavy.At90), c.Heavy.Forecasts, percent(c.At50), c.Model)
	}
}

// column is one set of scores to compare.
type column struct {
	name   string
	result evaluation.Result
}

// compare prints, per policy, gap closed and cost in every column.
func (b backtestTables) compare(title string, columns []column) {
	fmt.Fprintf(b.w, "\n%s: gap closed / cost in hours.\n\n", title)
	header := []any{"policy"}
	for _, c := range columns {
		header = append(header, c.name)
	}
	t := b.table(header...)
	for i, p := range columns[0].result.Policies {
		row := table.Row{p.Name}
		for _, c := range columns {
			s := c.result.Policies[i]
			row = append(row, percent(s.GapClosed.Mean)+" / "+number(s.Cost.Mean))
		}
		t.AppendRow(row)
	}
	b.render(t)
}

func (b backtestTables) table(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	return t
}

func (b backtestTables) render(t table.Writer) {
	if b.markdown {
		fmt.Fprintln(b.w, t.RenderMarkdown())
		return
	}
	fmt.Fprintln(b.w, t.Render())
}

// between returns the interval of an estimate, which one block does not give.
func between(e evaluation.Estimate, format func(evaluation.Number) string) string {
	if !e.Lo.Known() || !e.Hi.Known() {
		return "–"
	}
	return format(e.Lo) + " to " + format(e.Hi)
}

func percent(n evaluation.Number) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n))
}

func number(n evaluation.Number) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(n))
}
