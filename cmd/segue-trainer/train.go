//go:build native

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer/learning"
)

// trainFlags are the flags of segue-trainer train.
type trainFlags struct {
	history              cli.History
	scheduler            cli.Scheduler
	from, until          string
	out, parent          string
	pairs                pairFlags
	policies             []string
	forecast             string
	loads, faithfulLoads []float64
	plainOnly            bool
	every, step          time.Duration
	replicas, steps      int
	seed, samplesSeed    uint64
	samples              string
	resume               bool
	also                 []string
	published            learning.PublishedConfig
}

func newTrainCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Make a model from a history",
		Long: `Train replays a history up to --until, finds out what every submit time of a
chain's next link would have led to, fits trees to the waits and trains policies
on the decisions. Nothing of the history from --until on is used.

The model is a folder (docs/models.md). What was finished is kept in a folder
beside it until the model is whole: after an interruption or a crash --resume goes
on from there, and makes the same model. Without --resume such a folder is in the
way. The model's report.html tells how it came about.`,
		Example: `  segue-trainer train --trace jobs.log --nodes 76 --until 2023-01-01 --out model
  segue backtest --trace jobs.log --nodes 76 --model model \
      --train-until 2023-01-01 --tune-until 2023-02-01 --test-until 2023-03-01`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.addGathering(cmd.Flags())
	f.addLearning(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "folder of the model, which must not exist (required)")
	return cmd
}

// addGathering declares the flags that say what to gather samples from.
func (f *trainFlags) addGathering(flags *pflag.FlagSet) {
	f.history.Add(flags)
	f.scheduler.Add(flags, "nodes", "nodes of the cluster (required)")
	flags.StringSliceVar(&f.also, "also", nil, "learn from these histories too: FILE=NODES, of clusters with the same scheduler")
	flags.StringVar(&f.from, "from", "", "learn from this instant on (default a week after the first job)")
	flags.StringVar(&f.until, "until", "", "learn from what was known at this instant (required)")
	f.pairs.add(flags, "learned from")
	flags.Float64SliceVar(&f.loads, "node-shares", []float64{1, 0.85, 0.72}, "replay plainly on these shares of the nodes: fewer make loads that the history does not show")
	flags.Float64SliceVar(&f.faithfulLoads, "faithful-node-shares", []float64{1, 0.9}, "and with inferred caps and dependencies on these")
	flags.BoolVar(&f.plainOnly, "plain-only", false, "leave out the replay with inferred caps and dependencies")
	flags.DurationVar(&f.every, "every", 4*time.Hour, "time between starts")
	flags.DurationVar(&f.step, "lead-step", time.Hour, "time between submit times")
	flags.IntVar(&f.replicas, "replicas", 12, "simulated futures of a Monte Carlo forecast")
	flags.Uint64Var(&f.samplesSeed, "samples-seed", 1, "decides what is drawn for the samples")
}

// addLearning declares the flags that say what to make of the samples.
func (f *trainFlags) addLearning(flags *pflag.FlagSet) {
	flags.StringVar(&f.parent, "parent", "", "folder of the model to compare with (default the champion of the folder that --out is in)")
	flags.StringSliceVar(&f.policies, "policies", learning.DefaultPolicies(), "which to train: "+strings.Join(learning.Policies(), ", ")+"; published-* are the method to beat")
	flags.StringVar(&f.forecast, "forecast", string(waits.Thresholds), "kind of the forecast of waits: thresholds, aft, quantiles or forest")
	flags.IntVar(&f.steps, "steps", 0, "most steps of training of a policy; 0 is 4000")
	flags.Uint64Var(&f.seed, "seed", 1, "decides all that is random in a training; from 1 on")
	flags.StringVar(&f.samples, "samples", "", "keep the samples in this folder, and take them from it when they are there: for trainings that differ in seed, policies or forecast")
	f.addPublished(flags)
	flags.BoolVar(&f.resume, "resume", false, "go on with a training that was interrupted, or with merged shards")
}

func (f *trainFlags) run(cmd *cobra.Command) error {
	if err := admitModel(f.out); err != nil {
		return err
	}
	if err := f.admitUnfinished(); err != nil {
		return err
	}
	cfg, m, err := f.config(cmd)
	if err != nil {
		return err
	}
	before, err := f.before(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	cfg.Dir, cfg.SamplesDir = f.out+unfinished, f.samples
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("make a folder for what is finished: %w", err)
	}
	if f.samples != "" {
		if err := os.MkdirAll(f.samples, 0o755); err != nil {
			return fmt.Errorf("make the folder of samples: %w", err)
		}
	}
	steps := newStepper(cmd.ErrOrStderr())
	cfg.Progress = steps.report
	result, err := learning.Learn(cmd.Context(), cfg)
	steps.done()
	if err != nil {
		return err
	}
	f.describe(&m, cmd.Flags(), before, result)
	page, err := reportPage(cmd, m, before, result, steps)
	if err != nil {
		return err
	}
	if err := f.write(m, result, page); err != nil {
		return err
	}
	if err := os.RemoveAll(cfg.Dir); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	return printSummary(cmd.OutOrStdout(), f.out, result)
}

// config reads the flags and the history. What can be refused before the work is
// refused before the history is read.
func (f *trainFlags) config(cmd *cobra.Command) (learning.Config, models.Manifest, error) {
	var m models.Manifest
	cfg, cluster, err := f.admit(cmd.Flags())
	if err != nil {
		return cfg, m, err
	}
	sources, err := f.sources()
	if err != nil {
		return cfg, m, err
	}
	for i, source := range sources {
		jobs, notes, err := source.replays(cmd.ErrOrStderr(), &cfg.Samples.Replays, f, cluster, cfg.Samples.Until)
		if err != nil {
			return cfg, m, err
		}
		m.Notes = append(m.Notes, notes...)
		digest, err := digestOf(source.path)
		if err != nil {
			return cfg, m, err
		}
		if i == 0 {
			m.Trace = models.Trace{SHA256: digest, Name: filepath.Base(source.path), Jobs: jobs}
		} else {
			m.Notes = append(m.Notes, fmt.Sprintf("also learned from %s: %d jobs of %d nodes, SHA-256 %s", filepath.Base(source.path), jobs, source.nodes, digest))
		}
	}
	program, err := programOf(cli.Build(), os.Executable)
	if err != nil {
		return cfg, m, err
	}
	cfg.Key = keyOf(cmd.Flags(), m, program)
	for _, pair := range cfg.Samples.Pairs {
		m.Pairs = append(m.Pairs, models.PairOf(pair))
	}
	m.Cluster = models.Cluster{Nodes: f.scheduler.Nodes}
	m.Seeds = []uint64{f.seed}
	m.Window = models.Window{From: models.Instant(cfg.Samples.Begin()), Until: models.Instant(cfg.Samples.Until)}
	return cfg, m, nil
}

// write writes the model's folder, with the report of the training.
func (f *trainFlags) write(m models.Manifest, result *learning.Learned, page []byte) error {
	files, err := learned.Encode(result.Model)
	if err != nil {
		return err
	}
	files[models.ReportFile] = page
	if err := addMethod(&m, files, result); err != nil {
		return err
	}
	for name := range files {
		if strings.HasPrefix(name, "trees-") {
			m.Forecaster.Files = append(m.Forecaster.Files, name)
		}
	}
	return models.Write(f.out, m, files)
}
