package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/trainer"
)

// simulateFlags are the flags of segue simulate.
type simulateFlags struct {
	history                         cli.History
	scheduler                       cli.Scheduler
	events, starts, svg             string
	from, heldOut                   string
	clairvoyant, faithful, fidelity bool
	json                            bool
}

func newSimulateCommand() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Replay a recorded history on a simulated cluster",
		Long: `Simulate replays a recorded history on a simulated cluster and says how long
the jobs wait there, how busy the nodes are and how long it all takes.

The file of --starts has a line "id,start" for every job, sorted by id: the
job's number in the history, and its start in whole seconds on the history's own
clock (an SWF file counts from its UnixStartTime, every other format from
1970-01-01 UTC), -1 if it never started. Equal inputs give an equal file.`,
		Example: `  segue simulate --trace KTH-SP2.swf --nodes 100 --backfill easy --starts starts.csv
  segue simulate --trace jobs.log --nodes 76 --faithful --svg cluster.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	f.history.Add(flags)
	f.scheduler.Add(flags, "nodes", "nodes of the cluster (required; 'segue trace stats' proposes a number)")
	flags.StringVar(&f.events, "events", "per-instant", "per-instant: one scheduling pass for all that happens at an instant; per-event: one for each event")
	flags.BoolVar(&f.clairvoyant, "clairvoyant", false, "let the scheduler know how long every job will run")
	flags.BoolVar(&f.faithful, "faithful", false, "hold the limits and dependencies that the history gives away")
	flags.BoolVar(&f.fidelity, "fidelity", false, "compare the recorded waits with those of several replays, job by job")
	flags.StringVar(&f.from, "from", "", "with --fidelity: first submission that counts (default the first)")
	flags.StringVar(&f.heldOut, "held-out", "", "with --fidelity: first submission of the period that no choice has seen (default the last month)")
	flags.StringVar(&f.starts, "starts", "", "write every job's start to this file, - for standard output")
	flags.StringVar(&f.svg, "svg", "", "draw the cluster over time into this file")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *simulateFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if f.fidelity {
		return f.measureFidelity(cmd)
	}
	h, r, err := f.replay(cmd)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "jobs replayed", int64(len(r.Jobs)))
	defer bar.Done()
	result, err := trainer.Run(cmd.Context(), r, func(arrived int) { bar.Set(arrived, len(r.Jobs)) })
	if err != nil {
		return err
	}
	bar.Done()
	if f.starts != "" {
		if err := writeStarts(f.starts, cmd.OutOrStdout(), h, result.Starts); err != nil {
			return err
		}
	}
	schedule, err := trainer.Measure(r, result)
	if err != nil {
		return err
	}
	if f.svg != "" {
		if err := writeSVG(f.svg, drawSchedule(r, schedule)); err != nil {
			return err
		}
	}
	switch {
	case f.starts == "-":
		return nil
	case f.json:
		return json.NewEncoder(cmd.OutOrStdout()).Encode(scheduleReportOf(r, schedule))
	}
	return printSchedule(cmd.OutOrStdout(), r, schedule)
}

// check refuses flags that do not go together.
func (f *simulateFlags) check(cmd *cobra.Command) error {
	switch {
	case f.starts == "-" && f.json:
		return segue.Errorf(segue.Invalid, "--starts - and --json both write to standard output: give --starts a file")
	case f.fidelity && (f.starts != "" || f.svg != "" || f.clairvoyant || f.faithful):
		return segue.Errorf(segue.Invalid, "--fidelity compares several replays: leave --starts, --svg, --clairvoyant and --faithful out")
	case !f.fidelity && (cmd.Flags().Changed("from") || cmd.Flags().Changed("held-out")):
		return segue.Errorf(segue.Invalid, "--from and --held-out are for --fidelity")
	}
	return nil
}

// replay reads the flags and the history.
func (f *simulateFlags) replay(cmd *cobra.Command) (*traces.History, trainer.Replay, error) {
	cluster, err := f.scheduler.Config()
	if err != nil {
		return nil, trainer.Replay{}, err
	}
	if cluster.Events, err = simulator.ParseEvents(f.events); err != nil {
		return nil, trainer.Replay{}, fmt.Errorf("--%w", err)
	}
	h, err := f.history.LoadAloud(cmd.ErrOrStderr())
	if err != nil {
		return nil, trainer.Replay{}, err
	}
	replays, err := trainer.Replays(h.Jobs, cluster, f.faithful)
	if err != nil {
		return nil, trainer.Replay{}, err
	}
	r := replays[len(replays)-1]
	if f.clairvoyant {
		r = r.Clairvoyant()
	}
	return h, r, nil
}
