package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/provisioner/shadow/watch"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// watchFlags are the flags of segue shadow watch.
type watchFlags struct {
	where           chainStore
	access          slurmAccess
	every, minLimit time.Duration
	prefer, model   string
	once            bool
}

func newShadowWatchCommand() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch FILE",
		Short: "Write down what Segue would advise about the jobs that run now",
		Long: `Watch looks at Slurm's queue every half hour and adds to FILE, for every long job
that runs, a line that says whether the next one should be submitted now. It submits
nothing and changes nothing. After a week 'segue shadow --advice FILE' compares what
was advised with what users did. The store's history is what the advice learns from:
collect it beside ('segue history collect', or an agent).`,
		Example: "  segue shadow watch advice.jsonl --store /var/lib/segue/pilot.db",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.where.add(cmd.Flags())
	f.access.add(cmd.Flags())
	cmd.Flags().DurationVar(&f.every, "every", 30*time.Minute, "time between two looks at the queue")
	cmd.Flags().DurationVar(&f.minLimit, "min-limit", 12*time.Hour, "the least time limit of a job to advise about")
	cmd.Flags().StringVar(&f.prefer, "prefer", "balanced", "no-gap, balanced, no-waste, or hours of overlap worth one hour of interruption")
	cmd.Flags().StringVar(&f.model, "model", "", "let the trained model in this folder decide, \"default\" for the one that segue carries (without it a planner decides)")
	cmd.Flags().BoolVar(&f.once, "once", false, "look once, and end")
	return cmd
}

func (f *watchFlags) run(cmd *cobra.Command, path string) error {
	prefer, err := segue.ParsePreference(f.prefer)
	if err != nil {
		return fmt.Errorf("--prefer: %w", err)
	}
	s, err := f.where.openOnly(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	file, err := openAdvice(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	w, err := f.watch(cmd, s, file, prefer)
	if err != nil {
		return err
	}
	if f.once {
		n, err := w.Look(cmd.Context())
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: advice about %d of the jobs that run. Nothing was submitted.\n", path, n)
		}
		return err
	}
	return w.Run(cmd.Context())
}

// openAdvice opens the file to add lines to it. An empty line goes before them: a
// watch that was ended may have left half of one.
func openAdvice(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "the file of advice: %w", err)
	}
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		if _, err := file.WriteString("\n"); err != nil {
			_ = file.Close()
			return nil, segue.Errorf(segue.Unavailable, "the file of advice: %w", err)
		}
	}
	return file, nil
}

// watch wires a watch on the Slurm of the environment. It gets no more of it than
// its look.
func (f *watchFlags) watch(cmd *cobra.Command, s *store.Store, out io.Writer, prefer segue.Preference) (*watch.Watch, error) {
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	driver, err := f.access.driver()
	if err != nil {
		return nil, err
	}
	cluster, err := schedulers.New(driver, schedulers.Config{Now: func() segue.Time { return segue.TimeOf(time.Now()) }, Log: log})
	if err != nil {
		return nil, err
	}
	caps, err := cluster.Capabilities(cmd.Context())
	if err != nil {
		return nil, err
	}
	by, err := server.OpenModel(f.model)
	if err != nil {
		return nil, err
	}
	decider := provisioner.NewLive(s, caps.Cluster, provisioner.LiveConfig{By: by})
	return watch.New(looker{cluster}, decider, out, watch.Config{MinLimit: f.minLimit, Every: f.every, Prefer: prefer, Log: log})
}

// looker shows a cluster's queue and nothing else of it.
type looker struct{ cluster *schedulers.Cluster }

func (l looker) State(ctx context.Context) (schedulers.State, error) { return l.cluster.State(ctx) }
