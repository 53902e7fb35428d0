//go:build native

package xgboost_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer/xgboost"
)

func TestOwnGradientsOfTheSquaredErrorGiveTheSameModel(t *testing.T) {
	t.Parallel()
	data, labels := ties(20, 2000, 6)
	m := matrix(t, data, 6)
	setTargets(t, m, xgboost.SquaredError, labels)
	base := 1.0
	cfg := xgboost.Config{Rounds: 20, BaseScore: &base, Threads: 1}
	want, err := train(t, cfg, m).Margins(m)
	if err != nil {
		t.Fatal(err)
	}
	squared := func(margins, grad, hess []float32) {
		for i, margin := range margins {
			grad[i], hess[i] = margin-labels[i], 1
		}
	}
	b, err := xgboost.TrainWith(context.Background(), cfg, m, nil, squared, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	got, err := b.Margins(m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-5, 1e-5)); diff != "" {
		t.Errorf("margins (-built in +own gradients):\n%s", diff)
	}
}

func TestPinballGradientsGiveTheQuantile(t *testing.T) {
	t.Parallel()
	data, labels := ties(21, 16_000, 6)
	half := len(labels) / 2
	m, valid := matrix(t, data[:half*6], 6), matrix(t, data[half*6:], 6)
	loss := func(margins []float32, valid bool) float64 {
		truth := labels[:half]
		if valid {
			truth = labels[half:]
		}
		sum := 0.0
		for i, margin := range margins {
			miss := float64(truth[i] - margin)
			sum += max(0.9*miss, -0.1*miss)
		}
		return sum / float64(len(margins))
	}
	base := 10.0
	cfg := xgboost.Config{Rounds: 400, EarlyStopping: 20, LearningRate: 0.5, MaxDepth: 4, MinChildWeight: 100, BaseScore: &base, Threads: 1}
	var told []xgboost.Progress
	b, err := xgboost.TrainWith(context.Background(), cfg, m, valid, pinball(0.9, labels[:half]), loss, func(p xgboost.Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if first, last := told[0], told[len(told)-1]; last.Best <= first.Round || last.TrainLoss >= first.TrainLoss {
		t.Errorf("nothing was learned between %+v and %+v", first, last)
	}
	margins, err := b.Margins(valid)
	if err != nil {
		t.Fatal(err)
	}
	below := 0
	for i, margin := range margins {
		if labels[half+i] <= margin {
			below++
		}
	}
	if share := float64(below) / float64(half); math.Abs(share-0.9) > 0.03 {
		t.Errorf("%.3f of unseen labels lie below the 0.9 quantile", share)
	}
}

func TestOwnGradientsAreChecked(t *testing.T) {
	t.Parallel()
	m := matrix(t, []float32{1, 2, 3}, 1)
	sets := func(grad, hess float32) func(margins, grad, hess []float32) {
		return func(_, grads, hesses []float32) { grads[1], hesses[1] = grad, hess }
	}
	tests := map[string]struct {
		cfg       xgboost.Config
		objective func(margins, grad, hess []float32)
	}{
		"no function":                   {xgboost.Config{}, nil},
		"a built-in objective besides":  {xgboost.Config{Objective: xgboost.AFT}, sets(1, 1)},
		"early stopping without a loss": {xgboost.Config{EarlyStopping: 3}, sets(1, 1)},
		"a first derivative of NaN":     {xgboost.Config{}, sets(nan, 1)},
		"a negative second derivative":  {xgboost.Config{}, sets(1, -1)},
		"an infinite second derivative": {xgboost.Config{}, sets(1, float32(math.Inf(1)))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := xgboost.TrainWith(context.Background(), test.cfg, m, nil, test.objective, nil, nil)
			if segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want one of kind invalid", err)
			}
		})
	}
}

// TestLossThatNeverFallsKeepsOneRound covers losses below which no round comes.
func TestLossThatNeverFallsKeepsOneRound(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]float64{"constant": 1, "infinite": math.Inf(1)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, labels := ties(22, 200, 3)
			m, valid := matrix(t, data, 3), matrix(t, data, 3)
			cfg := xgboost.Config{Rounds: 50, EarlyStopping: 4, Threads: 1}
			loss := func([]float32, bool) float64 { return value }
			last := 0
			b, err := xgboost.TrainWith(context.Background(), cfg, m, valid, pinball(0.5, labels), loss, func(p xgboost.Progress) { last = p.Round })
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if rounds, err := b.Rounds(); err != nil || rounds != 1 || last != 5 {
				t.Errorf("%d rounds of %d were kept (%v), want 1 of 5", rounds, last, err)
			}
		})
	}
}
