package trainer

import (
	"context"
	"errors"
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
	// Models adds the policies of trained models: see Trained.
	Models []Trained
	// Rolling adds a rolling origin over the months before the end of the test
	// period, on every replay. With Models it has the months only of which a model
	// had not seen the test period.
	Rolling bool
	// Stress adds the stress runs.
	Stress  bool
	Every   time.Duration // between starts; default 4 hours
	Grid    outcomes.Grid
	Monte   predictor.MonteCarloConfig
	Seed    uint64 // of the draws and of the bootstrap; default 1
	Workers int
	// Replicates of the bootstrap; default 2,000.
	Replicates int
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
	if c.Prefer == 0 {
		c.Prefer = segue.Balanced
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Monte.Seed == 0 {
		c.Monte.Seed = c.Seed
	}
	return c
}

// lastDay is how much longer than the history the test period may be: it ends
// at midnight as a rule, and the last job comes some hours before.
const lastDay = 24 * time.Hour

func (c BacktestConfig) validate() error {
	if len(c.Replays) == 0 {
		return segue.Errorf(segue.Invalid, "no replay")
	}
	if c.Every < time.Minute {
		return segue.Errorf(segue.Invalid, "a start every %s, want at least a minute between two", c.Every)
	}
	if !(c.Prefer >= 0) {
		return segue.Errorf(segue.Invalid, "the preference is %v, want more than 0, or 0 for balanced", float64(c.Prefer))
	}
	seen := map[string]bool{}
	for _, f := range c.Families {
		if seen[f.Name] {
			return segue.Errorf(segue.Invalid, "the policy %s is there twice", f.Name)
		}
		seen[f.Name] = true
	}
	for _, r := range c.Replays {
		if err := c.setup(r, r).validate(); err != nil {
			return err
		}
		if last := r.span().To; c.Split.Test.To > last.Add(min(lastDay, c.Split.Embargo)) {
			return segue.Errorf(segue.Invalid, "the test period ends at %s, but the last job of the history is submitted at %s", c.Split.Test.To, last)
		}
	}
	return nil
}

// setup returns how the pairs are probed on a replay, with forecasters that
// believe in the cluster of known.
func (c BacktestConfig) setup(r, known Replay) Setup {
	s := Setup{
		Cluster: r.Cluster, Jobs: r.Jobs, Pair: c.Pair, Grid: c.Grid, MonteCarlo: c.Monte, Workers: c.Workers, Known: &known.Cluster,
		KnownJobs: known.Jobs, Forecasters: []string{}, Describe: len(c.Models) > 0,
	}
	for _, f := range c.Families {
		s.Forecasters = append(s.Forecasters, f.Forecaster)
	}
	return s
}

// stressEvery thins the starts of the stress runs: their intervals are wide in
// any case, and there are eight of them.
const stressEvery = 4

// BacktestResult is a backtest with what its pictures need.
type BacktestResult struct {
	Report evaluation.Report
	// Test holds the episodes of the headline's test period.
	Test []Episode

	turned []Turnout // the Monte Carlo forecasts of the headline's replay
}

// Backtest replays the history, collects the episodes of every period and
// measures every policy on them. A policy's parameter is chosen on the tuning
// period and nothing of the test period is used before it is scored.
func Backtest(ctx context.Context, cfg BacktestConfig) (BacktestResult, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return BacktestResult{}, fmt.Errorf("backtest: %w", err)
	}
	b := backtest{BacktestConfig: cfg, measure: evaluation.Config{Prefer: cfg.Prefer, Seed: cfg.Seed, Replicates: cfg.Replicates}}
	for _, f := range cfg.Families {
		if slices.Contains(policy.Planners(), f.Name) {
			b.measure.Planners = append(b.measure.Planners, f.Name)
		}
	}
	for _, f := range cfg.Families {
		b.families = append(b.families, Ruled(f))
		if f.Form == policy.Quantile && (f.Forecaster == predictor.MonteCarloName || f.Forecaster == policy.Corrected) {
			b.families = append(b.families, untunedRule(f, cfg.Prefer))
		}
	}
	if err := b.plan(); err != nil {
		return BacktestResult{}, fmt.Errorf("backtest: %w", err)
	}
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
	families    []Contender
	models      []Trained // that the headline is about
	months      []month
	done, total atomic.Int64
}

// month is one run of a rolling origin.
type month struct {
	evaluation.Split
	models []Trained
}

// plan chooses the models and the months, and counts the episodes to come.
func (b *backtest) plan() error {
	if err := alike(b.Models); err != nil {
		return err
	}
	if b.models = unseen(b.Models, b.Split); len(b.models) == 0 && len(b.Models) > 0 {
		return segue.Errorf(segue.Invalid, "no model learned from what was before the test period only, which begins at %s", b.Split.Test.From)
	}
	if b.Rolling {
		span := evaluation.Period{From: b.Replays[0].span().From, To: b.Split.Test.To}
		for _, split := range evaluation.RollingMonths(span, 1, b.Split.Embargo) {
			if models := unseen(b.Models, split); len(models) > 0 || len(b.Models) == 0 {
				b.months = append(b.months, month{split, models})
			}
		}
	}
	n := 0
	for i, r := range b.Replays {
		n += len(b.starts(i))
		if b.Stress {
			n += len(b.stresses(r)) * len(b.stressStarts())
		}
	}
	b.total.Store(int64(n))
	return nil
}

