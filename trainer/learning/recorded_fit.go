//go:build native

package learning

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/xgboost"
)

// fittedRecorded are the trees of one origin.
type fittedRecorded struct {
	before *waits.Model // fitted before the stretch on which the rounds were chosen
	whole  *waits.Model // fitted on everything, with these rounds
}

// fit fits trees to what was known of the submissions at an origin. A forest has
// no rounds to choose, so that it needs no trees before the stretch unless these
// are wanted.
func (c RecordedConfig) fit(ctx context.Context, asked []trainer.Asked, origin segue.Time, wantBefore bool) (fittedRecorded, error) {
	var f fittedRecorded
	stretch := origin.Add(-c.Stretch)
	earlier := c.samples(asked, segue.NoTime+1, stretch.Add(-c.Gap), stretch)
	judges := c.samples(asked, stretch, origin, origin)
	if len(earlier) == 0 || len(judges) == 0 {
		return f, segue.Errorf(segue.Invalid, "%d submissions to learn from before %s, and %d to choose the rounds on; want some of both",
			len(earlier), stretch.Add(-c.Gap), len(judges))
	}
	step := "trees up to " + origin.Std().Format("2006-01-02")
	var ensembles [][]byte
	var rounds []int
	var err error
	if wantBefore || c.Kind != waits.Forest {
		if ensembles, rounds, err = c.ensembles(ctx, step+", rounds", earlier, judges, nil); err != nil {
			return f, err
		}
		if f.before, err = c.model(ensembles); err != nil {
			return f, err
		}
	}
	if ensembles, _, err = c.ensembles(ctx, step, c.samples(asked, segue.NoTime+1, origin, origin), nil, rounds); err != nil {
		return f, err
	}
	f.whole, err = c.model(ensembles)
	return f, err
}

// samples returns the submissions in a period as the trees may read them.
func (c RecordedConfig) samples(asked []trainer.Asked, from, until, known segue.Time) []recordedSample {
	samples := recordedSamples(asked, from, until, known)
	if c.DropCensored || c.Kind == waits.Quantiles || c.Kind == waits.Forest {
		samples = knownOnly(samples) // neither knows what to make of the others
	}
	if len(c.Blind) == 0 {
		return samples
	}
	for i := range samples {
		samples[i].features = append([]float32(nil), samples[i].features...)
		for k, name := range trainer.RecordedFeatures() {
			if c.blind(name) {
				samples[i].features[k] = float32(math.NaN())
			}
		}
	}
	return samples
}

