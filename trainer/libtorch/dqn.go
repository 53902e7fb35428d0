//go:build native

package libtorch

import (
	"context"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/trainer/environment"
)

// TrainDQN trains a network of costs to go by deep Q-learning (Mnih et al.,
// Nature 2015) on the transitions of a table, at prices drawn anew each time, so
// that one network serves them all. With the same arguments it gives the same
// result, on the CPU to the last bit, whether or not it was interrupted.
//
// What submitting costs is in the table at every moment: the submit output
// learns it as it is. What waiting costs is followed from one lead to the next
// for n steps as the network itself would act (n-step, on its own policy), and
// beyond them as a slower copy of it estimates (target network), which is not
// asked what to do there (double; van Hasselt et al., AAAI 2016). Transitions
// about which it was wrong come more often (prioritised replay; Schaul et al.,
// ICLR 2016). Both costs of a moment share its luck, and their difference, which
// decides, does not: it has a loss of its own.
//
// The slower copy is what is judged: at every validation the validation table is
// gone through at each price, and the best network so far is kept. Progress, if
// not nil, is called then.
//
// The error is of kind Invalid for a configuration or a table that do not fit,
// Conflict or Corrupt for a checkpoint that does not, and the context's when that
// ended first; then the checkpoint is as of the last step.
func TrainDQN(ctx context.Context, spec networks.Spec, train, valid environment.Table,
	cfg DQNConfig, progress func(Progress),
) (Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	if spec.Heads == networks.Actor {
		return Result{}, segue.Errorf(segue.Invalid, "DQN: heads is actor, want plain or dueling")
	}
	defer onOneThread()()
	l, err := newLearner(spec, &train, &valid, cfg.Common)
	if err != nil {
		return Result{}, err
	}
	l.progress = progress
	l.fingerprint = fingerprint("dqn", spec, cfg.withoutFiles(), &train, &valid)
	d := newDQN(l, cfg)
	if d.replay.Len() == 0 {
		return Result{}, segue.Errorf(segue.Invalid, "DQN: no episode of the training table has a lead above 0")
	}
	return l.run(ctx, d)
}

// dqn is a training by deep Q-learning.
type dqn struct {
	*learner
	cfg    DQNConfig
	replay *environment.Replay
	target []float32 // weights of the slower copy

	batch   *batch // NStep + 1 blocks of cfg.Batch rows: the moments drawn, then 1, 2, ... leads later
	drawn   []int
	prices  []float64
	weights []float32 // of the drawn transitions in the loss
	targets []float32 // cfg.Batch x 2
	later   []float32 // outputs for the later blocks
	beyond  []float32 // the target's outputs for the last block
	outputs []float32
	gate    []float32
}

func newDQN(l *learner, cfg DQNConfig) *dqn {
	rows := cfg.Batch
	return &dqn{
		learner: l,
		cfg:     cfg,
		replay:  environment.NewReplay(l.train, max(0, cfg.PriorityExponent)),
		target:  append([]float32{}, l.model.weights...),
		batch:   newBatch(l.model, l.train, rows*(cfg.NStep+1)),
		drawn:   make([]int, rows),
		prices:  make([]float64, rows),
		weights: make([]float32, rows),
		targets: make([]float32, rows*networks.Outputs),
		later:   make([]float32, rows*cfg.NStep*networks.Outputs),
		beyond:  make([]float32, rows*networks.Outputs),
		outputs: make([]float32, rows*networks.Outputs),
		gate:    make([]float32, rows*len(l.GateSums)),
	}
}

// learn draws a batch, works out what its costs should be, and takes a step
// towards them.
func (d *dqn) learn() error {
	d.draw()
	d.look()
	for i := range d.drawn {
		d.aim(i)
	}
	loss := d.fit()
	d.pool.empty()
	if d.pool.err != nil {
		return d.pool.err
	}
	for i, n := range d.drawn {
		d.replay.Update(n, gapOf(d.outputs[2*i:])-gapOf(d.targets[2*i:]))
	}
	d.descend()
	d.followTarget()
	d.count(loss, d.gate)
	return nil
}

