//go:build native

package learning

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/xgboost"
)

// TreesConfig says how the forecast of waits is fitted. The zero value works.
type TreesConfig struct {
	Kind   waits.Kind    // default waits.Thresholds
	Step   time.Duration // between the leads that are learned from; default 2 hours
	Rounds int           // at most; default 400
	Seed   uint64        // default 1
	// Threads of libxgboost; default 2.
	Threads int
	// Progress, when not nil, is told the step under way and how far it is.
	Progress func(step string, round, rounds int, loss float64)
}

func (c TreesConfig) withDefaults() TreesConfig {
	if c.Kind == "" {
		c.Kind = waits.Thresholds
	}
	if c.Step == 0 {
		c.Step = 2 * time.Hour
	}
	if c.Rounds == 0 {
		c.Rounds = 400
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Threads == 0 {
		c.Threads = 2
	}
	return c
}

// Forecast is a fitted forecast of waits.
type Forecast struct {
	Spec waits.Spec
	// Ensembles is the model fitted on everything; Held[f] the ones that never
	// saw fold f.
	Ensembles [][]byte
	Held      [folds][][]byte
	// Rounds is how many rounds were best on the held-out folds.
	Rounds []int
	// Losses are those of every fit, in the order of the fits.
	Losses []LossCurve
}

// LossCurve is the loss of one fit of trees after every round: on the rows that
// were held out, where there were some, else on those that were fitted.
type LossCurve struct {
	Step string // as TreesConfig.Progress is told
	Loss []float64
}

// note keeps the loss of the next round of a step.
func (f *Forecast) note(step string, loss float64) {
	if n := len(f.Losses); n == 0 || f.Losses[n-1].Step != step {
		f.Losses = append(f.Losses, LossCurve{Step: step})
	}
	last := &f.Losses[len(f.Losses)-1]
	last.Loss = append(last.Loss, loss)
}

// FitWaits fits the forecast of waits: once without each fold of time, stopping
// early by the loss on the fold, and then on everything with the rounds that were
// best.
func FitWaits(ctx context.Context, streams []trainer.Stream, cfg TreesConfig) (*Forecast, error) {
	cfg = cfg.withDefaults()
	samples := samplesOf(streams, cfg.Step)
	if len(samples) == 0 {
		return nil, segue.Errorf(segue.Invalid, "fit the forecast of waits: no samples")
	}
	b := blocksOf(streams)
	f := &Forecast{Spec: specOf(cfg.Kind)}
	tell := cfg.Progress
	cfg.Progress = func(step string, round, rounds int, loss float64) {
		f.note(step, loss)
		if tell != nil {
			tell(step, round, rounds, loss)
		}
	}
	for fold := range folds {
		fit := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return b.part(s.submit, fold) != fitted })
		judge := slices.DeleteFunc(slices.Clone(samples), func(s sample) bool { return b.part(s.submit, fold) != heldOut })
		if len(fit) == 0 || len(judge) == 0 {
			continue // a history too short for all folds
		}
		step := fmt.Sprintf("trees without fold %d of %d", fold+1, folds)
		ensembles, rounds, err := cfg.fit(ctx, step, fit, judge, cfg.Rounds)
		if err != nil {
			return nil, fmt.Errorf("fit the forecast of waits: %s: %w", step, err)
		}
		f.Held[fold], f.Rounds = ensembles, append(f.Rounds, rounds)
	}
	if len(f.Rounds) == 0 {
		return nil, segue.Errorf(segue.Invalid, "fit the forecast of waits: a history of less than %d days", int((blockLength+embargo).Hours()/24))
	}
	rounds := slices.Clone(f.Rounds)
	slices.Sort(rounds)
	var err error
	if f.Ensembles, _, err = cfg.fit(ctx, "trees on everything", samples, nil, rounds[len(rounds)/2]); err != nil {
		return nil, fmt.Errorf("fit the forecast of waits: %w", err)
	}
	return f, nil
}

// quantileLevels are those of the Quantiles kind.
var quantileLevels = []float64{0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.92, 0.97}

// aftScale is the scale of the AFT kind, in logarithms of hours.
const aftScale = 1.0

func specOf(kind waits.Kind) waits.Spec {
	s := waits.Spec{Kind: kind}
	switch kind {
	case waits.AFT:
		s.Scale = aftScale
	case waits.Quantiles:
		s.Levels = quantileLevels
	}
	return s
}

