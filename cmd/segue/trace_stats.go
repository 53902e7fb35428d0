package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/traces"
)

// traceStatsFlags are the flags of segue trace stats.
type traceStatsFlags struct {
	history cli.History
	json    bool
}

func newTraceStatsCommand() *cobra.Command {
	var f traceStatsFlags
	cmd := &cobra.Command{
		Use:   "stats FILE",
		Short: "Describe a job history: jobs, waits, shapes, busy nodes and what is odd",
		Long: `Stats reads a job history to its end and describes it: how many jobs of whom,
how long they waited and ran, how many nodes were busy, and on how many nodes a
replay should run. FILE "-" is standard input.

If the file is damaged, what was read before the damage is described and the
command fails.`,
		Example: `  segue trace stats jobs.log
  TZ=UTC sacct ... | segue trace stats - --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.history.Path = args[0]
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	f.history.AddReading(flags)
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *traceStatsFlags) run(cmd *cobra.Command) error {
	r, err := f.history.Open(cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.Close()
	follow, end := followReading(cmd.Context(), cmd.ErrOrStderr())
	stats, damage := collect(r, follow)
	end()
	if err := r.Usable(); damage == nil && err != nil {
		return err
	}
	if damage != nil && (stats.Jobs == 0 || segue.KindOf(damage) != segue.Corrupt) {
		return damage
	}
	report := statsReport{file: f.history.Path, reader: r, damage: damage, Statistics: stats}
	if f.json {
		if err := report.printJSON(cmd.OutOrStdout()); err != nil {
			return err
		}
		return damage
	}
	report.print(cmd.OutOrStdout())
	return damage
}

// collect reads the history to its end, or to the error that ends it.
func collect(r *traces.Reader, follow func(done, total int64) error) (*traces.Statistics, error) {
	c := traces.Collector{MaxNodes: r.Header().MaxNodes}
	for n := 0; ; n++ {
		j, err := r.Read()
		if errors.Is(err, io.EOF) {
			return c.Statistics(), nil
		}
		if err == nil && n%4096 == 0 {
			err = follow(r.Progress())
		}
		if err != nil {
			return c.Statistics(), err
		}
		c.Add(&j)
	}
}

// statsReport prints the statistics of a history.
type statsReport struct {
	file   string
	reader *traces.Reader
	damage error
	*traces.Statistics
}

func (r statsReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s jobs from %s lines\n", r.file, formatInWords[r.reader.Format()], thousands(r.Jobs),
		thousands(r.reader.Report().Lines))
	if lost := r.reader.Report().Rejected(); lost > 0 {
		fmt.Fprintf(w, "%s records (%s) cannot be used: the findings below say why.\n", thousands(lost),
			shareOf(float64(lost), float64(lost+r.Jobs)))
	}
	if r.Jobs > 0 {
		fmt.Fprintln(w)
		r.printJobs(w)
		fmt.Fprintln(w)
		r.printTimes(w)
		fmt.Fprintln(w)
		r.printShapes(w)
		fmt.Fprintln(w)
		r.printMonths(w)
		fmt.Fprintln(w)
		r.printBusy(w)
	}
	printFindings(w, r.reader.Report())
}

var formatInWords = map[traces.Format]string{
	traces.SWF: "Standard Workload Format", traces.LS6: "Lonestar6 log", traces.Sacct: "sacct -P", traces.Parquet: "Parquet",
}

func (r statsReport) printJobs(w io.Writer) {
	t := newTraceTable(w, "Jobs")
	states := make([]string, 0, len(r.States))
	for _, s := range r.States {
		states = append(states, thousands(s.Jobs)+" "+strings.ToLower(s.Name))
	}
	t.AppendRow(table.Row{"submitted", r.FirstSubmit.Std().Format(time.DateTime) + " to " + r.LastSubmit.Std().Format(time.DateTime) + " UTC"})
	t.AppendRow(table.Row{"started", fmt.Sprintf("%s; %s never started, %s had not ended", thousands(r.Started), thousands(r.NeverStarted), thousands(r.NotEnded))})
	t.AppendRow(table.Row{"states", strings.Join(states, ", ")})
	r.appendTally(t, "users", r.Users)
	r.appendTally(t, "accounts", r.Accounts)
	r.appendTally(t, "partitions", r.Partitions)
	work := fmt.Sprintf("%s node-hours", thousands(int64(r.NodeHours+0.5)))
	if r.GPUHours > 0 {
		work += fmt.Sprintf(", %s GPU-hours", thousands(int64(r.GPUHours+0.5)))
	}
	t.AppendRow(table.Row{"work", work})
	t.Render()
}

// appendTally says how many names there are and who used most.
func (r statsReport) appendTally(t table.Writer, what string, tally traces.Tally) {
	if tally.Distinct == 0 {
		return
	}
	var names []string
	for _, c := range tally.Top[:min(len(tally.Top), 5)] {
		names = append(names, fmt.Sprintf("%s %.1f %%", safe(c.Name), 100*c.NodeHours/max(r.NodeHours, 1e-9)))
	}
	t.AppendRow(table.Row{what, fmt.Sprintf("%s; most node-hours: %s", thousands(int64(tally.Distinct)), strings.Join(names, ", "))})
}

// safe returns a name that a terminal takes for no command.
func safe(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\u00b7'
		}
		return r
	}, name)
}

func (r statsReport) printTimes(w io.Writer) {
	t := newTraceTable(w, "Times")
	t.AppendHeader(table.Row{"", "jobs", "mean", "50 %", "90 %", "99 %", "most"})
	rightFrom(t, 2, 7)
	row := func(name string, d traces.Durations) {
		if d.Count > 0 {
			t.AppendRow(table.Row{name, thousands(d.Count), inWords(d.Mean), inWords(d.P50), inWords(d.P90), inWords(d.P99), inWords(d.Max)})
		}
	}
	row("wait from submission", r.Wait)
	row("wait once eligible", r.EligibleWait)
	row("run time", r.Run)
	t.Render()
	if l := r.LimitUsed; l.Count > 0 {
		fmt.Fprintf(w, "Jobs use %.0f %% of their time limit on average (half of them at most %.0f %%); %s ran over it.\n",
			100*l.Mean, 100*l.P50, thousands(r.OverLimit))
	}
	if n := r.reader.Report().Count(traces.WaitUnknown); n > 0 {
		fmt.Fprintf(w, "%s jobs have no recorded wait and count as started at once: these waits and busy nodes say nothing of the cluster.\n",
			thousands(n))
	}
}

func (r statsReport) printShapes(w io.Writer) {
	t := newTraceTable(w, fmt.Sprintf("Shapes: the most frequent of %s", thousands(int64(r.Shapes.Distinct))))
	t.AppendHeader(table.Row{"nodes", "GPUs a node", "time limit", "jobs", "share of jobs", "share of node-hours"})
	rightFrom(t, 1, 6)
	for _, s := range r.Shapes.Top {
		gpus, limit := "", "unknown"
		if s.GPUsPerNode > 0 {
			gpus = strconv.Itoa(s.GPUsPerNode)
		}
		if s.Limit > 0 {
			limit = segue.FormatLimit(s.Limit)
		}
		t.AppendRow(table.Row{
			s.Nodes, gpus, limit, thousands(s.Jobs), shareOf(float64(s.Jobs), float64(r.Jobs)), shareOf(s.NodeHours, r.NodeHours),
		})
	}
	t.Render()
}

func shareOf(part, whole float64) string { return fmt.Sprintf("%.1f %%", 100*part/max(whole, 1e-9)) }

// mostMonths is how many months are printed; a longer history shows its last.
const mostMonths = 24

func (r statsReport) printMonths(w io.Writer) {
	months := r.Months[max(0, len(r.Months)-mostMonths):]
	title := "Months in UTC, by submission"
	if len(months) < len(r.Months) {
		title = fmt.Sprintf("The last %d of %d months in UTC, by submission", len(months), len(r.Months))
	}
	t := newTraceTable(w, title)
	t.AppendHeader(table.Row{"month", "jobs", "mean wait", "node-hours"})
	rightFrom(t, 2, 4)
	for _, m := range months {
		t.AppendRow(table.Row{m.Name, thousands(m.Jobs), inWords(m.MeanWait), thousands(int64(m.NodeHours + 0.5))})
	}
	t.Render()
}

func (r statsReport) printBusy(w io.Writer) {
	b := r.Busy
	if b.Basis == traces.NoBasis {
		fmt.Fprintln(w, "No job started: nothing is known of the cluster's size.")
		return
	}
	t := newTraceTable(w, "Nodes busy at once, by time")
	t.AppendHeader(table.Row{"", "time", "mean", "50 %", "75 %", "90 %", "95 %", "99 %", "most"})
	rightFrom(t, 2, 9)
	t.AppendRow(table.Row{"first submission to last end", inWords(b.Span), fmt.Sprintf("%.1f", b.Mean), b.P50, "", b.P90, "", b.P99, b.Max})
	if f := b.Full; f.Moments > 0 {
		t.AppendRow(table.Row{"just after a job that had waited started", inWords(f.Time), "", f.P50, f.P75, f.P90, f.P95, "", ""})
	}
	t.Render()
	if q := r.Queue; q.Jobs > 0 {
		fmt.Fprintf(w, "Most jobs waited at once on %s UTC: %s.\n", q.At.Std().Format("2006-01-02 15:04"), thousands(q.Jobs))
	}
	if n := r.reader.Header().MaxNodes; n > 0 {
		fmt.Fprintf(w, "The head of the file says %s nodes.\n", thousands(n))
	}
	fmt.Fprintf(w, "Replay it on %s nodes: %s.\n", thousands(b.Proposed), b.Basis)
}

// printJSON prints one object; durations are in seconds.
func (r statsReport) printJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r.object())
}
