package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/traces"
)

func newTraceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Look at, convert and make job histories",
		Long: `Trace reads job histories: the Standard Workload Format, the Lonestar6 log,
sacct -P and Parquet, gzip or not, recognised by their content. A record that
cannot be used is counted and shown, never lost silently; what becomes of every
odd record is in docs/job-history.md, with the sacct command that exports a
history.`,
	}
	cmd.AddCommand(
		newTraceConvertCommand(),
		newTraceGenerateCommand(),
		newTraceInferCommand(),
		newTraceStatsCommand(),
	)
	return cmd
}

// followReading returns a function that keeps a progress line, and ends the
// reading when ctx ends.
func followReading(ctx context.Context, w io.Writer) (follow func(done, total int64) error, end func()) {
	var line *cli.Progress
	last := int64(0)
	follow = func(done, total int64) error {
		if line == nil {
			line = cli.NewProgress(w, "bytes or rows read", total)
		}
		if done < last { // a second pass
			last = 0
		}
		line.Add(done - last)
		last = done
		return ctx.Err()
	}
	return follow, func() {
		if line != nil {
			line.Done()
		}
	}
}

// newTraceTable prints the title and returns the table to be printed under it.
func newTraceTable(w io.Writer, title string) table.Writer {
	fmt.Fprintln(w, title)
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

// rightFrom aligns columns first to last, counted from 1, to the right.
func rightFrom(t table.Writer, first, last int) {
	var columns []table.ColumnConfig
	for i := first; i <= last; i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
}

// printFindings prints what was odd about a history, if anything was.
func printFindings(w io.Writer, r *traces.Report) {
	findings := r.Findings()
	if len(findings) == 0 {
		fmt.Fprintln(w, "\nNothing odd was found.")
		return
	}
	fmt.Fprintln(w)
	t := newTraceTable(w, "Findings (docs/job-history.md says what became of each)")
	t.AppendHeader(table.Row{"records", "", "finding", "first met at"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 1, Align: text.AlignRight}, {Number: 4, WidthMax: 72, WidthMaxEnforcer: text.Trim},
	})
	for _, f := range findings {
		t.AppendRow(table.Row{thousands(f.Count), f.Reason.Class().String(), f.Reason.String(), f.Examples[0].String()})
	}
	t.Render()
}

// thousands returns n with commas: "28,481".
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// inWords returns a duration in the unit that suits it.
func inWords(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.1f min", d.Minutes())
	case d < 72*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}
