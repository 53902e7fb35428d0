//go:build native

package xgboost_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer/xgboost"
)

func TestMatrixOfAnotherShapeIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data       []float32
		rows, cols int
	}{
		"no rows":           {nil, 0, 3},
		"no columns":        {nil, 3, 0},
		"negative rows":     {make([]float32, 6), -2, -3},
		"too few numbers":   {make([]float32, 5), 2, 3},
		"too many numbers":  {make([]float32, 7), 2, 3},
		"too many columns":  {make([]float32, 1<<17), 1, 1 << 17},
		"an overflow":       {nil, math.MaxInt / 2, 4},
		"an infinite value": {[]float32{1, float32(math.Inf(-1))}, 1, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := xgboost.NewMatrix(test.data, test.rows, test.cols); segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want one of kind invalid", err)
			}
		})
	}
}

func TestFieldsOfRowsAreChecked(t *testing.T) {
	t.Parallel()
	inf := float32(math.Inf(1))
	bounds := func(lower, upper []float32) func(*xgboost.Matrix) error {
		return func(m *xgboost.Matrix) error { return m.SetBounds(lower, upper) }
	}
	tests := map[string]func(m *xgboost.Matrix) error{
		"too few labels":        func(m *xgboost.Matrix) error { return m.SetLabels([]float32{1}) },
		"too many labels":       func(m *xgboost.Matrix) error { return m.SetLabels([]float32{1, 2, 3}) },
		"no labels":             func(m *xgboost.Matrix) error { return m.SetLabels(nil) },
		"a label of NaN":        func(m *xgboost.Matrix) error { return m.SetLabels([]float32{1, nan}) },
		"an infinite label":     func(m *xgboost.Matrix) error { return m.SetLabels([]float32{inf, 1}) },
		"a negative weight":     func(m *xgboost.Matrix) error { return m.SetWeights([]float32{1, -1}) },
		"a weight of NaN":       func(m *xgboost.Matrix) error { return m.SetWeights([]float32{nan, 1}) },
		"too few weights":       func(m *xgboost.Matrix) error { return m.SetWeights([]float32{1}) },
		"bounds of two lengths": bounds([]float32{1, 2}, []float32{1}),
		"too few bounds":        bounds([]float32{1}, []float32{1}),
		"a lower bound of NaN":  bounds([]float32{nan, 1}, []float32{1, 1}),
		"an upper bound of NaN": bounds([]float32{1, 1}, []float32{nan, 1}),
		"bounds out of order":   bounds([]float32{1, 3}, []float32{1, 2}),
		"a negative time":       bounds([]float32{-1, 1}, []float32{1, 1}),
		"a wait of nothing":     bounds([]float32{0, 1}, []float32{0, 1}),
		"a lower bound without": bounds([]float32{inf, 1}, []float32{inf, 1}),
		"closed":                func(m *xgboost.Matrix) error { m.Close(); m.Close(); return m.SetLabels([]float32{1, 2}) },
	}
	for name, set := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := set(matrix(t, []float32{1, 2}, 1)); segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want one of kind invalid", err)
			}
		})
	}
}

func TestConfigThatBreaksARuleIsNamed(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	tests := map[string]xgboost.Config{
		"Objective":       {Objective: "reg:gamma"},
		"Rounds":          {Rounds: -1},
		"EarlyStopping":   {EarlyStopping: -1},
		"MaxDepth":        {MaxDepth: 31},
		"LearningRate":    {LearningRate: 1.5},
		"Subsample":       {Subsample: -0.1},
		"ColumnsByTree":   {ColumnsByTree: math.NaN()},
		"ColumnsByNode":   {ColumnsByNode: 2},
		"MinChildWeight":  {MinChildWeight: -1},
		"Lambda":          {Lambda: math.Inf(1)},
		"ParallelTrees":   {ParallelTrees: -5},
		"Monotone":        {Monotone: []int8{2}},
		"BaseScore":       {Objective: xgboost.Logistic, BaseScore: number(1)},
		"TreeMethod":      {TreeMethod: "gpu_hist"},
		"MaxBins":         {MaxBins: 1},
		"AFTDistribution": {AFTDistribution: "cauchy"},
		"AFTScale":        {AFTScale: -1},
		"Threads":         {Threads: -1},
	}
	m := matrix(t, []float32{1, 2}, 1)
	setTargets(t, m, xgboost.SquaredError, []float32{1, 2})
	for field, cfg := range tests {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			_, err := xgboost.Train(context.Background(), cfg, m, nil, nil)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), field+" ") {
				t.Errorf("error is %v, want one of kind invalid that names %s", err, field)
			}
		})
	}
}