// monthEvery thins, on every replay but the first, the starts of months that are
// neither tuned nor tested on for the headline.
const monthEvery = 3

// starts returns the starts on the replay of index i: those of the tuning and the
// test period and of the months.
func (b *backtest) starts(i int) []segue.Time {
	headline := []evaluation.Period{b.Split.Tune, b.Split.Test}
	var months []evaluation.Period
	for _, m := range b.months {
		months = append(months, m.Tune, m.Test)
	}
	if i == 0 {
		return b.startsIn(b.firstStart(), b.Every, slices.Concat(headline, months)...)
	}
	starts := b.startsIn(b.Split.Tune.From, b.Every, headline...)
	for _, at := range b.startsIn(b.firstStart(), monthEvery*b.Every, months...) {
		if at < b.Split.Tune.From {
			starts = append(starts, at)
		}
	}
	slices.Sort(starts)
	return starts
}

func (b *backtest) stressStarts() []segue.Time {
	return b.startsIn(b.Split.Test.From, stressEvery*b.Every, b.Split.Test)
}

// startsIn returns the starts from an instant on that belong to a period.
func (b *backtest) startsIn(from segue.Time, every time.Duration, periods ...evaluation.Period) []segue.Time {
	return slices.DeleteFunc(Starts(from, b.Split.Test.To, every), func(at segue.Time) bool {
		return !slices.ContainsFunc(periods, func(p evaluation.Period) bool { return p.Holds(at, b.Split.Embargo) })
	})
}

// firstStart returns the first start of the episodes. The starts of
// the tuning and the test period are the same with and without the months.
func (b *backtest) firstStart() segue.Time {
	first := b.Split.Tune.From
	for len(b.months) > 0 && first.Add(-b.Every) >= b.months[0].Tune.From {
		first = first.Add(-b.Every)
	}
	return first
}

func (b *backtest) run(ctx context.Context) (BacktestResult, error) {
	result := BacktestResult{Report: evaluation.Report{
		PairNodes: b.Pair.Nodes, PairTime: b.Pair.Limit.String(), Periods: b.Split,
	}}
	for _, m := range b.models {
		result.Report.Notes = append(result.Report.Notes, m.Notes...)
	}
	for i, r := range b.Replays {
		episodes, err := b.collect(ctx, r, r, b.starts(i))
		if err != nil {
			return result, err
		}
		turned := CorrectPlanner(episodes, nil)
		base, err := Trial(episodes, b.families)
		if err != nil {
			return result, err
		}
		run, seen, err := b.score(ctx, episodes, base, "", month{b.Split, b.models})
		if err != nil {
			return result, err
		}
		scores, err := evaluation.Backtest(run, b.measure)
		if err != nil {
			return result, err
		}
		rolling, err := b.roll(ctx, episodes, base)
		if err != nil {
			return result, err
		}
		if i == 0 {
			result.Report.Result, result.Report.Rolling = scores, rolling
			result.Test = judged(episodes, b.Split.Test, b.Split.Embargo)
			result.turned = turned
		} else {
			result.Report.Stress = append(result.Report.Stress, evaluation.Stress{
				Name: r.Name, What: "tuned and tested on the " + r.Name + " replay", Result: scores, Rolling: rolling,
			})
		}
		if b.Stress {
			if err := b.stress(ctx, r, run.Tune, b.before(turned), seen, &result.Report); err != nil {
				return result, err
			}
		}
	}
	return result, nil
}

// score returns the run of a split: base, which has the families' outcomes on all
// episodes, and on those of the split the models'. It returns too how the
// forecasts of each model turned out.
func (b *backtest) score(ctx context.Context, episodes []Episode, base evaluation.Trial, label string, m month) (evaluation.Run, []told, error) {
	span := evaluation.Period{From: m.Tune.From, To: m.Test.To}
	within := during(episodes, span)
	trial, seen, err := b.withModels(ctx, base.In(span, 0), within, decided(within, m.Test, m.Embargo), m.models, nil)
	if err != nil {
		return evaluation.Run{}, nil, err
	}
	run, err := runOf(label, m.Split, within, trial)
	for _, t := range seen {
		run.Coverage = append(run.Coverage, t.coverage)
	}
	return run, seen, err
}

// during returns the episodes that begin in a period.
func during(episodes []Episode, p evaluation.Period) []Episode {
	var list []Episode
	for _, e := range episodes {
		if p.Holds(e.Curve.Submit, 0) {
			list = append(list, e)
		}
	}
	return list
}

// errNoStart says that nothing of a period can be judged.
var errNoStart = errors.New("no start whose outcome is known by its end")

