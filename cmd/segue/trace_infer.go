package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/infer"
)

// inferFlags are the flags of segue trace infer.
type inferFlags struct {
	history cli.History
	json    bool
}

func newTraceInferCommand() *cobra.Command {
	var f inferFlags
	cmd := &cobra.Command{
		Use:   "infer FILE",
		Short: "Infer limits, dependencies and node counts from a history",
		Long: `Infer reads out of a job history what it does not say: limits on each user's
jobs, jobs that waited for another one of the same user, how many nodes were in
service, and how much of the waiting that explains. Each finding comes with what
speaks for it and against it, and with what chance alone would give. FILE "-" is
standard input.

With --json it prints one object, with every dependency it inferred.`,
		Example: `  segue trace infer jobs.log`,
		Args:    cobra.ExactArgs(1),
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

func (f *inferFlags) run(cmd *cobra.Command) error {
	r, err := f.history.Open(cmd.InOrStdin())
	if err != nil {
		return err
	}
	h, err := traces.ReadAll(r)
	if closed := r.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	cli.WarnRejected(cmd.ErrOrStderr(), f.history.Path, &h.Findings)
	report := inferReport{file: f.history.Path, history: h, Result: infer.Infer(h.Jobs, infer.Config{})}
	if f.json {
		return report.printJSON(cmd.OutOrStdout())
	}
	report.print(cmd.OutOrStdout())
	return nil
}

// inferReport prints what was inferred from a history.
type inferReport struct {
	file    string
	history *traces.History
	*infer.Result
}

func (r inferReport) printJSON(w io.Writer) error {
	type dependency struct {
		Job   string `json:"job"`
		After string `json:"after"`
		infer.Dependency
	}
	deps := make([]dependency, 0, len(r.Dependencies))
	for _, d := range r.Dependencies {
		deps = append(deps, dependency{r.id(d.Job), r.id(d.After), d})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		*infer.Result
		Dependencies []dependency `json:"dependencies"`
		Suggested    string       `json:"suggested"`
	}{r.Result, deps, r.suggested()})
}

func (r inferReport) id(job int) string { return r.history.Jobs[job].ID.String() }

func (r inferReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s jobs of %d users, %s of them ran; all waited %s hours.\n\n",
		r.file, thousands(int64(r.Jobs)), r.Users, thousands(int64(r.Started)), thousands(int64(r.WaitingHours)))
	r.printRules(w)
	fmt.Fprintf(w, "\nOwn jobs held %d jobs back: limits explain %.1f %% of all waiting, dependencies %.1f %%, together %.1f %%.\n",
		r.Blocked, 100*r.LimitShare, 100*r.DependencyShare, 100*r.BlockedShare)
	r.printChains(w)
	r.printOrder(w)
	r.printPending(w)
	r.printNodes(w)
	fmt.Fprintf(w, "\nTo replay this history with what was found:\n  %s\n", r.suggested())
}

// printRules prints the limits with the evidence for and against each.
func (r inferReport) printRules(w io.Writer) {
	t := newTraceTable(w, "Limits on each user")
	t.AppendHeader(table.Row{"on", "found", "for it", "against it", "by chance", "waiting at it"})
	r.appendLimits(t, "", r.Limits)
	for _, p := range r.Partitions {
		r.appendLimits(t, " in partition "+p.Name, p.Limits)
	}
	for _, q := range r.QOS {
		r.appendLimits(t, " in QOS "+q.Name, q.Limits)
	}
	t.Render()
}

func (r inferReport) appendLimits(t table.Writer, where string, l infer.Limits) {
	for _, row := range []struct {
		name, events string
		limit        infer.Limit
	}{
		{"running jobs", "starts", l.MaxRunning},
		{"queued and running jobs", "submissions", l.MaxQueued},
		{"nodes of running jobs", "starts", l.MaxNodes},
	} {
		found := "no"
		if row.limit.Found {
			found = fmt.Sprintf("%d", row.limit.Value)
		}
		t.AppendRow(table.Row{
			row.name + where, found,
			fmt.Sprintf("at exactly %d: %d users; there %.0f user-hours with %d %s, expected %.0f",
				row.limit.Value, row.limit.UsersAt, row.limit.HoursAt, row.limit.Observed, row.events, row.limit.Expected),
			fmt.Sprintf("past it: %d users", row.limit.UsersPast),
			fmt.Sprintf("%.1g", row.limit.Chance),
			fmt.Sprintf("%.1f %%", 100*row.limit.WaitingShare),
		})
	}
}

