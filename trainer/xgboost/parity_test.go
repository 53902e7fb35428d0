//go:build native

package xgboost_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/trainer/xgboost"
)

const (
	parityRows = 20_000
	parityCols = 30
)

var nan = float32(math.NaN())

// ties returns rows of small integers, so that values often equal a threshold,
// of continuous values, and of missing ones, and labels that depend on them.
func ties(seed uint64, rows, cols int) (data, labels []float32) {
	random := rand.New(rand.NewPCG(seed, 1))
	data = make([]float32, rows*cols)
	labels = make([]float32, rows)
	for i := range rows {
		row := data[i*cols:][:cols]
		for j := range row {
			switch {
			case random.IntN(10) == 0:
				row[j] = nan
			case j%3 == 0:
				row[j] = float32(random.NormFloat64() * 10)
			default:
				row[j] = float32(random.IntN(9) - 4)
			}
		}
		labels[i] = float32(math.Exp(random.NormFloat64()))
		for j, v := range row[:min(cols, 6)] {
			if v == v {
				labels[i] += float32(j) * max(v, 0)
			}
		}
	}
	return data, labels
}

// TestLeavesAgreesWithLibxgboost trains every kind of model and compares every
// row's margin, and the sum over single trees, in the same process.
func TestLeavesAgreesWithLibxgboost(t *testing.T) {
	t.Parallel()
	boosted := xgboost.Config{Rounds: 60, Subsample: 0.8, ColumnsByTree: 0.7, Seed: 7}
	with := func(cfg xgboost.Config, objective string) xgboost.Config {
		cfg.Objective = objective
		return cfg
	}
	forest := xgboost.Forest(30)
	forest.MaxDepth = 10
	tests := map[string]xgboost.Config{
		"boosted squared error":  with(boosted, xgboost.SquaredError),
		"boosted absolute error": with(boosted, xgboost.AbsoluteError),
		"boosted logistic":       with(boosted, xgboost.Logistic),
		"boosted AFT":            with(boosted, xgboost.AFT),
		"forest":                 with(forest, xgboost.SquaredError),
		"forest of classifiers":  with(forest, xgboost.Logistic),
		"exact greedy":           {Rounds: 5, TreeMethod: "exact"},
	}
	data, labels := ties(1, parityRows, parityCols)
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := matrix(t, data, parityCols)
			setTargets(t, m, cfg.Objective, labels)
			b := train(t, cfg, m)
			if worst := disagreement(t, b, m, data, nil); worst > 1 {
				t.Errorf("worst disagreement: %.3g of what is allowed", worst)
			}
		})
	}
	t.Run("custom gradients", func(t *testing.T) {
		t.Parallel()
		m := matrix(t, data, parityCols)
		b, err := xgboost.TrainWith(context.Background(), xgboost.Config{Rounds: 60, LearningRate: 0.3, Threads: 1}, m, nil, pinball(0.9, labels), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		if worst := disagreement(t, b, m, data, nil); worst > 1 {
			t.Errorf("worst disagreement: %.3g of what is allowed", worst)
		}
	})
}

// TestParityNeedsTheShiftOfThresholds moves the shift back out of a file: then
// a value on a threshold goes the other way, which rows of integers show.
func TestParityNeedsTheShiftOfThresholds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	data := make([]float32, 2000*parityCols)
	labels := make([]float32, 2000)
	for i := range data {
		data[i] = float32(random.IntN(9) - 4)
		labels[i/parityCols] += data[i]
	}
	m := matrix(t, data, parityCols)
	setTargets(t, m, xgboost.SquaredError, labels)
	// hist puts thresholds on values; exact would put them midway.
	b := train(t, xgboost.Config{Rounds: 20}, m)
	if worst := disagreement(t, b, m, data, nil); worst > 1 {
		t.Errorf("with the shift, worst disagreement: %.3g of what is allowed", worst)
	}
	below := func(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(-1))) }
	if worst := disagreement(t, b, m, data, below); worst < 1000 {
		t.Errorf("without the shift, worst disagreement: %.3g of what is allowed, want far more", worst)
	}
}

// disagreement returns the greatest difference between leaves and libxgboost,
// as a multiple of 1e-5 absolute and relative. If values are given another
// form, below, the comparison is the one that leaves would make with t itself.
func disagreement(t *testing.T, b *xgboost.Booster, m *xgboost.Matrix, data []float32, form func(float32) float32) float64 {
	t.Helper()
	want, err := b.Margins(m)
	if err != nil {
		t.Fatal(err)
	}
	e := exported(t, b)
	worst := 0.0
	row := make([]float32, m.Columns())
	var each []float64
	for i := range m.Rows() {
		copy(row, data[i*len(row):])
		if form != nil {
			for j := range row {
				row[j] = form(row[j])
			}
		}
		allowed := 1e-5 * (1 + math.Abs(float64(want[i])))
		sum := e.Base()
		each = e.PerTree(row, each)
		for _, v := range each {
			sum += v
		}
		worst = max(worst, math.Abs(e.Margin(row)-float64(want[i]))/allowed, math.Abs(sum-float64(want[i]))/allowed)
	}
	return worst
}

// pinball returns the gradients of the loss whose minimum is the q-quantile.
// Its second derivative is 0 almost everywhere; 1 makes the steps of a fixed
// size.
func pinball(q float32, labels []float32) func(margins, grad, hess []float32) {
	return func(margins, grad, hess []float32) {
		for i, margin := range margins {
			grad[i], hess[i] = -q, 1
			if margin > labels[i] {
				grad[i] = 1 - q
			}
		}
	}
}

func matrix(t testing.TB, data []float32, cols int) *xgboost.Matrix {
	t.Helper()
	m, err := xgboost.NewMatrix(data, len(data)/cols, cols)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// setTargets gives m positive labels in the form that the objective takes. For
// AFT, every third is censored at half its value.
func setTargets(t testing.TB, m *xgboost.Matrix, objective string, labels []float32) {
	t.Helper()
	targets := append([]float32(nil), labels...)
	var err error
	switch objective {
	case xgboost.Logistic:
		for i, v := range labels {
			targets[i] = 0
			if v > 10 {
				targets[i] = 1
			}
		}
		err = m.SetLabels(targets)
	case xgboost.AFT:
		upper := append([]float32(nil), labels...)
		for i := 0; i < len(upper); i += 3 {
			targets[i], upper[i] = labels[i]/2, float32(math.Inf(1))
		}
		err = m.SetBounds(targets, upper)
	default:
		err = m.SetLabels(targets)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// train uses one thread unless cfg says more, as tests run beside each other.
func train(t testing.TB, cfg xgboost.Config, rows *xgboost.Matrix) *xgboost.Booster {
	t.Helper()
	cfg.Threads = max(cfg.Threads, 1)
	b, err := xgboost.Train(context.Background(), cfg, rows, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func saved(t testing.TB, b *xgboost.Booster) []byte {
	t.Helper()
	doc, err := b.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func exported(t testing.TB, b *xgboost.Booster) *trees.Ensemble {
	t.Helper()
	data, err := xgboost.Export(saved(t, b))
	if err != nil {
		t.Fatal(err)
	}
	e, err := trees.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
