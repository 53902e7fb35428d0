//go:build native

package libtorch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
)

// rowsSpec is a regressor small enough for a test.
func rowsSpec(experts int) networks.RegressorSpec {
	spec := networks.RegressorSpec{Experts: experts, History: networks.History{
		Steps: 6, Width: 5, Model: 12, Heads: 3, Layers: 2, FeedForward: 7, Positions: networks.None, Norm: networks.After, Pool: networks.All,
	}}
	if experts > 1 {
		spec.GateHidden = 4
	}
	return spec
}

// examples returns so many of which the answer is the sum of the first row plus a
// hundred.
func examples(spec networks.RegressorSpec, n int, seed uint64) Examples {
	r := rand.New(rand.NewPCG(seed, 0))
	var e Examples
	for range n {
		answer := float32(100)
		for i := range spec.Inputs() {
			v := float32(r.NormFloat64())
			if i < spec.History.Width {
				answer += v
			}
			e.Rows = append(e.Rows, v)
		}
		e.Answers = append(e.Answers, answer)
	}
	return e
}

func TestPlainGoAndLibtorchAgreeOnRegressors(t *testing.T) {
	t.Parallel()
	specs := map[string]networks.RegressorSpec{"one expert": rowsSpec(1), "several experts": rowsSpec(3)}
	before := rowsSpec(2)
	before.History.Norm, before.History.Positions, before.History.Pool = networks.Before, networks.Learned, networks.Mean
	specs["normalised before each part, with positions and a mean"] = before
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer onOneThread()()
			r := rand.New(rand.NewPCG(1, 2))
			net := newRegressor(spec)
			net.load(spec.Initial(r))
			for i := range net.weights { // biases too
				net.weights[i] += float32(r.NormFloat64()) * 0.1
			}
			plain, err := networks.NewRegressor(spec, net.export(net.weights))
			if err != nil {
				t.Fatal(err)
			}
			e := examples(spec, 40, 3)
			p := pool{device: -1}
			defer p.empty()
			got := make([]float32, len(e.Answers))
			p.into(got, net.forward(&p, p.from(net.weights, int64(len(net.weights))), e.Rows, int64(len(got))))
			if p.err != nil {
				t.Fatal(p.err)
			}
			scratch := plain.NewScratch()
			for i := range got {
				near(t, fmt.Sprintf("example %d", i), got[i], plain.Predict(scratch, e.Rows[i*spec.Inputs():]))
			}
		})
	}
}

func TestRegressionLearnsAndRepeats(t *testing.T) {
	t.Parallel()
	spec := rowsSpec(2)
	train, valid := examples(spec, 200, 1), examples(spec, 50, 2)
	cfg := RegressionConfig{Seed: 1, Epochs: 60, Batch: 32, LearningRate: 0.01}
	var epochs int
	fitted := func() Regression {
		r, err := TrainRegression(t.Context(), spec, train, valid, cfg, func(p RegressionProgress) { epochs = p.Epoch })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := fitted()
	if epochs != 60 || first.Error > 1.2 { // the sum of five deviates has a mean absolute one of 1.8
		t.Errorf("after %d epochs the error is %v", epochs, first.Error)
	}
	if diff := cmp.Diff(first, fitted()); diff != "" {
		t.Error("the same seed gives another network")
	}
	cfg.Start, cfg.Epochs, cfg.LearningRate = first.Tensors, 1, 1e-9
	if again := fitted(); again.Error > first.Error+0.01 {
		t.Errorf("begun where it ended, the error is %v and not %v", again.Error, first.Error)
	}
}

func TestRegressionIsRefused(t *testing.T) {
	t.Parallel()
	spec := rowsSpec(1)
	good := examples(spec, 4, 1)
	tests := map[string]struct {
		train, valid Examples
		change       func(*RegressionConfig)
		kind         segue.Kind
	}{
		"no examples":            {Examples{}, good, nil, segue.Invalid},
		"a row too short":        {good, Examples{good.Rows[1:], good.Answers}, nil, segue.Invalid},
		"less than no epoch":     {good, good, func(c *RegressionConfig) { c.Epochs = -1 }, segue.Invalid},
		"an unknown device":      {good, good, func(c *RegressionConfig) { c.Device = "abacus" }, segue.Invalid},
		"tensors of another one": {good, good, func(c *RegressionConfig) { c.Start = map[string]safetensors.Tensor{} }, segue.Corrupt},
		"a rate that diverges": {
			good, good, func(c *RegressionConfig) { c.LearningRate, c.Start = 10, huge(spec) }, segue.Invalid,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := RegressionConfig{Epochs: 3}
			if tt.change != nil {
				tt.change(&cfg)
			}
			if _, err := TrainRegression(t.Context(), spec, tt.train, tt.valid, cfg, nil); segue.KindOf(err) != tt.kind {
				t.Errorf("error %v, want one of kind %s", err, tt.kind)
			}
		})
	}
}

// huge returns tensors that overflow.
func huge(spec networks.RegressorSpec) map[string]safetensors.Tensor {
	tensors := spec.Initial(rand.New(rand.NewPCG(1, 1)))
	output := tensors[networks.ExpertPrefix(0)+"output.weight"].Data
	for i := range output {
		output[i] = 3e38
	}
	return tensors
}
