//go:build native

package xgboost_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/trainer/xgboost"
)

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	boosted := xgboost.Config{Rounds: 10, Subsample: 0.5, ColumnsByTree: 0.5, ColumnsByNode: 0.5}
	tests := map[string]xgboost.Config{"boosted trees": boosted, "forest": xgboost.Forest(10)}
	data, labels := ties(5, 3000, 10)
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grow := func(seed int32) []byte {
				m := matrix(t, data, 10)
				setTargets(t, m, xgboost.SquaredError, labels)
				cfg := cfg
				cfg.Seed, cfg.Threads = seed, 2
				return saved(t, train(t, cfg, m))
			}
			// On a thread of its own, as random numbers are kept for each thread.
			elsewhere := make(chan []byte)
			go func() { elsewhere <- grow(1) }()
			first, second, other := grow(1), <-elsewhere, grow(2)
			if !bytes.Equal(first, second) {
				t.Errorf("two trainings with seed 1 differ")
			}
			if bytes.Equal(first, other) {
				t.Errorf("seeds 1 and 2 give the same model")
			}
		})
	}
}

func TestProgressIsToldEveryRound(t *testing.T) {
	t.Parallel()
	data, labels := ties(6, 2000, 8)
	m, valid := halves(t, data, labels, 8)
	var told []xgboost.Progress
	b, err := xgboost.Train(context.Background(), xgboost.Config{Rounds: 5, LearningRate: 0.3, Threads: 1}, m, valid, func(p xgboost.Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if len(told) != 5 {
		t.Fatalf("told %d times, want 5", len(told))
	}
	for i, p := range told {
		if p.Round != i+1 || p.Rounds != 5 || p.Best != i+1 {
			t.Errorf("call %d: round %d of %d, best %d", i, p.Round, p.Rounds, p.Best)
		}
		if i > 0 && (p.TrainLoss >= told[i-1].TrainLoss || p.ValidLoss >= told[i-1].ValidLoss) {
			t.Errorf("round %d: losses %v and %v did not fall", p.Round, p.TrainLoss, p.ValidLoss)
		}
	}
	margins, err := b.Margins(valid)
	if err != nil {
		t.Fatal(err)
	}
	square := 0.0
	for i, margin := range margins {
		square += math.Pow(float64(margin-labels[len(labels)/2+i]), 2)
	}
	if want := math.Sqrt(square / float64(len(margins))); math.Abs(told[4].ValidLoss-want) > 1e-4*want {
		t.Errorf("last validation loss is %v, want %v", told[4].ValidLoss, want)
	}
}

func TestWithoutValidationThereIsNoValidationLoss(t *testing.T) {
	t.Parallel()
	data, labels := ties(6, 500, 8)
	m := matrix(t, data, 8)
	setTargets(t, m, xgboost.SquaredError, labels)
	b, err := xgboost.Train(context.Background(), xgboost.Config{Rounds: 3, Threads: 1}, m, nil, func(p xgboost.Progress) {
		if !math.IsNaN(p.ValidLoss) || math.IsNaN(p.TrainLoss) || p.Best != p.Round {
			t.Errorf("round %d: losses %v and %v, best %d", p.Round, p.TrainLoss, p.ValidLoss, p.Best)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

func TestCancelledTrainingEndsBetweenRounds(t *testing.T) {
	t.Parallel()
	data, labels := ties(7, 500, 8)
	m := matrix(t, data, 8)
	setTargets(t, m, xgboost.SquaredError, labels)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	last := 0
	b, err := xgboost.Train(ctx, xgboost.Config{Rounds: 1000, Threads: 1}, m, nil, func(p xgboost.Progress) {
		if last = p.Round; last == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || b != nil || last != 3 {
		t.Errorf("after round %d: booster %v, error %v", last, b, err)
	}
}

func TestEarlyStoppingKeepsTheBestRound(t *testing.T) {
	t.Parallel()
	// Labels of chance: after a few rounds trees learn only what does not recur.
	random := rand.New(rand.NewPCG(8, 8))
	data, labels := make([]float32, 600*4), make([]float32, 600)
	for i := range labels {
		for j := range 4 {
			data[4*i+j] = float32(random.NormFloat64())
		}
		labels[i] = data[4*i] + 2*float32(random.NormFloat64())
	}
	m, valid := halves(t, data, labels, 4)
	var last xgboost.Progress
	cfg := xgboost.Config{Rounds: 500, EarlyStopping: 10, Threads: 1}
	stopped, err := xgboost.Train(context.Background(), cfg, m, valid, func(p xgboost.Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	if last.Round != last.Best+10 {
		t.Errorf("stopped in round %d, 10 after the best, %d", last.Round, last.Best)
	}
	rounds, err := stopped.Rounds()
	if err != nil || rounds != last.Best {
		t.Errorf("%d rounds were kept (%v), want %d", rounds, err, last.Best)
	}
	alone := train(t, xgboost.Config{Rounds: last.Best}, m)
	if !bytes.Equal(saved(t, alone), saved(t, stopped)) {
		t.Errorf("the model is not that of %d rounds", last.Best)
	}
}

// TestCensoredRowsTeachSomething draws waits whose logarithm has a known mean,
// and looks at many of them before they have ended.
func TestCensoredRowsTeachSomething(t *testing.T) {
	t.Parallel()
	const rows = 6000
	random := rand.New(rand.NewPCG(9, 9))
	data, truth := make([]float32, rows), make([]float64, rows)
	lower, upper := make([]float32, rows), make([]float32, rows)
	var ended []int
	for i := range rows {
		data[i] = float32(random.IntN(10))
		truth[i] = 3 + float64(data[i])/3
		wait := math.Exp(truth[i] + random.NormFloat64())
		seen := math.Exp(3 + 3*random.Float64())
		lower[i], upper[i] = float32(min(wait, seen)), float32(math.Inf(1))
		if wait <= seen {
			upper[i] = lower[i]
			ended = append(ended, i)
		}
	}
	if len(ended) < rows/5 || len(ended) > rows*4/5 {
		t.Fatalf("%d of %d rows ended: the test tests nothing", len(ended), rows)
	}
	all := matrix(t, data, 1)
	meanError := func(m *xgboost.Matrix, lower, upper []float32) float64 {
		if err := m.SetBounds(lower, upper); err != nil {
			t.Fatal(err)
		}
		b := train(t, xgboost.Config{Objective: xgboost.AFT, Rounds: 60, MaxDepth: 3}, m)
		margins, err := b.Margins(all)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, margin := range margins {
			sum += math.Abs(float64(margin) - truth[i])
		}
		return sum / rows
	}
	asCensored := meanError(all, lower, upper)
	asEnded := meanError(all, lower, lower)
	var endedData, endedWaits []float32
	for _, i := range ended {
		endedData, endedWaits = append(endedData, data[i]), append(endedWaits, lower[i])
	}
	leftOut := meanError(matrix(t, endedData, 1), endedWaits, endedWaits)
	if asCensored > 0.15 || asEnded < 3*asCensored || leftOut < 3*asCensored {
		t.Errorf("mean error of the logarithm: %.3f as censored, %.3f as if ended, %.3f without them", asCensored, asEnded, leftOut)
	}
}

func TestMonotoneConstraintHolds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(10, 10))
	const rows = 3000
	data, labels := make([]float32, 2*rows), make([]float32, rows)
	for i := range rows {
		x, y := random.NormFloat64(), random.NormFloat64()
		data[2*i], data[2*i+1] = float32(x), float32(y)
		labels[i] = float32(x + 2*math.Sin(4*x) + y + random.NormFloat64())
	}
	m := matrix(t, data, 2)
	setTargets(t, m, xgboost.SquaredError, labels)
	// greatestFall is how far the margin falls while the first feature rises.
	greatestFall := func(monotone []int8) float64 {
		e := exported(t, train(t, xgboost.Config{Rounds: 50, Monotone: monotone}, m))
		fall, highest := 0.0, math.Inf(-1)
		for x := -3.0; x < 3; x += 0.01 {
			margin := e.Margin([]float32{float32(x), 0.5})
			highest = max(highest, margin)
			fall = max(fall, highest-margin)
		}
		return fall
	}
	if fall := greatestFall([]int8{1, 0}); fall > 1e-6 {
		t.Errorf("constrained to rise, the margin falls by %v", fall)
	}
	if fall := greatestFall(nil); fall < 0.5 {
		t.Errorf("unconstrained, the margin falls by %v only: the test tests nothing", fall)
	}
}

func TestRowsOfWeightZeroDoNotCount(t *testing.T) {
	t.Parallel()
	data, labels := ties(11, 1000, 5)
	weights := slices.Repeat([]float32{0, 1}, 500)
	grow := func(labels []float32) []float32 {
		m := matrix(t, data, 5)
		setTargets(t, m, xgboost.SquaredError, labels)
		if err := m.SetWeights(weights); err != nil {
			t.Fatal(err)
		}
		margins, err := train(t, xgboost.Config{Rounds: 5}, m).Margins(m)
		if err != nil {
			t.Fatal(err)
		}
		return margins
	}
	absurd := slices.Clone(labels)
	for i := 0; i < len(absurd); i += 2 {
		absurd[i] = 1e6
	}
	if diff := cmp.Diff(grow(labels), grow(absurd)); diff != "" {
		t.Errorf("labels of weight 0 change margins (-as they are +absurd):\n%s", diff)
	}
}

func TestForestsTreesDisagreeAroundTheirMean(t *testing.T) {
	t.Parallel()
	data, labels := ties(12, 2000, 6)
	m := matrix(t, data, 6)
	setTargets(t, m, xgboost.SquaredError, labels)
	e := exported(t, train(t, xgboost.Forest(50), m))
	each := e.PerTree(data[:6], nil)
	if len(each) != 50 {
		t.Fatalf("%d trees, want 50", len(each))
	}
	sum := 0.0
	for i := range each {
		each[i] = e.Base() + 50*each[i]
		sum += each[i]
	}
	if mean, margin := sum/50, e.Margin(data[:6]); math.Abs(mean-margin) > 1e-9*math.Abs(margin) {
		t.Errorf("the trees' mean is %v, the margin %v", mean, margin)
	}
	low, high := slices.Min(labels), slices.Max(labels)
	if slices.Min(each) < float64(low)-0.01 || slices.Max(each) > float64(high)+0.01 || slices.Min(each) == slices.Max(each) {
		t.Errorf("trees say %v to %v, labels are %v to %v", slices.Min(each), slices.Max(each), low, high)
	}
}

func TestImportanceFindsTheFeatureThatMatters(t *testing.T) {
	t.Parallel()
	data, labels := ties(13, 2000, 6)
	for i := range labels {
		labels[i] = max(data[6*i+3], 0)
		if data[6*i+3] != data[6*i+3] {
			labels[i] = 20
		}
	}
	m := matrix(t, data, 6)
	setTargets(t, m, xgboost.SquaredError, labels)
	shares, err := train(t, xgboost.Config{Rounds: 10}, m).Importance()
	if err != nil {
		t.Fatal(err)
	}
	if len(shares) != 6 || shares[3] < 0.99 {
		t.Errorf("shares are %v, want nearly all in feature 3", shares)
	}
}

// halves returns the first half of the rows to train on and the second to
// validate on.
func halves(t *testing.T, data, labels []float32, cols int) (rows, valid *xgboost.Matrix) {
	t.Helper()
	half := len(labels) / 2
	rows, valid = matrix(t, data[:half*cols], cols), matrix(t, data[half*cols:], cols)
	setTargets(t, rows, xgboost.SquaredError, labels[:half])
	setTargets(t, valid, xgboost.SquaredError, labels[half:])
	return rows, valid
}