func (r inferReport) printChains(w io.Writer) {
	c := r.Chains
	fmt.Fprintf(w, "\n%d of %d jobs that waited over ten minutes started within 90 s after an own job's end; they hold %.1f %%\n"+
		"of all waiting. Were starts spread over the waits, %.1f %% of them would. A limit allowed %d of these starts.\n",
		c.Coincided, c.Waited, 100*c.CoincidedShare, 100*c.AnytimeLevel, c.ByLimit)
	t := newTraceTable(w, "The other starts after an own job's end")
	t.AppendHeader(table.Row{"", "seen", "by chance", "more than chance"})
	for _, row := range []struct {
		name   string
		excess infer.Excess
	}{
		{"the name counts on (x.10, x.11)", c.Named},
		{"there was room, and others overtook", c.HeldBack},
		{"neither", c.Others},
	} {
		t.AppendRow(table.Row{row.name, row.excess.Coincided, fmt.Sprintf("%.0f", row.excess.Expected), yesNo(row.excess.Found())})
	}
	t.Render()
	fmt.Fprintf(w, "Inferred dependencies: %d.\n", c.Inferred)
}

// printOrder prints what recorded priorities say, where there are any.
func (r inferReport) printOrder(w io.Writer) {
	o := r.Order
	if o.Pairs == 0 {
		return
	}
	verdict := "no order by priority is found"
	if o.Found {
		verdict = "the queue goes by priority"
	}
	fmt.Fprintf(w, "\nOf %s pairs of equal jobs of two users the older one started first in %.1f %%; priority and age together\n"+
		"explain %.1f %%, an hour of age being worth %.1f (median priority %d): %s.\n",
		thousands(int64(o.Pairs)), 100*o.ByAge, 100*o.Explained, o.AgePerHour, o.Median,
		verdict)
}

func (r inferReport) printPending(w io.Writer) {
	fmt.Fprintln(w)
	t := newTraceTable(w, "Waits by own pending jobs, in hours")
	t.AppendHeader(table.Row{"pending", "jobs", "mean", "median", "p90"})
	for _, row := range r.OwnPending {
		name := fmt.Sprintf("%d to %d", row.From, row.To)
		switch {
		case row.To < 0:
			name = fmt.Sprintf("%d and more", row.From)
		case row.From == row.To:
			name = fmt.Sprintf("%d", row.From)
		}
		t.AppendRow(table.Row{
			name, thousands(int64(row.Jobs)), fmt.Sprintf("%.1f", row.Mean), fmt.Sprintf("%.1f", row.Median), fmt.Sprintf("%.1f", row.P90),
		})
	}
	t.Render()
}

func (r inferReport) printNodes(w io.Writer) {
	months := infer.Months(r.Nodes)
	if len(months) == 0 {
		fmt.Fprintln(w, "\nThe cluster was never congested for long enough to tell how many nodes were in service.")
		return
	}
	fmt.Fprintln(w)
	t := newTraceTable(w, "Nodes in service, by month")
	t.AppendHeader(table.Row{"month", "days", "least", "median", "most"})
	for _, m := range months {
		t.AppendRow(table.Row{m.Month, m.Days, m.Least, m.Median, m.Most})
	}
	t.Render()
}

// suggested returns the command that replays the history with what was found.
func (r inferReport) suggested() string {
	nodes := "N"
	if n := infer.TypicalNodes(r.Nodes); n > 0 {
		nodes = strconv.Itoa(n)
	}
	command := fmt.Sprintf("segue simulate --trace %s --nodes %s", r.file, nodes)
	switch limit := r.Limits.MaxRunning; {
	case r.Chains.Found:
		return command + " --faithful" // with the limit, if there is one
	case limit.Found:
		return fmt.Sprintf("%s --max-jobs-per-user %d", command, limit.Value)
	}
	return command
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
