//go:build native

package learning

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/libtorch"
)

// Config says what to learn from and what to learn. Samples is required.
type Config struct {
	Samples trainer.SamplesConfig
	Trees   TreesConfig
	// Policies are the names of those to train; default DefaultPolicies. None, but
	// not nil, trains the forecast alone.
	Policies []string
	Seed     uint64 // default 1
	// Steps bounds the training of each policy; default 4,000. A policy gradient
	// takes a fiftieth of them, each of which is many decisions.
	Steps int
	// Published says how the networks of the published method are trained, where
	// Policies names them.
	Published PublishedConfig
	// Key identifies what samples are gathered from, for Resume and for shards: a
	// line for each thing, of which errors name the first that differs.
	Key string
	// Dir, when not empty, is a folder in which what was finished is kept, so that
	// a training that was killed can be taken up again with Resume.
	Dir    string
	Resume bool
	// SamplesDir, when not empty, is where samples are kept instead, and taken from
	// when they are there already, made with the same Key: trainings that differ in
	// what they make of the samples share them.
	SamplesDir string
	// Progress, when not nil, is told the step under way, how far it is, and what
	// there is to say about it. It is called from several goroutines.
	Progress func(step string, done, total int, detail string)
}

func (c Config) withDefaults() Config {
	if c.Policies == nil {
		c.Policies = DefaultPolicies()
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int, string) {}
	}
	c.Samples.Progress = func(done, total int) { c.Progress("samples", done, total, "") }
	c.Trees.Seed = c.Seed
	c.Published = c.Published.withDefaults()
	c.Trees.Progress = func(step string, round, rounds int, loss float64) {
		c.Progress(step, round, rounds, fmt.Sprintf("loss %.4f", loss))
	}
	return c
}

// samplesName is the name of the file of samples.
const samplesName = "samples"

// Learned is a trained model and how it came about.
type Learned struct {
	Model     *learned.Model
	Episodes  int // that were learned from
	Rounds    []int
	Losses    []LossCurve
	Trainings []Training
	Coverage  []Coverage
	// ByFold and ByLoad say how the forecasts turned out that policies were
	// trained on, Validation what came of the policies.
	ByFold, ByLoad []Reliability
	Validation     Validation
	// Published is the published method, nil unless a policy of it was asked for.
	Published     *published.Model
	PublishedFits []PublishedFit
}

// Training is how the training of one policy went.
type Training struct {
	Policy  string
	History []libtorch.Progress
	Best    float64 // validation cost, in networks.CostUnit
	GateUse []float64
}

// Learn makes a model.
func Learn(ctx context.Context, cfg Config) (*Learned, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	// 1. Gather samples.
	shared := cfg
	if cfg.SamplesDir != "" {
		shared.Dir, shared.Resume = cfg.SamplesDir, true
	}
	streams, err := kept(shared, samplesName, cfg.Key, func() ([]trainer.Stream, error) {
		streams, err := trainer.Gather(ctx, cfg.Samples)
		return slim(streams), err
	})
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	joined(streams)
	out := &Learned{}
	for _, s := range streams {
		out.Episodes += len(s.Episodes)
	}
	// 2. Fit the trees, without each fold of time and on everything.
	treesKey := fmt.Sprintf("%s\ntrees of kind %s, seed %d", cfg.Key, cfg.Trees.Kind, cfg.Trees.Seed)
	forecast, err := kept(cfg, "trees", treesKey, func() (*Forecast, error) { return FitWaits(ctx, streams, cfg.Trees) })
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	out.Rounds, out.Losses = forecast.Rounds, forecast.Losses
	out.Model = &learned.Model{Waits: forecast.Spec, Ensembles: forecast.Ensembles}
	if out.Model.Drift, err = profileOf(streams); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	// 3. Foretell every sample by trees that never saw its time, as corrected then.
	if err := forecast.foretell(streams); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	out.Coverage, out.ByFold, out.ByLoad = coverage(streams), byFold(streams), byLoad(streams)
	// 4. Train the policies on the decision problem that results.
	for _, name := range cfg.Policies {
		if slices.Contains(published.PolicyNames(), name) {
			continue
		}
		key := fmt.Sprintf("%s\n%s, at most %d steps", treesKey, name, cfg.Steps)
		p, err := kept(cfg, name, key, func() (trainedPolicy, error) { return cfg.train(ctx, name, streams) })
		if err != nil {
			return nil, fmt.Errorf("learn: %s: %w", name, err)
		}
		out.Trainings, out.Model.Policies = append(out.Trainings, p.Training), append(out.Model.Policies, p.Policy)
	}
	// 5. See what they do on the fold that none was trained on.
	if out.Validation, err = validate(streams, out.Model.Policies, cfg.Seed); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	// 6. Fit the published method, which shares nothing with the rest.
	if out.Published, out.PublishedFits, err = cfg.fitPublished(ctx); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	return out, nil
}