func (c RecordedConfig) blind(name string) bool {
	for _, prefix := range c.Blind {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ensembles fits the ensembles of a forecast: with judges they say how many
// rounds are best, without them rounds does.
func (c RecordedConfig) ensembles(ctx context.Context, step string, fit, judge []recordedSample, rounds []int) ([][]byte, []int, error) {
	cfg := xgboost.Config{
		MaxDepth: 6, LearningRate: 0.06, Subsample: 0.6, ColumnsByTree: 0.5, MinChildWeight: 30, Lambda: 10,
		Seed: int32(c.Seed), Threads: c.Threads, Rounds: c.Rounds,
	}
	if judge != nil {
		cfg.EarlyStopping = 30
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	switch c.Kind {
	case waits.Thresholds:
		cfg.Objective = xgboost.Logistic
		cfg.Monotone = make([]int8, len(trainer.RecordedFeatures())+1)
		cfg.Monotone[len(cfg.Monotone)-1] = 1
		train, valid := labelled(recordedThresholds(fit, rng)), labelled(recordedThresholds(judge, rng))
		return c.builtIn(ctx, step, cfg, train, valid, rounds)
	case waits.AFT:
		cfg.Objective, cfg.AFTScale = xgboost.AFT, recordedScale
		return c.builtIn(ctx, step, cfg, bounded(recordedRows(fit)), bounded(recordedRows(judge)), rounds)
	case waits.Forest:
		forest := xgboost.Forest(200)
		forest.MaxDepth, forest.MinChildWeight, forest.ColumnsByNode = 14, 10, 0.4
		forest.Seed, forest.Threads = cfg.Seed, cfg.Threads
		return c.builtIn(ctx, step, forest, labelled(logsOf(recordedRows(fit))), nil, nil)
	}
	return c.byLevel(ctx, step, cfg, logsOf(recordedRows(fit)), logsOf(recordedRows(judge)), rounds)
}

// recordedScale is the scale of the AFT kind: waits of like submissions differ
// by more than simulated ones.
const recordedScale = 1.5

// logsOf returns the rows with the logarithms of their labels.
func logsOf(r boundedRows) rows {
	for i, v := range r.labels {
		r.labels[i] = float32(math.Log(float64(v)))
	}
	return r.rows
}

// table makes a matrix, which the caller closes; nil for no rows.
type table func() (*xgboost.Matrix, error)

func labelled(r rows) table {
	return func() (*xgboost.Matrix, error) {
		if r.count() == 0 {
			return nil, nil
		}
		return filled(r, func(m *xgboost.Matrix) error { return m.SetLabels(r.labels) })
	}
}

func bounded(r boundedRows) table {
	return func() (*xgboost.Matrix, error) {
		if r.count() == 0 {
			return nil, nil
		}
		return filled(r.rows, func(m *xgboost.Matrix) error { return m.SetBounds(r.labels, r.upper) })
	}
}

func filled(r rows, fill func(*xgboost.Matrix) error) (*xgboost.Matrix, error) {
	m, err := xgboost.NewMatrix(r.values, r.count(), r.width)
	if err != nil {
		return nil, err
	}
	if err := fill(m); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// builtIn fits one ensemble for an objective of libxgboost's.
func (c RecordedConfig) builtIn(ctx context.Context, step string, cfg xgboost.Config, fit, judge table, rounds []int) ([][]byte, []int, error) {
	if rounds != nil {
		cfg.Rounds = rounds[0]
	}
	train, err := fit()
	if err != nil {
		return nil, nil, err
	}
	defer train.Close()
	var valid *xgboost.Matrix
	if judge != nil {
		if valid, err = judge(); err != nil {
			return nil, nil, err
		}
	}
	if valid != nil {
		defer valid.Close()
	}
	booster, err := xgboost.Train(ctx, cfg, train, valid, c.report(step))
	if err != nil {
		return nil, nil, err
	}
	data, best, err := exported(booster)
	return data, []int{best}, err
}

// byLevel fits one ensemble for every level.
func (c RecordedConfig) byLevel(ctx context.Context, step string, cfg xgboost.Config, fit, judge rows, rounds []int) ([][]byte, []int, error) {
	train, err := labelled(fit)()
	if err != nil {
		return nil, nil, err
	}
	defer train.Close()
	valid, err := labelled(judge)()
	if err != nil {
		return nil, nil, err
	}
	if valid != nil {
		defer valid.Close()
	}
	cfg.LearningRate, cfg.Lambda = 0.3, 1e-5
	var all [][]byte
	var best []int
	for k, level := range quantileLevels {
		if rounds != nil {
			cfg.Rounds = rounds[k]
		}
		booster, err := xgboost.TrainWith(ctx, cfg, train, valid, pinballGradient(level, fit.labels), pinballLoss(level, fit.labels, judge.labels),
			c.report(fmt.Sprintf("%s, quantile %g", step, level)))
		if err != nil {
			return nil, nil, err
		}
		data, n, err := exported(booster)
		if err != nil {
			return nil, nil, err
		}
		all, best = append(all, data...), append(best, n)
	}
	return all, best, nil
}

func (c RecordedConfig) report(step string) func(xgboost.Progress) {
	return func(p xgboost.Progress) {
		loss := p.ValidLoss
		if math.IsNaN(loss) {
			loss = p.TrainLoss
		}
		c.Progress(step, p.Round, p.Rounds, loss)
	}
}

// model reads the ensembles as whoever serves them does.
func (c RecordedConfig) model(ensembles [][]byte) (*waits.Model, error) {
	list := make([]waits.Ensemble, len(ensembles))
	for i, data := range ensembles {
		e, err := trees.Read(data)
		if err != nil {
			return nil, err
		}
		list[i] = e
	}
	spec := specOf(c.Kind)
	if c.Kind == waits.AFT {
		spec.Scale = recordedScale
	}
	return waits.New(spec, len(trainer.RecordedFeatures()), list)
}
