package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/trainer"
)

// measureFidelity compares the recorded waits with simulated ones.
func (f *simulateFlags) measureFidelity(cmd *cobra.Command) error {
	cfg, err := f.fidelityConfig(cmd)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "replays compared", 0)
	defer bar.Done()
	cfg.Progress = bar.Set
	result, err := trainer.MeasureFidelity(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	bar.Done()
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(fidelityReport{
			From: result.From.String(), HeldOut: result.HeldOut.String(), Fidelity: result,
		})
	}
	return printFidelity(cmd.OutOrStdout(), result)
}

func (f *simulateFlags) fidelityConfig(cmd *cobra.Command) (trainer.FidelityConfig, error) {
	var cfg trainer.FidelityConfig
	var err error
	if f.from != "" {
		if cfg.From, err = cli.Instant("from", f.from); err != nil {
			return cfg, err
		}
	}
	if f.heldOut != "" {
		if cfg.HeldOut, err = cli.Instant("held-out", f.heldOut); err != nil {
			return cfg, err
		}
	}
	if cfg.Cluster, err = f.scheduler.Config(); err != nil {
		return cfg, err
	}
	h, err := f.history.LoadAloud(cmd.ErrOrStderr())
	if err != nil {
		return cfg, err
	}
	cfg.History = h.Jobs
	return cfg, nil
}

// fidelityReport is the JSON of a fidelity study; instants are UTC.
type fidelityReport struct {
	From    string `json:"from"`
	HeldOut string `json:"held_out_from"`
	trainer.Fidelity
}

func printFidelity(w io.Writer, r trainer.Fidelity) error {
	fmt.Fprintf(w, "Recorded and simulated waits, job by job, of the jobs submitted from %s on; %s and later is held out.\n",
		r.From.Std().Format(time.DateOnly), r.HeldOut.Std().Format(time.DateOnly))
	fmt.Fprintln(w, "r: Pearson's correlation of the hours; log r: of log(1 + hours); MAE: mean absolute error in hours.\n"+
		"Not held back: by their users' own jobs. Fitted and held out: of these, those submitted before that day and later.")
	printAttempts(w, r.Attempts)
	fmt.Fprintln(w, "\nThe faithful replay in detail (hours):")
	groups := newTable(w)
	groups.AppendHeader(table.Row{"jobs", "count", "r", "log r", "rank r", "MAE", "mean rec / sim", "p50 rec / sim", "p90 rec / sim"})
	for _, g := range r.Groups {
		groups.AppendRow(groupRow(g))
	}
	groups.AppendSeparator()
	for _, g := range r.Months {
		groups.AppendRow(groupRow(g))
	}
	groups.Render()
	return printLeftover(w, r.Leftover)
}

func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	return t
}

func printAttempts(w io.Writer, attempts []trainer.Attempt) {
	t := newTable(w)
	t.AppendHeader(table.Row{
		"", "all jobs", "all jobs", "all jobs", "not held back", "not held back", "not held back",
		"fitted", "fitted", "held out", "held out", "held out",
	}, table.RowConfig{AutoMerge: true})
	t.AppendHeader(table.Row{"replay", "r", "log r", "MAE", "r", "log r", "MAE", "r", "log r", "r", "log r", "MAE"})
	for _, a := range attempts {
		row := table.Row{a.Name}
		for _, g := range []trainer.Agreement{a.Whole.All, a.Whole.Free} {
			row = append(row, number(g.R), number(g.LogR), number(g.MAE))
		}
		t.AppendRow(append(row, number(a.Fitted.Free.R), number(a.Fitted.Free.LogR),
			number(a.Held.Free.R), number(a.Held.Free.LogR), number(a.Held.Free.MAE)))
	}
	t.Render()
	for _, a := range attempts {
		fmt.Fprintf(w, "  %s: %s\n", a.Name, a.What)
	}
}

func groupRow(g trainer.Group) table.Row {
	return table.Row{
		g.Name, g.Jobs, number(g.R), number(g.LogR), number(g.Rank), number(g.MAE),
		number(g.Recorded.Mean) + " / " + number(g.Simulated.Mean),
		number(g.Recorded.P50) + " / " + number(g.Simulated.P50),
		number(g.Recorded.P90) + " / " + number(g.Simulated.P90),
	}
}

// printLeftover says what the faithful replay does not explain.
func printLeftover(w io.Writer, l trainer.Leftover) error {
	fmt.Fprintln(w, "\nWhat it leaves unexplained, of the jobs that were not held back (parts of the squared error):")
	parts := newTable(w)
	parts.AppendHeader(table.Row{"jobs", "count", "part"})
	for _, list := range []struct {
		prefix string
		parts  []trainer.Part
	}{{"user ", l.Users}, {"", l.Months}, {"", l.Sizes}} {
		for _, p := range list.parts {
			parts.AppendRow(table.Row{list.prefix + p.Name, p.Jobs, percent(p.Share)})
		}
		parts.AppendSeparator()
	}
	parts.Render()
	worst := newTable(w)
	worst.AppendHeader(table.Row{"job", "user", "submitted (UTC)", "nodes", "recorded wait, h", "simulated", "part"})
	for _, j := range l.Worst {
		worst.AppendRow(table.Row{j.ID, j.User, j.Submit, j.Nodes, number(j.Recorded), number(j.Simulated), percent(j.Share)})
	}
	worst.Render()
	fmt.Fprintf(w, "Without the three users of the largest parts: r %s, log r %s, MAE %s h over %d jobs.\n",
		number(l.WithoutUsers.R), number(l.WithoutUsers.LogR), number(l.WithoutUsers.MAE), l.WithoutUsers.Jobs)
	fmt.Fprintln(w, "\nNodes in service that idled while at least three jobs of one node waited that could run:")
	idle := newTable(w)
	idle.AppendHeader(table.Row{"month", "hours, recorded", "idle nodes", "hours, simulated", "idle nodes"})
	for _, m := range l.Idle {
		idle.AppendRow(table.Row{m.Month, number(m.RecordedHours), number(m.RecordedIdle), number(m.SimulatedHour), number(m.SimulatedIdle)})
	}
	idle.Render()
	return nil
}