func TestRowsThatDoNotFitTheTrainingAreRefused(t *testing.T) {
	t.Parallel()
	bare := matrix(t, []float32{1, 2}, 1)
	wide := matrix(t, []float32{1, 2}, 2)
	closed := matrix(t, []float32{1, 2}, 1)
	closed.Close()
	labelled := matrix(t, []float32{1, 2}, 1)
	setTargets(t, labelled, xgboost.SquaredError, []float32{1, 2})
	weightless := matrix(t, []float32{1, 2}, 1)
	setTargets(t, weightless, xgboost.SquaredError, []float32{1, 2})
	if err := weightless.SetWeights([]float32{0, 0}); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		cfg         xgboost.Config
		rows, valid *xgboost.Matrix
	}{
		"no rows":                           {xgboost.Config{}, nil, nil},
		"closed rows":                       {xgboost.Config{}, closed, nil},
		"closed validation":                 {xgboost.Config{}, labelled, closed},
		"no labels":                         {xgboost.Config{}, bare, nil},
		"no labels to validate":             {xgboost.Config{}, labelled, bare},
		"no bounds":                         {xgboost.Config{Objective: xgboost.AFT}, labelled, nil},
		"labels that are no probabilities":  {xgboost.Config{Objective: xgboost.Logistic}, labelled, nil},
		"other columns to validate":         {xgboost.Config{}, labelled, wide},
		"early stopping without validation": {xgboost.Config{EarlyStopping: 1}, labelled, nil},
		"constraints on other columns":      {xgboost.Config{Monotone: []int8{1, 1}}, labelled, nil},
		"no weight at all":                  {xgboost.Config{}, weightless, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := xgboost.Train(context.Background(), test.cfg, test.rows, test.valid, nil)
			if segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want one of kind invalid", err)
			}
		})
	}
}

func TestBoosterRefusesOtherRowsAndUseAfterClose(t *testing.T) {
	t.Parallel()
	m := matrix(t, []float32{1, 2, 3, 4}, 1)
	setTargets(t, m, xgboost.SquaredError, []float32{1, 2, 3, 4})
	b := train(t, xgboost.Config{Rounds: 1}, m)
	if _, err := b.Margins(matrix(t, []float32{1, 2}, 2)); segue.KindOf(err) != segue.Invalid {
		t.Errorf("rows of two features: error is %v, want one of kind invalid", err)
	}
	b.Close()
	b.Close()
	uses := map[string]func() error{
		"margins":    func() error { _, err := b.Margins(m); return err },
		"JSON":       func() error { _, err := b.JSON(); return err },
		"rounds":     func() error { _, err := b.Rounds(); return err },
		"importance": func() error { _, err := b.Importance(); return err },
	}
	for name, use := range uses {
		if err := use(); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s after Close: error is %v, want one of kind invalid", name, err)
		}
	}
}

// TestModelOutlivesItsMatrices uses a booster after the rows are gone.
func TestModelOutlivesItsMatrices(t *testing.T) {
	t.Parallel()
	data, labels := ties(30, 500, 4)
	rows := matrix(t, data, 4)
	setTargets(t, rows, xgboost.SquaredError, labels)
	b := train(t, xgboost.Config{Rounds: 5}, rows)
	want, err := b.Margins(rows)
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	if worst := disagreement(t, b, matrix(t, data, 4), data, nil); worst > 1 {
		t.Errorf("worst disagreement: %.3g of what is allowed", worst)
	}
	if len(want) != 500 {
		t.Errorf("%d margins, want 500", len(want))
	}
}
