package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/provisioner/shadow"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer"
)

// shadowFlags are the flags of segue shadow.
type shadowFlags struct {
	history             cli.History
	where               chainStore
	cluster             string
	scheduler           cli.Scheduler
	from, until, prefer string
	minLimit, within    time.Duration
	every, maxLead      time.Duration
	model, policy       string
	replicas            int
	seed                uint64
	plain               bool
	json, markdown      bool
	advice              string
	report              reportFlag
}

func newShadowCommand() *cobra.Command {
	var f shadowFlags
	cmd := &cobra.Command{
		Use:   "shadow",
		Short: "Compare Segue with what users did by hand, submitting nothing",
		Long: `Shadow looks in a job history for jobs that ran into their time limit and that
their users continued by hand, and says what Segue would have done in their place:
it asks for advice at every half hour of each such job, from what had been recorded
by then and nothing later, follows it, and compares the gaps and overlaps of both.
Nothing is submitted.

The history is a file (--trace), or what a server or agent has collected of a
cluster (--cluster NAME, from --store). docs/pilot.md says how to make a pilot of
it, how to read the report, and what is not measured.`,
		Example: `  segue shadow --trace jobs.log --nodes 76 --from 2023-02-01 --until 2023-03-01 --report shadow.html
  segue shadow --cluster lonestar6 --nodes 76 --from 2026-11-23 --until 2026-11-30 --report week.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.AddCommand(newShadowWatchCommand())
	flags := cmd.Flags()
	f.history.Add(flags)
	flags.Lookup("trace").Usage = "job history: Lonestar6 log, SWF, sacct -P or Parquet, gzip or not (this or --cluster is required)"
	f.where.add(flags)
	flags.StringVar(&f.cluster, "cluster", "", "take the history of this cluster from the store")
	f.scheduler.Add(flags, "nodes", "nodes of the cluster (required)")
	flags.StringVar(&f.from, "from", "", "jobs that ended from this moment on, UTC unless it says otherwise (required)")
	flags.StringVar(&f.until, "until", "", "jobs that ended before this moment (required)")
	flags.DurationVar(&f.minLimit, "min-limit", 12*time.Hour, "the least time limit of a job whose continuation counts")
	flags.DurationVar(&f.within, "within", 24*time.Hour, "how long after its end a job must have been continued")
	flags.StringVar(&f.prefer, "prefer", "balanced", "no-gap, balanced, no-waste, or hours of overlap worth one hour of interruption")
	flags.DurationVar(&f.maxLead, "max-lead", 0, "never submit earlier than this before the end; 0 is no cap")
	flags.DurationVar(&f.every, "every", 30*time.Minute, "time between questions for advice")
	flags.StringVar(&f.model, "model", "", "let the trained model in this folder decide, \"default\" for the one that segue carries (without it a planner decides)")
	flags.StringVar(&f.policy, "policy", "", "which policy of the model (default moe-dqn, or what it has)")
	flags.IntVar(&f.replicas, "replicas", 24, "simulated futures")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the simulated futures and of the bootstrap")
	flags.StringVar(&f.advice, "advice", "", "follow what 'segue shadow watch' wrote to this file, and ask nobody again")
	flags.BoolVar(&f.plain, "plain", false, "measure in a cluster without the caps, dependencies and order that the history gives away")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	flags.BoolVar(&f.markdown, "markdown", false, "print the tables in Markdown")
	f.report.add(flags)
	return cmd
}

func (f *shadowFlags) run(cmd *cobra.Command) error {
	cfg, err := f.config(cmd)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "hand-overs judged", 0)
	defer bar.Done()
	cfg.Progress = bar.Set
	result, err := shadow.Judge(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	bar.Done()
	report, err := shadow.NewReport(cfg, result, f.seed)
	if err != nil {
		return err
	}
	if err := f.report.write(cmd, func(line string) ([]byte, error) { return shadow.Page(cfg, result, report, line) }); err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
	}
	return shadowTables{backtestTables{w: cmd.OutOrStdout(), markdown: f.markdown}}.print(report)
}

// config reads the flags and the history.
func (f *shadowFlags) config(cmd *cobra.Command) (shadow.Config, error) {
	cfg := shadow.Config{
		Rule: shadow.Rule{MinLimit: f.minLimit, Within: f.within}, Every: f.every, MaxLead: f.maxLead,
		Monte: predictor.MonteCarloConfig{Replicas: f.replicas, Seed: f.seed},
	}
	var err error
	if cfg.From, err = cli.Instant("from", f.from); err != nil {
		return cfg, err
	}
	if cfg.Until, err = cli.Instant("until", f.until); err != nil {
		return cfg, err
	}
	if cfg.Prefer, err = segue.ParsePreference(f.prefer); err != nil {
		return cfg, fmt.Errorf("--prefer: %w", err)
	}
	if cfg.Cluster, err = f.scheduler.Config(); err != nil {
		return cfg, err
	}
	if err := f.report.writable(); err != nil {
		return cfg, err
	}
	if cfg.By, err = f.trained(cfg.From); err != nil {
		return cfg, err
	}
	if cfg.History, err = f.jobs(cmd); err != nil {
		return cfg, err
	}
	if cfg.Advice, err = f.written(cmd.ErrOrStderr()); err != nil {
		return cfg, err
	}
	cfg.World, err = f.world(cfg)
	return cfg, err
}

// written reads the advice that was written down, nil when none is to be followed.
// Lines that cannot be read are told of.
func (f *shadowFlags) written(complaints io.Writer) ([]shadow.Advice, error) {
	if f.advice == "" {
		return nil, nil
	}
	file, err := os.Open(f.advice)
	if err != nil {
		return nil, segue.Errorf(segue.NotFound, "--advice: %w", err)
	}
	defer func() { _ = file.Close() }()
	list, unreadable, err := shadow.ReadAdvice(file)
	switch {
	case len(list) == 0 && err != nil:
		return nil, fmt.Errorf("--advice %s: %w", f.advice, err)
	case len(list) == 0:
		return nil, segue.Errorf(segue.Invalid, "--advice %s holds no advice", f.advice)
	case err != nil:
		fmt.Fprintf(complaints, "segue: --advice %s: lines that cannot be read: %d; the first: %s\n", f.advice, unreadable, err)
	}
	return list, nil
}

// trained reads the model that was asked for, which must not have seen the period.
func (f *shadowFlags) trained(from segue.Time) (*provisioner.Trained, error) {
	by, err := (&adviseFlags{model: f.model, policy: f.policy}).trained()
	if by == nil || err != nil {
		return nil, err
	}
	files, err := openFiles(f.model)
	if err != nil {
		return nil, err
	}
	if until := files.Manifest.Window.Until.Time(); until > from {
		return nil, segue.Errorf(segue.Invalid, "--model %s was trained on the history up to %s, which is in the period from %s on", f.model, until, from)
	}
	return by, nil
}

// world replays the history with all that it gives away.
func (f *shadowFlags) world(cfg shadow.Config) (shadow.World, error) {
	replays, err := trainer.Replays(cfg.History, cfg.Cluster, !f.plain)
	if err != nil {
		return shadow.World{}, err
	}
	r := replays[len(replays)-1].RequestedLimits(cfg.History)
	return shadow.World{Cluster: r.Cluster, Jobs: r.Jobs}, nil
}

// jobs reads the history, from a file or from the store.
func (f *shadowFlags) jobs(cmd *cobra.Command) ([]segue.Job, error) {
	switch {
	case f.cluster != "" && f.history.Path != "":
		return nil, segue.Errorf(segue.Invalid, "--trace and --cluster both name a history: give one")
	case f.cluster != "":
		return f.collected(cmd.Context())
	}
	h, err := f.history.LoadAloud(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return h.Jobs, nil
}

// collected reads what the store holds of the cluster.
func (f *shadowFlags) collected(ctx context.Context) (jobs []segue.Job, err error) {
	s, err := f.where.openOnly(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	for j, err := range s.Jobs(ctx, store.JobQuery{Cluster: f.cluster}) {
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", f.cluster, err)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 {
		return nil, segue.Errorf(segue.NotFound, "the store %s holds no history of %s: 'segue history list' shows what it holds", s.Where(), f.cluster)
	}
	return jobs, nil
}