// runOf returns the run of one split.
func runOf(label string, split evaluation.Split, episodes []Episode, trial evaluation.Trial) (evaluation.Run, error) {
	run := evaluation.Run{
		Label: label, Split: split,
		Tune: trial.In(decided(episodes, split.Tune, split.Embargo), 0),
		Test: trial.In(decided(episodes, split.Test, split.Embargo), 0),
	}
	for _, part := range []struct {
		name   string
		period evaluation.Period
		trial  evaluation.Trial
	}{{"tuning", split.Tune, run.Tune}, {"test", split.Test, run.Test}} {
		if part.trial.Len() == 0 {
			return run, segue.Errorf(segue.Invalid, "the %s period from %s to %s has %w", part.name, part.period.From, part.period.To, errNoStart)
		}
	}
	return run, nil
}

// decided returns the part of a period that may be judged: up to the first start
// of which the outcome was not known by the period's end. Starts after that are
// left out whether they were decided or not, since to keep the quick ones would
// make the queue look short. So nothing that happened after a period bears on
// its scores.
func decided(episodes []Episode, p evaluation.Period, embargo time.Duration) evaluation.Period {
	known := evaluation.Period{From: p.From, To: min(p.To, p.To.Add(-embargo)+1)}
	for i := range episodes {
		if c := &episodes[i].Curve; p.Holds(c.Submit, embargo) && c.Decided() >= p.To {
			known.To = min(known.To, c.Submit)
		}
	}
	return known
}

// roll scores month after month, each with what was known before it. A month
// without a start that can be judged is left out; nil when there is none.
func (b *backtest) roll(ctx context.Context, episodes []Episode, base evaluation.Trial) (*evaluation.Rolling, error) {
	var runs []evaluation.Run
	for _, m := range b.months {
		run, _, err := b.score(ctx, episodes, base, m.Test.From.Std().Format("2006-01"), m)
		switch {
		case errors.Is(err, errNoStart):
		case err != nil:
			return nil, err
		default:
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	rolling, err := evaluation.Roll(runs, b.measure)
	return &rolling, err
}

// stress scores the policies, tuned as before, on clusters that differ from
// what the forecasters believe. A cluster without a start that can be judged is
// left out.
func (b *backtest) stress(
	ctx context.Context, known Replay, tune evaluation.Trial, turned []Turnout, seen []told, report *evaluation.Report,
) error {
	before := make([]told, len(seen))
	for i := range seen {
		before[i].turnouts = b.before(seen[i].turnouts)
	}
	for _, s := range b.stresses(known) {
		scores, err := b.stressed(ctx, s, known, tune, turned, before)
		if errors.Is(err, errNoStart) {
			continue
		}
		if err != nil {
			return fmt.Errorf("stress %s: %w", s.name, err)
		}
		name, what := s.describe(known)
		report.Stress = append(report.Stress, evaluation.Stress{Name: name, What: what, Result: scores})
	}
	return nil
}

// before returns what was known of turnouts before the test period, as thinly as a
// stress run has starts: else the cluster as it was outweighs what it has become.
func (b *backtest) before(list []Turnout) []Turnout {
	return slices.DeleteFunc(slices.Clone(list), func(t Turnout) bool {
		return t.Left >= b.Split.Test.From || b.Split.Test.From.Sub(t.episode)%(stressEvery*b.Every) != 0
	})
}

func (b *backtest) stressed(
	ctx context.Context, s stress, known Replay, tune evaluation.Trial, turned []Turnout, before []told,
) (evaluation.Result, error) {
	episodes, err := b.collect(ctx, s.change(known, b.Split.Test), known, b.stressStarts())
	if err != nil {
		return evaluation.Result{}, err
	}
	CorrectPlanner(episodes, turned)
	trial, err := Trial(episodes, b.families)
	if err != nil {
		return evaluation.Result{}, err
	}
	judged := decided(episodes, b.Split.Test, b.Split.Embargo)
	trial, seen, err := b.withModels(ctx, trial, episodes, judged, b.models, before)
	if err != nil {
		return evaluation.Result{}, err
	}
	run := evaluation.Run{Label: s.name, Split: b.Split, Tune: tune, Test: trial.In(judged, 0)}
	if run.Test.Len() == 0 {
		return evaluation.Result{}, errNoStart
	}
	for _, t := range seen {
		run.Coverage = append(run.Coverage, t.coverage)
	}
	return evaluation.Backtest(run, b.measure)
}

// collect returns the episodes of a replay, with forecasters that believe in
// the cluster of known.
func (b *backtest) collect(ctx context.Context, r, known Replay, starts []segue.Time) ([]Episode, error) {
	setup := b.setup(r, known)
	episodes, err := Collect(ctx, setup, starts, func(int) {
		if n := b.done.Add(1); b.Progress != nil {
			b.Progress(int(n), int(b.total.Load()))
		}
	})
	if err != nil || !slices.ContainsFunc(b.Models, func(m Trained) bool { return len(m.Published) > 0 }) {
		return episodes, err
	}
	return episodes, setup.watch(ctx, episodes)
}

// judged returns the episodes of a period that may be judged.
func judged(episodes []Episode, p evaluation.Period, embargo time.Duration) []Episode {
	known := decided(episodes, p, embargo)
	var list []Episode
	for _, e := range episodes {
		if known.Holds(e.Curve.Submit, 0) {
			list = append(list, e)
		}
	}
	return list
}
