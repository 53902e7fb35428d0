//go:build native

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/learning"
)

// recordedFlags are the flags of segue-trainer recorded.
type recordedFlags struct {
	history            cli.History
	scheduler          cli.Scheduler
	from, until        string
	forecasts          []string
	retrain, halfLife  time.Duration
	replicas           int
	seed               uint64
	given, drop        bool
	blind              []string
	json, markdown     bool
	testFrom, testEnds segue.Time
}

func newRecordedCommand() *cobra.Command {
	var f recordedFlags
	cmd := &cobra.Command{
		Use:   "recorded",
		Short: "Judge forecasts by the waits that a history recorded",
		Long: `Recorded goes through a job history. At every submission it asks for forecasts of
the wait, knowing what the history had shown by then, and compares them with the
wait that was recorded: trees, trained again and again on what was known so far,
and baselines by recent waits and by simulation, each also recalibrated online.

It reports all jobs that started, and of these the ones that their own users' jobs
did not hold back ('segue trace infer' says how that is told). Waits of up to a
minute count as none.`,
		Example: `  segue-trainer recorded --trace jobs.log --nodes 76 --test-from 2022-12-01
  segue-trainer recorded --trace jobs.log --nodes 76 --test-from 2022-12-01 --retrain 0 --forecast thresholds,aft`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	f.history.Add(flags)
	f.scheduler.Add(flags, "nodes", "nodes of the cluster, until the history says more (required)")
	flags.StringVar(&f.from, "test-from", "", "judge the jobs submitted from this instant on (required)")
	flags.StringVar(&f.until, "test-until", "", "and before this one (default all)")
	flags.StringSliceVar(&f.forecasts, "forecast", []string{string(waits.Thresholds), string(waits.Forest)}, "kinds of trees: thresholds, aft, quantiles, forest; of several there is also a blend")
	flags.DurationVar(&f.retrain, "retrain", 7*24*time.Hour, "time between trainings; 0 trains at the beginning of every month")
	flags.DurationVar(&f.halfLife, "half-life", 0, "age at which an outcome counts half in the recalibration of trees; 0 is four days")
	flags.StringSliceVar(&f.blind, "blind", nil, "hide features whose names begin like this from the trees, such as own.")
	flags.BoolVar(&f.drop, "drop-censored", false, "let the trees learn from waits that are over only")
	flags.BoolVar(&f.given, "given", false, "let forecasters believe --nodes and the flags of the scheduler, not what the history gives away day by day")
	flags.IntVar(&f.replicas, "replicas", 12, "simulated futures of a Monte Carlo forecast")
	flags.Uint64Var(&f.seed, "seed", 1, "decides all that is random")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	flags.BoolVar(&f.markdown, "markdown", false, "print the tables in Markdown")
	return cmd
}

func (f *recordedFlags) run(cmd *cobra.Command) error {
	cfg, err := f.config(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	steps := newStepper(cmd.ErrOrStderr())
	cfg.Progress = func(done, total int) { steps.report("submissions asked about", done, total, "") }
	asked, err := trainer.AskRecorded(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	origins := trainer.RecordedOrigins(f.testFrom, f.testEnds, f.retrain)
	learned, err := f.learned(cmd.Context(), asked, origins, steps)
	steps.done()
	if err != nil {
		return err
	}
	report, err := trainer.JudgeRecorded(asked, trainer.Baselines(asked, origins), learned, f.testFrom, f.testEnds, f.seed)
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
			From  string `json:"from"`
			Until string `json:"until"`
			trainer.RecordedReport
		}{report.From.String(), report.Until.String(), report})
	}
	return recordedTables{w: cmd.OutOrStdout(), markdown: f.markdown}.print(report)
}

// config reads the flags and the history. Submissions from the history's
// beginning on are asked about: trees learn from the earlier ones. What is wrong
// with records is said on w.
func (f *recordedFlags) config(w io.Writer) (trainer.RecordedConfig, error) {
	var cfg trainer.RecordedConfig
	var err error
	if f.testFrom, err = cli.Instant("test-from", f.from); err != nil {
		return cfg, err
	}
	if f.until != "" {
		if f.testEnds, err = cli.Instant("test-until", f.until); err != nil {
			return cfg, err
		}
	}
	for _, kind := range f.forecasts {
		if err := learning.CheckKind(waits.Kind(kind)); err != nil {
			return cfg, fmt.Errorf("--forecast: %w", err)
		}
	}
	switch {
	case len(f.forecasts) == 0:
		return cfg, segue.Errorf(segue.Invalid, "--forecast is empty: name at least one kind of trees")
	case f.retrain < 0 || (f.retrain > 0 && f.retrain < time.Hour):
		return cfg, segue.Errorf(segue.Invalid, "--retrain %s: want 0 (monthly), or an hour or more", f.retrain)
	}
	if cfg.Cluster, err = f.scheduler.Config(); err != nil {
		return cfg, err
	}
	h, err := f.history.LoadAloud(w)
	if err != nil {
		return cfg, err
	}
	if f.until == "" {
		for i := range h.Jobs {
			f.testEnds = max(f.testEnds, h.Jobs[i].Submit+1)
		}
	}
	if f.testFrom >= f.testEnds {
		return cfg, segue.Errorf(segue.Invalid, "--test-from %s: want an instant before the end of the test, %s", f.testFrom, f.testEnds)
	}
	cfg.History, cfg.Until, cfg.Given = h.Jobs, f.testEnds, f.given
	cfg.Monte = predictor.MonteCarloConfig{Replicas: f.replicas, Seed: f.seed}
	return cfg, nil
}

// learned returns the forecasts of every kind of trees, and of several kinds their
// average.
func (f *recordedFlags) learned(ctx context.Context, asked []trainer.Asked, origins []segue.Time, steps *stepper) ([]trainer.Foretold, error) {
	var all, raw []trainer.Foretold
	for _, kind := range f.forecasts {
		list, err := learning.ForetellRecorded(ctx, asked, origins, learning.RecordedConfig{
			Kind: waits.Kind(kind), Seed: f.seed, Blind: f.blind, DropCensored: f.drop, HalfLife: f.halfLife,
			Progress: func(step string, round, rounds int, loss float64) {
				steps.report(kind+" "+step, round, rounds, fmt.Sprintf("loss %.4f", loss))
			},
		})
		if err != nil {
			return nil, err
		}
		for i := range list {
			list[i].Name += " (" + kind + ")"
		}
		all, raw = append(all, list...), append(raw, list[0])
	}
	if len(raw) > 1 {
		blend := trainer.Blend(asked, waits.Source+" (blend)", raw...)
		all = append(all, blend, trainer.RecalibrateOnline(asked, blend.Name, blend.Forecasts, f.halfLife))
	}
	return all, nil
}
