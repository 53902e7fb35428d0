//go:build native

package libtorch

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer/environment"
)

// Progress is how far a training is, at each validation.
type Progress struct {
	Step           int       `json:"step"`
	Steps          int       `json:"steps"`              // at most
	Loss           float64   `json:"loss"`               // mean since the last one
	ValidationCost float64   `json:"validation_cost"`    // mean over the prices, in networks.CostUnit
	Best           float64   `json:"best"`               // the least ValidationCost so far
	GateUse        []float64 `json:"gate_use,omitempty"` // of a mixture: each expert's mean weight since the last one
}

// Result is a trained network: that of the least validation cost.
type Result struct {
	Spec    networks.Spec
	Tensors map[string]safetensors.Tensor // what networks.New wants
	Best    float64                       // its validation cost
	Steps   int                           // that were taken; fewer than asked for when it stopped early
	GateUse []float64                     // of a mixture, at the last validation
	History []Progress
}

// learner is what all trainings have: a model, its optimiser, the judgement by
// validation, and the loop.
type learner struct {
	Common
	fingerprint string
	progress    func(Progress)
	train       *environment.Table
	valid       *environment.Table

	pool     pool
	model    *model
	adam     *adam
	gradient []float32
	source   *rand.PCG
	random   *rand.Rand // over source
	state
	best []float32 // weights
}

// state is what else a checkpoint has to hold, beside rows of numbers.
type state struct {
	Step     int
	Stale    int     // validations since the best
	Best     float64 // of all validations
	LossSum  float64 // since the last validation, as is what follows
	Batches  int
	GateSums []float64
	History  []Progress
}

// newLearner prepares a training on the thread of the caller, who has locked it.
func newLearner(spec networks.Spec, train, valid *environment.Table, c Common) (*learner, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := fits(spec, train); err != nil {
		return nil, segue.Errorf(segue.Invalid, "training table: %w", err)
	}
	if err := fits(spec, valid); err != nil {
		return nil, segue.Errorf(segue.Invalid, "validation table: %w", err)
	}
	oneThread()
	l := &learner{Common: c, train: train, valid: valid}
	var err error
	if l.pool.device, err = deviceOf(c.Device); err != nil {
		return nil, segue.Errorf(segue.Invalid, "%w", err)
	}
	l.source = rand.NewPCG(c.Seed, 0x5e60e)
	l.random = rand.New(l.source)
	l.model = newModel(spec, train)
	l.model.draw(l.random)
	l.adam = newAdam(len(l.model.weights))
	l.gradient = make([]float32, len(l.model.weights))
	l.best = append([]float32{}, l.model.weights...)
	l.Best = math.MaxFloat64
	if spec.Kind == networks.Mixture {
		l.GateSums = make([]float64, spec.Experts)
	}
	return l, nil
}

// fits wants a table that a network of the specification can be fed from.
func fits(spec networks.Spec, t *environment.Table) error {
	if err := t.Validate(); err != nil {
		return err
	}
	if t.Width != spec.State {
		return fmt.Errorf("states of width %d, the network takes %d", t.Width, spec.State)
	}
	if h := spec.History; h != nil && (t.HistorySteps != h.Steps || t.HistoryWidth != h.Width) {
		return fmt.Errorf("histories of %d x %d, the network takes %d x %d", t.HistorySteps, t.HistoryWidth, h.Steps, h.Width)
	}
	return nil
}

// algorithm is one way of training.
type algorithm interface {
	learn() error                 // one step
	judged() []float32            // the weights that are to be judged
	arrays() map[string][]float32 // what a checkpoint must hold beside the learner's own
	restored()                    // after the arrays were set to those of a checkpoint
}

// run takes steps until enough were taken, the validation cost no longer falls,
// or the context ends. It writes a checkpoint every so many steps and at the end
// of the context, between two steps.
func (l *learner) run(ctx context.Context, a algorithm) (Result, error) {
	if l.Resume {
		if err := l.restore(a.arrays()); err != nil {
			return Result{}, err
		}
		a.restored()
	}
	if l.Step == 0 && l.model.spec.Prior != nil && len(l.History) == 0 {
		if err := l.validate(a.judged()); err != nil { // the rule, if nothing comes to beat it
			return Result{}, err
		}
	}
	for l.Step < l.Steps && l.Stale < l.Patience {
		if err := ctx.Err(); err != nil {
			if err := l.save(a.arrays()); err != nil {
				return Result{}, err
			}
			return Result{}, fmt.Errorf("train: stopped after step %d: %w", l.Step, context.Cause(ctx))
		}
		if err := a.learn(); err != nil {
			return Result{}, fmt.Errorf("train: step %d: %w", l.Step+1, err)
		}
		l.Step++
		if l.Step%l.ValidateEvery == 0 || l.Step == l.Steps {
			if err := l.validate(a.judged()); err != nil {
				return Result{}, err
			}
		}
		if l.Step%l.CheckpointEvery == 0 {
			if err := l.save(a.arrays()); err != nil {
				return Result{}, err
			}
		}
	}
	return l.result(), nil
}

// validate judges weights on the validation table, keeps them when they are the
// best so far, and reports.
func (l *learner) validate(weights []float32) error {
	net, err := networks.New(l.model.spec, l.model.export(weights))
	if err != nil {
		return fmt.Errorf("train: validate after step %d: %w", l.Step, err)
	}
	var cost float64
	for _, j := range environment.Frontier(net, l.valid, l.Prices) {
		cost += j.Cost / networks.CostUnit(j.Price) / float64(len(l.Prices))
	}
	l.Stale++
	if cost < l.Best {
		l.Best, l.Stale = cost, 0
		copy(l.best, weights)
	}
	p := Progress{Step: l.Step, Steps: l.Steps, Loss: l.LossSum / float64(max(l.Batches, 1)), ValidationCost: cost, Best: l.Best}
	for k, sum := range l.GateSums {
		p.GateUse = append(p.GateUse, sum/float64(max(l.Batches, 1)))
		l.GateSums[k] = 0
	}
	l.LossSum, l.Batches = 0, 0
	l.History = append(l.History, p)
	if l.progress != nil {
		l.progress(p)
	}
	return nil
}

// descend takes one step of the optimiser against the gradient of a loss, with
// a rate that falls to a twentieth along half a cosine (Loshchilov and Hutter,
// ICLR 2017).
func (l *learner) descend() {
	const last = 0.05
	share := float64(l.Step) / float64(l.Steps)
	rate := l.LearningRate * (last + (1-last)*(1+math.Cos(math.Pi*share))/2)
	clip(l.gradient, l.Clip)
	l.adam.step(l.model.weights, l.gradient, rate)
	shrink(l.model.weights, rate*l.Decay)
}

// count adds a batch to what is reported at the next validation.
func (l *learner) count(loss float64, gate []float32) {
	l.LossSum += loss
	l.Batches++
	if len(l.GateSums) == 0 {
		return
	}
	rows := len(gate) / len(l.GateSums)
	for i, w := range gate {
		l.GateSums[i%len(l.GateSums)] += float64(w) / float64(rows)
	}
}

func (l *learner) result() Result {
	r := Result{
		Spec:    l.model.spec,
		Tensors: l.model.export(l.best),
		Best:    l.Best,
		Steps:   l.Step,
		History: l.History,
	}
	if n := len(l.History); n > 0 {
		r.GateUse = l.History[n-1].GateUse
	}
	return r
}

// onOneThread keeps the caller on one thread: libtorch's settings, errors and
// bookkeeping of gradients belong to a thread.
func onOneThread() (release func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}
