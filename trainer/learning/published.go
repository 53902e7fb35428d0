//go:build native

package learning

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/libtorch"
	"github.com/segue-project/segue/trainer/xgboost"
)

// PublishedConfig says how large the published method is built. The zero value is
// as published, which takes days without a GPU.
type PublishedConfig struct {
	Trees  int // of the forest; default 100
	Width  int // of the networks' encoders, even; default 512
	Epochs int // of the networks; default 300; those of single experts are in proportion
}

func (c PublishedConfig) withDefaults() PublishedConfig {
	if c.Trees == 0 {
		c.Trees = published.ForestTrees
	}
	if c.Width == 0 {
		c.Width = published.Width
	}
	if c.Epochs == 0 {
		c.Epochs = published.Epochs
	}
	return c
}

func (c PublishedConfig) validate() error {
	switch {
	case c.Trees < 1 || c.Trees > 100_000:
		return segue.Errorf(segue.Invalid, "the published forest: %d trees, want 1 to 100000", c.Trees)
	case c.Width < 2 || c.Width > 4096 || c.Width%2 != 0:
		return segue.Errorf(segue.Invalid, "the published networks: a width of %d, want an even number from 2 to 4096", c.Width)
	case c.Epochs < 1 || c.Epochs > 100_000:
		return segue.Errorf(segue.Invalid, "the published networks: %d epochs, want 1 to 100000", c.Epochs)
	}
	return nil
}

// mostRate bounds the learning rate.
const mostRate = 1e-3

// rate returns the learning rate for a published one. Fewer epochs take longer
// steps, so that the weights come as far.
func (c PublishedConfig) rate(rate float64) float64 {
	return max(rate, min(mostRate, rate*float64(published.Epochs)/float64(c.Epochs)))
}

// expertEpochs is for how long each expert is trained alone.
func (c PublishedConfig) expertEpochs() int {
	return max(1, published.ExpertEpochs*c.Epochs/published.Epochs)
}

// PublishedFit says how the fit of one policy of the published method went.
type PublishedFit struct {
	Policy  string
	Pair    segue.Shape
	Samples int
	// Error is the mean absolute error in hours on samples that it was not fitted
	// to, 0 for trees, which are fitted to all.
	Error float64
}

// fitPublished fits the policies of the published method that are asked for, each
// for every pair; nil when there are none.
func (c Config) fitPublished(ctx context.Context) (*published.Model, []PublishedFit, error) {
	var names []string
	for _, name := range published.PolicyNames() {
		if slices.Contains(c.Policies, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil, nil
	}
	gather := c.Samples
	gather.Progress = func(done, total int) { c.Progress("samples of the published method", done, total, "") }
	all, err := trainer.GatherPublished(ctx, gather)
	if err != nil {
		return nil, nil, err
	}
	m := &published.Model{}
	var fits []PublishedFit
	for i := range all {
		samples := &all[i]
		for _, name := range names {
			step := fmt.Sprintf("%s for %s", name, samples.Pair)
			key := fmt.Sprintf("%s\n%s, seed %d, %+v", c.Key, step, c.Seed, c.Published)
			f, err := kept(c, fmt.Sprintf("%s-%d", name, i), key, func() (fittedPolicy, error) {
				return c.fitOne(ctx, name, step, samples)
			})
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", step, err)
			}
			m.Policies = append(m.Policies, f.Policy)
			fits = append(fits, PublishedFit{name, samples.Pair, len(samples.Outcomes), f.Error})
		}
	}
	return m, fits, nil
}

// fittedPolicy is a policy with the error of PublishedFit.
type fittedPolicy struct {
	Policy published.Policy
	Error  float64
}

func (c Config) fitOne(ctx context.Context, name, step string, s *trainer.PublishedSamples) (fittedPolicy, error) {
	if len(s.Outcomes) < leastSamples {
		return fittedPolicy{}, segue.Errorf(segue.Invalid, "%d samples, want at least %d: the history is too short", len(s.Outcomes), leastSamples)
	}
	f := fittedPolicy{Policy: published.Policy{Name: name, Pair: s.Pair}}
	var err error
	switch name {
	case published.Forest, published.XGBoost:
		f.Policy.Trees, err = c.fitTrees(ctx, name, step, s)
	default:
		f.Policy.Net, f.Error, err = c.fitNetwork(ctx, name, step, s)
	}
	return f, err
}

