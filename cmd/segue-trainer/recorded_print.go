//go:build native

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/trainer"
)

// recordedTables prints a judgement of forecasts of recorded waits for people to
// read.
type recordedTables struct {
	w        io.Writer
	markdown bool
}

func (r recordedTables) print(report trainer.RecordedReport) error {
	fmt.Fprintf(r.w, "Forecasts of recorded waits, made at the submission of each job, from %s up to %s; hours.\n",
		report.From.Std().Format(time.DateOnly), report.Until.Std().Format(time.DateOnly))
	for _, set := range report.Sets {
		fmt.Fprintf(r.w, "\n%s: %d jobs. Difference of the pinball loss to the best baseline, %s, with 95 %% by 4-day blocks (%d of them).\n\n",
			title(set.Name), set.Jobs, set.Best, set.Scores[0].Against.Blocks)
		r.scores(set)
		fmt.Fprintf(r.w, "\n%s: coverage of the 0.9 quantile (and pinball loss) by month and by load at the submission.\n\n", title(set.Name))
		r.coverage(set)
	}
	_, err := fmt.Fprintln(r.w, "\nPinball: mean over the levels 0.1 to 0.9. MAE: of the median. r: of the mean. Load: by the mean of the last 100 waits\n"+
		"at the submission, up to 2 h, up to 12 h, above. Waits of up to a minute count as none.")
	return err
}

// title returns "Not held back" for "not-held-back".
func title(name string) string {
	name = strings.ReplaceAll(name, "-", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}

func (r recordedTables) scores(set trainer.ScoredSet) {
	t := r.table("forecast", "MAE", "pinball", "CRPS", "r", "up to 0.5", "up to 0.9", "difference", "95 %")
	for _, s := range set.Scores {
		a := s.Against
		t.AppendRow(table.Row{
			s.Title(), hoursOf(s.MAE), fmt.Sprintf("%.3f", float64(s.Pinball)), fmt.Sprintf("%.3f", float64(s.CRPS)), hoursOf(s.R),
			hoursOf(s.Cover50), fmt.Sprintf("%.3f", float64(s.Cover90)),
			fmt.Sprintf("%+.1f %%", 100*float64(a.Difference)), fmt.Sprintf("%+.1f to %+.1f %%", 100*float64(a.Lo), 100*float64(a.Hi)),
		})
	}
	r.render(t)
}

func (r recordedTables) coverage(set trainer.ScoredSet) {
	header := []any{"forecast"}
	for _, groups := range [][]trainer.CoverageOf{set.Scores[0].Months, set.Scores[0].Loads} {
		for _, g := range groups {
			header = append(header, fmt.Sprintf("%s: %d", g.Group, g.Jobs))
		}
	}
	t := r.table(header...)
	for _, s := range set.Scores {
		row := table.Row{s.Title()}
		for _, groups := range [][]trainer.CoverageOf{s.Months, s.Loads} {
			for _, g := range groups {
				row = append(row, fmt.Sprintf("%.3f (%.2f)", float64(g.Cover90), float64(g.Pinball)))
			}
		}
		t.AppendRow(row)
	}
	r.render(t)
}

// hoursOf returns two digits, a dash for what is no number.
func hoursOf(n evaluation.Number) string {
	if !n.Known() {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(n))
}

func (r recordedTables) table(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row(header))
	return t
}

func (r recordedTables) render(t table.Writer) {
	if r.markdown {
		fmt.Fprintln(r.w, t.RenderMarkdown())
		return
	}
	fmt.Fprintln(r.w, t.Render())
}