// trainedPolicy is a policy with how its training went.
type trainedPolicy struct {
	Training Training
	Policy   learned.Policy
}

// train trains one policy: on the folds of time but the last, validated on that.
func (c Config) train(ctx context.Context, name string, streams []trainer.Stream) (trainedPolicy, error) {
	r := recipes[name]
	steps := c.Steps
	if steps == 0 {
		steps = defaultSteps
	}
	b := blocksOf(streams)
	spec := r.spec()
	histories := spec.Kind == networks.Transformer
	train := tableOf(streams, histories, func(at segue.Time) bool { return b.part(at, validation) == fitted })
	valid := tableOf(streams, histories, func(at segue.Time) bool { return b.part(at, validation) == heldOut })
	progress := func(p libtorch.Progress) {
		detail := fmt.Sprintf("loss %.4f, validation cost %.3f, best %.3f", p.Loss, p.ValidationCost, p.Best)
		if len(p.GateUse) > 0 {
			detail += fmt.Sprintf(", gate %.2f", p.GateUse)
		}
		c.Progress(name, p.Step, p.Steps, detail)
	}
	checkpoint := ""
	if c.Dir != "" {
		checkpoint = filepath.Join(c.Dir, name+".checkpoint")
	}
	var result libtorch.Result
	var err error
	if r.gradient {
		result, err = libtorch.TrainPG(ctx, spec, train, valid, libtorch.PGConfig{
			Common: libtorch.Common{Seed: c.Seed, Steps: (steps + 49) / 50, Decay: decay, Checkpoint: checkpoint, Resume: c.Resume},
		}, progress)
	} else {
		result, err = libtorch.TrainDQN(ctx, spec, train, valid, libtorch.DQNConfig{NStep: nStep, Common: libtorch.Common{
			Seed: c.Seed, Steps: steps, LearningRate: learningRate, Decay: decay, Batch: batch, Checkpoint: checkpoint, Resume: c.Resume,
		}}, progress)
	}
	if err != nil {
		return trainedPolicy{}, err
	}
	return trainedPolicy{
		Training{Policy: name, History: result.History, Best: result.Best, GateUse: result.GateUse},
		learned.Policy{Name: name, Spec: result.Spec, Tensors: result.Tensors},
	}, nil
}

// foretell gives every episode of the streams the forecast of trees that never
// saw its time, and the blend with the planner's, recalibrated by what was known at
// the time.
func (f *Forecast) foretell(streams []trainer.Stream) error {
	b := blocksOf(streams)
	for _, s := range streams {
		var byFold [folds][]trainer.Episode
		for _, e := range s.Episodes {
			fold := b.fold(e.Curve.Submit)
			byFold[fold] = append(byFold[fold], e)
		}
		for fold, episodes := range byFold {
			ensembles := f.Held[fold]
			if ensembles == nil { // no start of this fold, or nothing but
				ensembles = f.Ensembles
			}
			if err := trainer.Foretell(episodes, f.forecaster(ensembles)); err != nil {
				return err
			}
		}
		trainer.CorrectPlanner(s.Episodes, nil)
		trainer.Recalibrate(s.Episodes, nil)
	}
	return nil
}
