package trainer

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
)

// BacktestConfig says what to backtest. Replays, Pair and Split are required.
type BacktestConfig struct {
	// Replays are measured each; the first gives the headline, and all are put
	// under stress.
	Replays []Replay
	Pair    segue.Shape
	Split   evaluation.Split
	Prefer  segue.Preference // default balanced
	// Families are the policies; default policy.Families().
	Families []policy.Family
	// Rolling adds a rolling origin over the months before the end of the test
	// period.
	Rolling bool
	// Stress adds the stress runs.
	Stress  bool
	Every   time.Duration // between starts; default 4 hours
	Grid    outcomes.Grid
	Monte   predictor.MonteCarloConfig
	Seed    uint64 // of the draws and of the bootstrap; default 1
	Workers int
	// Progress, when not nil, is told the number of episodes done and to do. It
	// is called from several goroutines.
	Progress func(done, total int)
}

func (c BacktestConfig) withDefaults() BacktestConfig {
	if c.Families == nil {
		c.Families = policy.Families()
	}
	if c.Every == 0 {
		c.Every = 4 * time.Hour
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Monte.Seed == 0 {
		c.Monte.Seed = c.Seed
	}
	return c
}

// stressEvery thins the starts of the stress runs: their intervals are wide in
// any case, and there are eight of them.
const stressEvery = 2

// BacktestResult is a backtest with what its pictures need.
type BacktestResult struct {
	Report evaluation.Report
	// Test holds the episodes of the headline's test period.
	Test []Episode
}

// Backtest replays the history, collects the episodes of every period and
// measures every policy on them. A policy's parameter is chosen on the tuning
// period and nothing of the test period is used before it is scored.
func Backtest(ctx context.Context, cfg BacktestConfig) (BacktestResult, error) {
	cfg = cfg.withDefaults()
	if len(cfg.Replays) == 0 {
		return BacktestResult{}, segue.Errorf(segue.Invalid, "backtest: no replay")
	}
	b := backtest{BacktestConfig: cfg, measure: evaluation.Config{Prefer: cfg.Prefer, Seed: cfg.Seed}}
	for _, f := range cfg.Families {
		if slices.Contains(policy.Planners(), f.Name) {
			b.measure.Planners = append(b.measure.Planners, f.Name)
		}
	}
	b.plan()
	result, err := b.run(ctx)
	if err != nil {
		return BacktestResult{}, fmt.Errorf("backtest: %w", err)
	}
	return result, nil
}

// backtest is a backtest under way.
type backtest struct {
	BacktestConfig
	measure     evaluation.Config
	months      []evaluation.Split
	done, total atomic.Int64
}

// plan counts the episodes to come.
func (b *backtest) plan() {
	if b.Rolling {
		span := evaluation.Period{From: b.Replays[0].span().From, To: b.Split.Test.To}
		b.months = evaluation.RollingMonths(span, 1, b.Split.Embargo)
	}
	n := len(b.starts(b.firstStart(), b.Split.Test.To, 1))
	n += (len(b.Replays) - 1) * len(b.starts(b.Split.Tune.From, b.Split.Test.To, 1))
	if b.Stress {
		n += len(b.Replays) * len(stresses()) * len(b.starts(b.Split.Test.From, b.Split.Test.To, stressEvery))
	}
	b.total.Store(int64(n))
}

// firstStart returns the first start of the headline's episodes.
func (b *backtest) firstStart() segue.Time {
	first := b.Split.Tune.From
	if len(b.months) > 0 {
		first = min(first, b.months[0].Tune.From)
	}
	return first
}

func (b *backtest) starts(from, until segue.Time, thin int) []segue.Time {
	return Starts(from, until, time.Duration(thin)*b.Every)
}

func (b *backtest) run(ctx context.Context) (BacktestResult, error) {
	result := BacktestResult{Report: evaluation.Report{
		PairNodes: b.Pair.Nodes, PairTime: b.Pair.Limit.String(), Periods: b.Split,
	}}
	for i, r := range b.Replays {
		from := b.Split.Tune.From
		if i == 0 {
			from = b.firstStart()
		}
		episodes, err := b.collect(ctx, r, r, b.starts(from, b.Split.Test.To, 1))
		if err != nil {
			return result, err
		}
		trial := Trial(episodes, b.Families)
		run := b.runOf("", b.Split, trial, trial)
		scores, err := evaluation.Backtest(run, b.measure)
		if err != nil {
			return result, err
		}
		if i == 0 {
			result.Report.Result = scores
			result.Test = within(episodes, b.Split.Test, b.Split.Embargo)
			if err := b.roll(trial, &result.Report); err != nil {
				return result, err
			}
		} else {
			result.Report.Stress = append(result.Report.Stress, evaluation.Stress{
				Name: r.Name, What: "tuned and tested on the " + r.Name + " replay", Result: scores,
			})
		}
		if b.Stress {
			if err := b.stress(ctx, r, run.Tune, &result.Report); err != nil {
				return result, err
			}
		}
	}
	return result, nil
}

func (b *backtest) runOf(label string, split evaluation.Split, tune, test evaluation.Trial) evaluation.Run {
	return evaluation.Run{
		Label: label, Split: split,
		Tune: tune.In(split.Tune, split.Embargo), Test: test.In(split.Test, split.Embargo),
	}
}

// roll scores month after month, each with what was known before it.
func (b *backtest) roll(trial evaluation.Trial, report *evaluation.Report) error {
	if len(b.months) == 0 {
		return nil
	}
	var runs []evaluation.Run
	for _, split := range b.months {
		runs = append(runs, b.runOf(split.Test.From.Std().Format("2006-01"), split, trial, trial))
	}
	rolling, err := evaluation.Roll(runs, b.measure)
	if err != nil {
		return err
	}
	report.Rolling = &rolling
	return nil
}

// stress scores the policies, tuned as before, on clusters that differ from
// what the forecasters believe.
func (b *backtest) stress(ctx context.Context, known Replay, tune evaluation.Trial, report *evaluation.Report) error {
	for _, s := range stresses() {
		changed := s.change(known, b.Split.Test)
		episodes, err := b.collect(ctx, changed, known, b.starts(b.Split.Test.From, b.Split.Test.To, stressEvery))
		if err != nil {
			return fmt.Errorf("stress %s: %w", s.name, err)
		}
		name, what := s.describe(known)
		test := Trial(episodes, b.Families).In(b.Split.Test, b.Split.Embargo)
		scores, err := evaluation.Backtest(evaluation.Run{Label: name, Split: b.Split, Tune: tune, Test: test}, b.measure)
		if err != nil {
			return fmt.Errorf("stress %s: %w", s.name, err)
		}
		report.Stress = append(report.Stress, evaluation.Stress{Name: name, What: what, Result: scores})
	}
	return nil
}

// collect returns the episodes of a replay, with forecasters that believe in
// the cluster of known.
func (b *backtest) collect(ctx context.Context, r, known Replay, starts []segue.Time) ([]Episode, error) {
	setup := Setup{
		Cluster: r.Cluster, Jobs: r.Jobs, Pair: b.Pair, Grid: b.Grid, Every: b.Every, MonteCarlo: b.Monte, Workers: b.Workers,
		Known: &known.Cluster,
	}
	return Collect(ctx, setup, starts, func(int) {
		if n := b.done.Add(1); b.Progress != nil {
			b.Progress(int(n), int(b.total.Load()))
		}
	})
}

func within(episodes []Episode, p evaluation.Period, embargo time.Duration) []Episode {
	var list []Episode
	for _, e := range episodes {
		if p.Holds(e.Curve.Submit, embargo) {
			list = append(list, e)
		}
	}
	return list
}
