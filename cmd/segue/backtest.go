package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/trainer"
)

// backtestFlags are the flags of segue backtest.
type backtestFlags struct {
	history                          cli.History
	scheduler                        cli.Scheduler
	pairNodes                        int
	pairTime                         string
	trainUntil, tuneUntil, testUntil string
	prefer                           string
	policies                         []string
	every, step, embargo             time.Duration
	replicas, workers                int
	seed                             uint64
	json, markdown                   bool
	noStress, noRolling, noFaith     bool
	report                           reportFlag
	models                           []string
}

func newBacktestCommand() *cobra.Command {
	var f backtestFlags
	cmd := &cobra.Command{
		Use:   "backtest",
		Short: "Measure every policy on a recorded history",
		Long: `Backtest replays a recorded history, finds out what every submit time of the
next link would have led to, and measures every policy on it: how much of the gap
between a constant lead and an oracle it closes, and what it costs when its
parameter is chosen on an earlier period. It repeats that month by month, and on
clusters that are not what the policies believe.

Periods are [start, train-until), [train-until, tune-until) and [tune-until,
test-until); starts whose pair could reach beyond their period are left out.`,
		Example: `  segue backtest --trace jobs.log --nodes 76 --pair-nodes 1 --pair-time 48h \
      --train-until 2023-01-01 --tune-until 2023-02-01 --test-until 2023-03-01 --report out.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	f.history.Add(flags)
	f.scheduler.Add(flags, "nodes", "nodes of the cluster (required)")
	flags.IntVar(&f.pairNodes, "pair-nodes", 1, "nodes of each job of a pair")
	flags.StringVar(&f.pairTime, "pair-time", "48h", "time limit of each job of a pair, as sbatch --time (48 is 48 minutes) or 48h")
	flags.StringVar(&f.trainUntil, "train-until", "", "end of the training period (required)")
	flags.StringVar(&f.tuneUntil, "tune-until", "", "end of the tuning period (required)")
	flags.StringVar(&f.testUntil, "test-until", "", "end of the test period (required)")
	flags.StringVar(&f.prefer, "prefer", "balanced", "price of overlap: no-gap, balanced, no-waste, or hours of overlap worth one of interruption")
	flags.StringSliceVar(&f.policies, "policy", nil, "only these policies (default all): "+strings.Join(policyNames(), ", "))
	flags.DurationVar(&f.every, "every", 4*time.Hour, "time between starts")
	flags.DurationVar(&f.step, "lead-step", 30*time.Minute, "time between submit times")
	flags.DurationVar(&f.embargo, "embargo", 0, "starts so near the end of their period are left out; 0 is one and a half times --pair-time")
	flags.IntVar(&f.replicas, "replicas", 12, "simulated futures of a Monte Carlo forecast")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the simulated futures and of the bootstrap")
	flags.IntVar(&f.workers, "workers", 0, "processors to use; 0 is all")
	flags.BoolVar(&f.noStress, "no-stress", false, "leave out the stress runs")
	flags.BoolVar(&f.noRolling, "no-rolling", false, "leave out the rolling origin over months")
	flags.BoolVar(&f.noFaith, "plain-only", false, "leave out the replay with inferred caps and dependencies")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	flags.BoolVar(&f.markdown, "markdown", false, "print the tables in Markdown")
	flags.StringArrayVar(&f.models, "model", nil, "add the policies of the trained model in this folder, \"default\" for the one that segue carries. May be repeated: every month is judged by the newest that had not seen it, and models of the same instant, of other seeds, side by side")
	f.report.add(flags)
	return cmd
}

func policyNames() []string {
	var names []string
	for _, family := range policy.Families() {
		names = append(names, family.Name)
	}
	return names
}

func (f *backtestFlags) run(cmd *cobra.Command) error {
	cfg, err := f.config(cmd)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "starts judged", 0)
	defer bar.Done()
	cfg.Progress = bar.Set
	result, err := trainer.Backtest(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	bar.Done()
	err = f.report.write(cmd, func(line string) ([]byte, error) { return trainer.ReportPage(cmd.Context(), cfg, result, line) })
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result.Report)
	}
	return backtestTables{w: cmd.OutOrStdout(), markdown: f.markdown}.print(result.Report)
}

// config reads the flags and the history.
func (f *backtestFlags) config(cmd *cobra.Command) (trainer.BacktestConfig, error) {
	var cfg trainer.BacktestConfig
	pairTime, err := cli.Limit("pair-time", f.pairTime)
	if err != nil {
		return cfg, err
	}
	if pairTime <= 0 || pairTime == segue.Unlimited {
		return cfg, segue.Errorf(segue.Invalid, "--pair-time %q: want a time limit above 0", f.pairTime)
	}
	prefer, err := segue.ParsePreference(f.prefer)
	if err != nil {
		return cfg, fmt.Errorf("--prefer: %w", err)
	}
	families, err := f.families()
	if err != nil {
		return cfg, err
	}
	cluster, err := f.scheduler.Config()
	if err != nil {
		return cfg, err
	}
	bounds, err := f.bounds()
	if err != nil {
		return cfg, err
	}
	if err := f.report.writable(); err != nil {
		return cfg, err
	}
	h, err := f.history.LoadAloud(cmd.ErrOrStderr())
	if err != nil {
		return cfg, err
	}
	replays, err := trainer.Replays(h.Jobs, cluster, !f.noFaith)
	if err != nil {
		return cfg, err
	}
	for i := range replays {
		replays[i] = replays[i].RequestedLimits(h.Jobs)
	}
	embargo := f.embargo
	if embargo == 0 {
		embargo = pairTime * 3 / 2
	}
	split, err := evaluation.NewSplit(firstSubmit(replays[0].Jobs), bounds[0], bounds[1], bounds[2], embargo)
	if err != nil {
		return cfg, err
	}
	cfg = trainer.BacktestConfig{
		Replays: replays, Pair: segue.Shape{Nodes: f.pairNodes, Limit: pairTime}, Split: split, Prefer: prefer,
		Families: families, Rolling: !f.noRolling, Stress: !f.noStress, Every: f.every, Seed: f.seed, Workers: f.workers,
		Monte: predictor.MonteCarloConfig{Replicas: f.replicas, Seed: f.seed},
	}
	cfg.Grid.Step = f.step
	cfg.Models, err = f.trained(split, cfg.Pair)
	return cfg, err
}

// trained reads the models, which must not have seen the test period, and what
// they have for pairs of a shape.
func (f *backtestFlags) trained(split evaluation.Split, pair segue.Shape) ([]trainer.Trained, error) {
	var list []trainer.Trained
	for _, name := range f.models {
		files, err := openFiles(name)
		if err != nil {
			return nil, err
		}
		manifest, t := files.Manifest, trainer.Trained{Until: files.Manifest.Window.Until.Time()}
		if t.Model, err = learned.Read(files.File); err != nil {
			return nil, fmt.Errorf("--model %s: %w", name, err)
		}
		method, err := published.Read(files.File)
		if err != nil {
			return nil, fmt.Errorf("--model %s: %w", name, err)
		}
		t.Published, t.Notes = method.For(pair)
		if t.Until > split.Test.From {
			return nil, segue.Errorf(segue.Invalid, "--model %s was trained on the history up to %s, which is in the test period from %s on",
				name, t.Until, split.Test.From)
		}
		if slices.ContainsFunc(list, func(other trainer.Trained) bool { return other.Until == t.Until }) && len(manifest.Seeds) > 0 {
			t.Label = fmt.Sprintf("seed-%d", manifest.Seeds[0])
		}
		list = append(list, t)
	}
	return list, nil
}

// bounds returns the ends of the three periods.
func (f *backtestFlags) bounds() (bounds [3]segue.Time, err error) {
	for i, flag := range []struct{ name, value string }{
		{"train-until", f.trainUntil}, {"tune-until", f.tuneUntil}, {"test-until", f.testUntil},
	} {
		if bounds[i], err = cli.Instant(flag.name, flag.value); err != nil {
			return bounds, err
		}
	}
	return bounds, nil
}

func (f *backtestFlags) families() ([]policy.Family, error) {
	if len(f.policies) == 0 {
		return policy.Families(), nil
	}
	var list []policy.Family
	all := policy.Families()
	for _, name := range f.policies {
		i := slices.IndexFunc(all, func(family policy.Family) bool { return family.Name == name })
		if i < 0 {
			return nil, segue.Errorf(segue.Invalid, "--policy %q: want one of %s", name, strings.Join(policyNames(), ", "))
		}
		list = append(list, all[i])
	}
	return list, nil
}

func firstSubmit(jobs []simulator.Job) segue.Time {
	first := segue.Never
	for i := range jobs {
		first = min(first, jobs[i].Submit)
	}
	return first
}
