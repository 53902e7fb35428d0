//go:build native

package libtorch

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
)

// Examples are what a regressor is fitted on: rows of raw numbers, and the answer
// to each.
type Examples struct {
	Rows    []float32 // one after the other, each as long as the network reads
	Answers []float32
}

// RegressionConfig says how a regressor is fitted. Zero fields but Start have
// defaults.
type RegressionConfig struct {
	Seed         uint64
	Epochs       int     // default 300
	Batch        int     // default 128
	LearningRate float64 // of Adam; default 1e-4
	Device       string  // "cpu", "cuda" or the default "auto"
	// Start are the tensors to begin with; nil draws them.
	Start map[string]safetensors.Tensor
}

func (c RegressionConfig) withDefaults() RegressionConfig {
	fill(&c.Epochs, 300)
	fill(&c.Batch, 128)
	fill(&c.LearningRate, 1e-4)
	fill(&c.Device, "auto")
	return c
}

func (c RegressionConfig) validate() error {
	return validateShared(nil, c.Device, []bounds{
		{"Epochs", float64(c.Epochs), 1, 1e6}, {"Batch", float64(c.Batch), 1, 1e6}, {"LearningRate", c.LearningRate, 1e-12, 10},
	})
}

// RegressionProgress is how far a fit is, after each epoch.
type RegressionProgress struct {
	Epoch, Epochs int
	Loss          float64 // mean square error of the epoch's batches
	Error         float64 // mean absolute error on the validation examples
	Best          float64 // the least Error so far
}

// Regression is a fitted regressor, that of the epoch of the least validation
// error.
type Regression struct {
	Tensors map[string]safetensors.Tensor // what networks.NewRegressor wants
	Loss    float64                       // of the last epoch
	Error   float64                       // on the validation examples
}

// TrainRegression fits a regressor to examples by the mean square error, and
// keeps the weights of the epoch with the least mean absolute error on the
// validation examples. The same seed gives the same weights on the same machine.
// progress may be nil.
func TrainRegression(ctx context.Context, spec networks.RegressorSpec, train, valid Examples, cfg RegressionConfig, progress func(RegressionProgress)) (Regression, error) {
	defer onOneThread()()
	f, err := newFit(spec, train, valid, cfg.withDefaults())
	if err != nil {
		return Regression{}, fmt.Errorf("fit a regressor: %w", err)
	}
	best := Regression{Error: math.MaxFloat64}
	kept := make([]float32, len(f.net.weights))
	for epoch := 1; epoch <= f.cfg.Epochs; epoch++ {
		loss, err := f.epoch(ctx)
		if err != nil {
			return Regression{}, fmt.Errorf("fit a regressor: epoch %d: %w", epoch, err)
		}
		wrong, err := f.judge(valid)
		if err != nil {
			return Regression{}, fmt.Errorf("fit a regressor: epoch %d: %w", epoch, err)
		}
		best.Loss = loss
		if wrong < best.Error {
			best.Error = wrong
			copy(kept, f.net.weights)
		}
		if progress != nil {
			progress(RegressionProgress{epoch, f.cfg.Epochs, loss, wrong, best.Error})
		}
	}
	best.Tensors = f.net.export(kept)
	return best, nil
}

// fit is a regression under way.
type fit struct {
	cfg      RegressionConfig
	net      *regressor
	train    Examples
	pool     pool
	adam     *adam
	gradient []float32
	random   *rand.Rand
	rows     []float32 // of a batch
	answers  []float32
}

func newFit(spec networks.RegressorSpec, train, valid Examples, cfg RegressionConfig) (*fit, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := cfg.validate(); err != nil {
		return nil, segue.Errorf(segue.Invalid, "%w", err)
	}
	for name, e := range map[string]Examples{"training": train, "validation": valid} {
		if len(e.Answers) == 0 || len(e.Rows) != len(e.Answers)*spec.Inputs() {
			return nil, segue.Errorf(segue.Invalid, "%d numbers and %d answers of %s, want at least one answer and %d numbers for each",
				len(e.Rows), len(e.Answers), name, spec.Inputs())
		}
	}
	oneThread()
	f := &fit{cfg: cfg, train: train, random: rand.New(rand.NewPCG(cfg.Seed, 0x7e9)), net: newRegressor(spec)}
	var err error
	if f.pool.device, err = deviceOf(cfg.Device); err != nil {
		return nil, segue.Errorf(segue.Invalid, "%w", err)
	}
	start := cfg.Start
	if start == nil {
		start = spec.Initial(f.random)
	}
	if _, err := networks.NewRegressor(spec, start); err != nil {
		return nil, fmt.Errorf("the tensors to begin with: %w", err)
	}
	f.net.load(start)
	f.adam, f.gradient = newAdam(len(f.net.weights)), make([]float32, len(f.net.weights))
	return f, nil
}

// epoch takes a step for every batch of the examples in a new order, and returns
// the mean loss.
func (f *fit) epoch(ctx context.Context) (float64, error) {
	order := f.random.Perm(len(f.train.Answers))
	sum, batches := 0.0, 0
	for len(order) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n := min(f.cfg.Batch, len(order))
		loss, err := f.step(order[:n])
		if err != nil {
			return 0, err
		}
		order, sum, batches = order[n:], sum+loss, batches+1
	}
	return sum / float64(batches), nil
}

// step moves the weights against the gradient of the mean square error of some of
// the examples.
func (f *fit) step(places []int) (float64, error) {
	p := &f.pool
	defer p.empty()
	f.rows, f.answers = f.rows[:0], f.answers[:0]
	size := f.net.spec.Inputs()
	for _, i := range places {
		f.rows = append(f.rows, f.train.Rows[i*size:][:size]...)
		f.answers = append(f.answers, f.train.Answers[i])
	}
	batch := int64(len(places))
	weights := p.from(f.net.weights, int64(len(f.net.weights)))
	p.trainable(weights)
	off := p.sub(f.net.forward(p, weights, f.rows, batch), p.from(f.answers, batch))
	loss := p.mean(p.mul(off, off))
	p.gradient(f.gradient, loss, weights)
	value := p.number(loss)
	if p.err != nil {
		return 0, p.err
	}
	f.adam.step(f.net.weights, f.gradient, f.cfg.LearningRate)
	return value, nil
}

// judge returns the mean absolute error on examples.
func (f *fit) judge(e Examples) (float64, error) {
	size := f.net.spec.Inputs()
	sum := 0.0
	got := make([]float32, f.cfg.Batch)
	for from := 0; from < len(e.Answers); from += f.cfg.Batch {
		n := min(f.cfg.Batch, len(e.Answers)-from)
		f.pool.quietly(func() {
			weights := f.pool.from(f.net.weights, int64(len(f.net.weights)))
			f.pool.into(got[:n], f.net.forward(&f.pool, weights, e.Rows[from*size:][:n*size], int64(n)))
		})
		f.pool.empty()
		if f.pool.err != nil {
			return 0, f.pool.err
		}
		for i, answer := range got[:n] {
			sum += math.Abs(float64(answer - e.Answers[from+i]))
		}
	}
	wrong := sum / float64(len(e.Answers))
	if math.IsNaN(wrong) || math.IsInf(wrong, 0) {
		return 0, segue.Errorf(segue.Invalid, "the validation error is %v: the fit has diverged", wrong)
	}
	return wrong, nil
}