// leastSamples lets every expert have some to train on and some to judge by.
const leastSamples = 8 * published.Experts

// fitTrees fits a random forest of fully grown trees, or boosted trees with the
// library's defaults. Exact splits were its default for data of this size.
func (c Config) fitTrees(ctx context.Context, name, step string, s *trainer.PublishedSamples) ([]byte, error) {
	base := 0.5 // the library's default
	cfg := xgboost.Config{LearningRate: 0.3, BaseScore: &base}
	if name == published.Forest {
		cfg = xgboost.Forest(c.Published.Trees)
		// A bootstrap sample holds 63 % of the rows, and every split sees all features.
		cfg.Subsample, cfg.ColumnsByNode, cfg.MaxDepth = 0.632, 1, 30
	}
	cfg.TreeMethod, cfg.Seed, cfg.Threads = "exact", int32(c.Seed), c.Trees.withDefaults().Threads
	matrix, err := matrixOf(rows{published.StateWidth, s.States, s.Outcomes}, xgboost.SquaredError)
	if err != nil {
		return nil, err
	}
	defer matrix.Close()
	c.Progress(step, 0, 1, "")
	booster, err := xgboost.Train(ctx, cfg, matrix, nil, func(p xgboost.Progress) {
		c.Progress(step, p.Round, p.Rounds, fmt.Sprintf("loss %.4f", p.TrainLoss))
	})
	if err != nil {
		return nil, err
	}
	files, _, err := exported(booster)
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// fitNetwork trains the transformer, or the experts one by one and then together
// with their gate. It returns the mean absolute error on the samples that are
// held out.
func (c Config) fitNetwork(ctx context.Context, name, step string, s *trainer.PublishedSamples) (*published.Network, float64, error) {
	spec := published.NetworkSpec(name, c.Published.Width)
	n := len(s.Outcomes)
	cfg := libtorch.RegressionConfig{Seed: c.Seed, Epochs: c.Published.Epochs, LearningRate: c.Published.rate(1e-4)}
	random := rand.New(rand.NewPCG(c.Seed, 0x9b))
	train, valid := divided(s, 0, n, random)
	if name == published.Mixture {
		cfg.LearningRate = c.Published.rate(1e-5)
		var err error
		if cfg.Start, err = c.fitExperts(ctx, spec, step, s, random); err != nil {
			return nil, 0, err
		}
		train, valid = stretch(s, 0, n*8/10), stretch(s, n*8/10, n)
	}
	result, err := libtorch.TrainRegression(ctx, spec, train, valid, cfg, c.reportRegression(step))
	if err != nil {
		return nil, 0, err
	}
	return &published.Network{Spec: spec, Tensors: result.Tensors, Epochs: c.Published.Epochs}, result.Error, nil
}

func (c Config) reportRegression(step string) func(libtorch.RegressionProgress) {
	return func(p libtorch.RegressionProgress) {
		c.Progress(step, p.Epoch, p.Epochs, fmt.Sprintf("loss %.2f h², validation error %.2f h, best %.2f h", p.Loss, p.Error, p.Best))
	}
}

// fitExperts trains every expert on its stretch of the first half of the samples,
// and returns the tensors of a mixture of them whose gate has learned nothing.
func (c Config) fitExperts(ctx context.Context, spec networks.RegressorSpec, step string, s *trainer.PublishedSamples, random *rand.Rand) (tensors, error) {
	mixture := tensors(spec.Initial(random))
	half := len(s.Outcomes) / 2
	for k := range spec.Experts {
		train, valid := divided(s, half*k/spec.Experts, half*(k+1)/spec.Experts, random)
		result, err := libtorch.TrainRegression(ctx, spec.Alone(), train, valid, libtorch.RegressionConfig{
			Seed: c.Seed + uint64(k), Epochs: c.Published.expertEpochs(), Batch: 64, LearningRate: c.Published.rate(1e-5),
		}, c.reportRegression(fmt.Sprintf("%s, expert %d of %d", step, k+1, spec.Experts)))
		if err != nil {
			return nil, fmt.Errorf("expert %d: %w", k+1, err)
		}
		mixture.replace(result.Tensors, networks.ExpertPrefix(0), networks.ExpertPrefix(k))
	}
	return mixture, nil
}