// draw fills the batch: drawn transitions, each at a drawn price, and the
// moments that follow them.
func (d *dqn) draw() {
	degree := d.cfg.PriorityCorrection + (1-d.cfg.PriorityCorrection)*float64(d.Step)/float64(d.Steps)
	var greatest float64
	for i := range d.drawn {
		d.drawn[i] = d.replay.Draw(d.random)
		d.prices[i] = environment.DrawPrice(d.random)
		weight := d.replay.Correction(d.drawn[i], degree)
		d.weights[i] = float32(weight)
		greatest = max(greatest, weight)
		at := d.replay.At(d.drawn[i])
		e := &d.train.Episodes[at.Episode]
		for j := range min(at.Lead, d.cfg.NStep) + 1 {
			d.batch.put(j*len(d.drawn)+i, e, at.Lead-j, d.prices[i])
		}
	}
	for i := range d.weights {
		d.weights[i] /= float32(greatest)
	}
}

// look asks the network about the later moments, and the target about the last.
func (d *dqn) look() {
	p, rows := &d.pool, len(d.drawn)
	p.quietly(func() {
		inputs, history := d.batch.tensors(p, rows, rows*d.cfg.NStep)
		weights := p.from(d.model.weights, int64(len(d.model.weights)))
		p.into(d.later, d.model.forward(p, weights, inputs, history, int64(rows*d.cfg.NStep)).actions)

		inputs, history = d.batch.tensors(p, rows*d.cfg.NStep, rows)
		target := p.from(d.target, int64(len(d.target)))
		p.into(d.beyond, d.model.forward(p, target, inputs, history, int64(rows)).actions)
	})
}

// aim works out the two costs that the network should give for drawn moment i.
func (d *dqn) aim(i int) {
	at := d.replay.At(d.drawn[i])
	outcomes := d.train.Episodes[at.Episode].Outcomes
	cost := func(k int) float32 {
		return float32(environment.Cost(outcomes[k], d.prices[i]) / networks.CostUnit(d.prices[i]))
	}
	d.targets[2*i+networks.Submit] = cost(at.Lead)
	wait := &d.targets[2*i+networks.Wait]
	rows := len(d.drawn)
	for j := 1; j <= d.cfg.NStep; j++ {
		k := at.Lead - j
		out := d.later[2*((j-1)*rows+i):][:networks.Outputs]
		if k == 0 || d.model.spec.Submits(out) {
			*wait = cost(k)
			return
		}
	}
	*wait = d.beyond[2*i+networks.Wait]
}

// fit computes the loss and leaves its gradient and the outputs for the batch.
func (d *dqn) fit() float64 {
	p, rows := &d.pool, int64(len(d.drawn))
	weights := p.from(d.model.weights, int64(len(d.model.weights)))
	p.trainable(weights)
	inputs, history := d.batch.tensors(p, 0, len(d.drawn))
	out := d.model.forward(p, weights, inputs, history, rows)
	p.into(d.outputs, out.actions)

	targets := p.from(d.targets, rows, networks.Outputs)
	each := p.meanOver(p.huber(out.actions, targets, d.cfg.Huber), 1, false)
	gap := p.huber(p.gap(out.actions), p.gap(targets), d.cfg.Huber)
	each = p.add(each, p.scale(gap, max(0, d.cfg.Contrast)))
	loss := p.mean(p.mul(each, p.from(d.weights, rows)))
	value := p.number(loss)
	if out.gate != nil {
		p.into(d.gate, out.gate)
		loss = p.add(loss, p.imbalance(out.gate, d.model.spec.Experts, d.cfg.Balance))
	}
	p.gradient(d.gradient, loss, weights)
	return value
}

// gapOf is what waiting costs more than submitting. Unlike the costs themselves
// it hardly depends on luck, and decisions depend on nothing else.
func gapOf(costs []float32) float64 {
	return float64(costs[networks.Wait] - costs[networks.Submit])
}

// followTarget brings the slower copy up, by a little each time or wholly every
// so many steps.
func (d *dqn) followTarget() {
	switch {
	case d.cfg.TargetEvery == 0:
		follow(d.target, d.model.weights, d.cfg.Tau)
	case (d.Step+1)%d.cfg.TargetEvery == 0:
		copy(d.target, d.model.weights)
	}
}

func (d *dqn) judged() []float32 { return d.target }

func (d *dqn) arrays() map[string][]float32 {
	return map[string][]float32{"target": d.target, "priorities": d.replay.Priorities()}
}

func (d *dqn) restored() { d.replay.Restore(d.replay.Priorities()) }