// fit fits the ensembles of one forecast and returns them with the rounds that
// the judges liked best; without judges it runs all rounds.
func (c TreesConfig) fit(ctx context.Context, step string, fit, judge []sample, rounds int) ([][]byte, int, error) {
	base := xgboost.Config{
		Rounds: rounds, MaxDepth: 6, LearningRate: 0.08, Subsample: 0.7, ColumnsByTree: 0.6, MinChildWeight: 20, Lambda: 5,
		Seed: int32(c.Seed), Threads: c.Threads,
	}
	if judge != nil {
		base.EarlyStopping = 25
	}
	switch c.Kind {
	case waits.Thresholds:
		rng := rand.New(rand.NewPCG(c.Seed, 1))
		base.Objective = xgboost.Logistic
		base.Monotone = make([]int8, len(predictor.FeatureNames())+1)
		base.Monotone[len(base.Monotone)-1] = 1
		return c.one(ctx, step, base, thresholdRows(fit, rng), thresholdRows(judge, rng))
	case waits.AFT:
		base.Objective, base.AFTScale = xgboost.AFT, aftScale
		return c.one(ctx, step, base, rowsOf(fit), rowsOf(judge))
	case waits.Forest:
		forest := xgboost.Forest(100)
		forest.MaxDepth, forest.MinChildWeight, forest.ColumnsByNode = 12, 20, 0.4
		forest.Seed, forest.Threads = int32(c.Seed), c.Threads
		return c.one(ctx, step, forest, rowsOf(fit), rows{})
	}
	return c.quantiles(ctx, step, base, rowsOf(fit), rowsOf(judge))
}

// one fits a single ensemble.
func (c TreesConfig) one(ctx context.Context, step string, cfg xgboost.Config, fit, judge rows) ([][]byte, int, error) {
	train, err := matrixOf(fit, cfg.Objective)
	if err != nil {
		return nil, 0, err
	}
	defer train.Close()
	var valid *xgboost.Matrix
	if judge.count() > 0 {
		if valid, err = matrixOf(judge, cfg.Objective); err != nil {
			return nil, 0, err
		}
		defer valid.Close()
	}
	booster, err := xgboost.Train(ctx, cfg, train, valid, c.report(step))
	if err != nil {
		return nil, 0, err
	}
	return exported(booster)
}

func (c TreesConfig) report(step string) func(xgboost.Progress) {
	if c.Progress == nil {
		return nil
	}
	return func(p xgboost.Progress) {
		loss := p.ValidLoss
		if loss != loss { // no judges
			loss = p.TrainLoss
		}
		c.Progress(step, p.Round, p.Rounds, loss)
	}
}

func exported(booster *xgboost.Booster) ([][]byte, int, error) {
	defer booster.Close()
	rounds, err := booster.Rounds()
	if err != nil {
		return nil, 0, err
	}
	model, err := booster.JSON()
	if err != nil {
		return nil, 0, err
	}
	data, err := xgboost.Export(model)
	return [][]byte{data}, rounds, err
}

func matrixOf(r rows, objective string) (*xgboost.Matrix, error) {
	m, err := xgboost.NewMatrix(r.values, r.count(), r.width)
	if err != nil {
		return nil, err
	}
	if objective == xgboost.AFT {
		waits := make([]float32, len(r.labels))
		for i, l := range r.labels {
			waits[i] = expOf(l)
		}
		err = m.SetBounds(waits, waits)
	} else {
		err = m.SetLabels(r.labels)
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// quantiles fits one ensemble for every level, by the gradient of the pinball
// loss with a constant curvature.
func (c TreesConfig) quantiles(ctx context.Context, step string, cfg xgboost.Config, fit, judge rows) ([][]byte, int, error) {
	train, err := matrixOf(fit, "")
	if err != nil {
		return nil, 0, err
	}
	defer train.Close()
	var valid *xgboost.Matrix
	if judge.count() > 0 {
		if valid, err = matrixOf(judge, ""); err != nil {
			return nil, 0, err
		}
		defer valid.Close()
	}
	cfg.LearningRate, cfg.Lambda = 0.3, 1e-5
	var all [][]byte
	most := 0
	for _, level := range quantileLevels {
		booster, err := xgboost.TrainWith(ctx, cfg, train, valid, pinballGradient(level, fit.labels), pinballLoss(level, fit.labels, judge.labels),
			c.report(fmt.Sprintf("%s, quantile %g", step, level)))
		if err != nil {
			return nil, 0, err
		}
		data, rounds, err := exported(booster)
		if err != nil {
			return nil, 0, err
		}
		all, most = append(all, data...), max(most, rounds)
	}
	return all, most, nil
}

func pinballGradient(level float64, labels []float32) func(margins, grad, hess []float32) {
	return func(margins, grad, hess []float32) {
		for i, m := range margins {
			grad[i], hess[i] = float32(1-level), 1
			if m < labels[i] {
				grad[i] = float32(-level)
			}
		}
	}
}

func pinballLoss(level float64, fit, judge []float32) func(margins []float32, valid bool) float64 {
	return func(margins []float32, valid bool) float64 {
		labels := fit
		if valid {
			labels = judge
		}
		sum := 0.0
		for i, m := range margins {
			d := float64(labels[i] - m)
			sum += max(level*d, (level-1)*d)
		}
		return sum / float64(len(margins))
	}
}

// forecaster returns what makes the forecast of the given ensembles, for as many
// goroutines as ask.
func (f *Forecast) forecaster(ensembles [][]byte) func() (*waits.Model, error) {
	return func() (*waits.Model, error) {
		list := make([]waits.Ensemble, len(ensembles))
		for i, data := range ensembles {
			e, err := trees.Read(data)
			if err != nil {
				return nil, err
			}
			list[i] = e
		}
		return waits.New(f.Spec, len(predictor.FeatureNames()), list)
	}
}
