//go:build native

package libtorch

import (
	"context"
	"math"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/trainer/environment"
)

// TrainPG trains a stochastic policy by proximal policy optimisation (Schulman
// et al., 2017, arXiv 1707.06347): a step follows drawn episodes with the policy
// as it is, at drawn prices and from drawn moments on, and then goes over the
// decisions several times, making those more likely that cost less than the
// network's value expected, and no decision much more or less likely than it
// was. Advantages are generalised (GAE; Schulman et al., ICLR 2016); a bonus for
// entropy, which fades, keeps the policy from making up its mind too early.
//
// The heads of the specification are actor. Validation, progress, checkpoints and
// errors are those of [TrainDQN]; what is judged is the likelier action.
func TrainPG(ctx context.Context, spec networks.Spec, train, valid environment.Table,
	cfg PGConfig, progress func(Progress),
) (Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	if spec.Heads != networks.Actor {
		return Result{}, segue.Errorf(segue.Invalid, "policy gradient: heads is %q, want actor", spec.Heads)
	}
	defer onOneThread()()
	l, err := newLearner(spec, &train, &valid, cfg.Common)
	if err != nil {
		return Result{}, err
	}
	l.progress = progress
	l.fingerprint = fingerprint("pg", spec, cfg.withoutFiles(), &train, &valid)
	g := newPG(l, cfg)
	if g.starts.Len() == 0 {
		return Result{}, segue.Errorf(segue.Invalid, "policy gradient: no episode of the training table has a lead above 0")
	}
	g.hesitate()
	return l.run(ctx, g)
}

// decision is one of a followed episode.
type decision struct {
	at     environment.Transition
	price  float64
	action int
	logit  float32 // logarithm of the action's probability
	value  float32 // what was expected, the negative cost

	reward    float32
	last      bool // the episode ended with it
	advantage float32
	gain      float32 // what the value should have been
}

// pg is a training by policy gradient.
type pg struct {
	*learner
	cfg    PGConfig
	starts *environment.Replay // draws evenly

	batch   *batch
	paths   [][]decision // of the episodes that are followed
	drawn   []decision   // all of them
	outputs []float32
	values  []float32
	gate    []float32
	chosen  []float32 // 1 at the action taken
	rows    struct{ logits, advantages, gains []float32 }
}

func newPG(l *learner, cfg PGConfig) *pg {
	rows := max(cfg.Batch, cfg.Episodes)
	g := &pg{
		learner: l,
		cfg:     cfg,
		starts:  environment.NewReplay(l.train, 0),
		batch:   newBatch(l.model, l.train, rows),
		paths:   make([][]decision, cfg.Episodes),
		outputs: make([]float32, rows*networks.Outputs),
		values:  make([]float32, rows),
		gate:    make([]float32, rows*len(l.GateSums)),
		chosen:  make([]float32, rows*networks.Outputs),
	}
	g.rows.logits = make([]float32, rows)
	g.rows.advantages = make([]float32, rows)
	g.rows.gains = make([]float32, rows)
	return g
}

// hesitate makes waiting likely at the start, so that episodes go on for long
// enough to learn from.
func (g *pg) hesitate() {
	const bias = -2                                               // one submission in eight decisions
	biases := g.model.export(g.model.weights)["output.bias"].Data // of every expert
	for i := networks.Submit; i < len(biases); i += networks.Outputs {
		biases[i] = bias
	}
	copy(g.best, g.model.weights)
}

// learn follows episodes and improves the policy on them.
func (g *pg) learn() error {
	if err := g.follow(); err != nil {
		return err
	}
	g.appraise()
	for range g.cfg.Epochs {
		g.random.Shuffle(len(g.drawn), func(i, j int) { g.drawn[i], g.drawn[j] = g.drawn[j], g.drawn[i] })
		for from := 0; from < len(g.drawn); from += g.cfg.Batch {
			if err := g.improve(g.drawn[from:min(from+g.cfg.Batch, len(g.drawn))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow draws the start of each episode and follows all of them to their ends,
// a decision of each at a time.
func (g *pg) follow() error {
	alive := make([]int, len(g.paths))
	for i := range g.paths {
		alive[i] = i
		at := g.starts.At(g.starts.Draw(g.random))
		g.paths[i] = append(g.paths[i][:0], decision{at: at, price: environment.DrawPrice(g.random)})
	}
	for len(alive) > 0 {
		if err := g.ask(alive); err != nil {
			return err
		}
		going := alive[:0]
		for row, i := range alive {
			path := g.paths[i]
			d := &path[len(path)-1]
			g.act(d, g.outputs[2*row:][:2], g.values[row])
			if !d.last {
				next := decision{at: d.at, price: d.price}
				next.at.Lead--
				g.paths[i] = append(path, next)
				going = append(going, i)
			}
		}
		alive = going
	}
	return nil
}

// ask puts the policy's outputs for the latest decision of each of the paths
// into the first rows of outputs and values.
func (g *pg) ask(paths []int) error {
	for row, i := range paths {
		d := &g.paths[i][len(g.paths[i])-1]
		g.batch.put(row, &g.train.Episodes[d.at.Episode], d.at.Lead, d.price)
	}
	p, rows := &g.pool, len(paths)
	p.quietly(func() {
		inputs, history := g.batch.tensors(p, 0, rows)
		out := g.model.forward(p, p.from(g.model.weights, int64(len(g.model.weights))), inputs, history, int64(rows))
		p.into(g.outputs[:rows*networks.Outputs], p.logSoftmax(out.actions))
		p.into(g.values[:rows], out.value)
	})
	p.empty()
	return p.err
}

// act draws the action of a decision from the logarithms of the probabilities,
// and notes what came of it.
func (g *pg) act(d *decision, logits []float32, value float32) {
	d.action = networks.Wait
	if g.random.Float64() < math.Exp(float64(logits[networks.Submit])) {
		d.action = networks.Submit
	}
	d.logit, d.value = logits[d.action], value
	lead := d.at.Lead
	if d.action == networks.Wait {
		lead--
	}
	// Waiting at the shortest lead but one: submission is forced at the end.
	d.last = d.action == networks.Submit || lead == 0
	if d.last {
		outcome := g.train.Episodes[d.at.Episode].Outcomes[lead]
		d.reward = -float32(environment.Cost(outcome, d.price) / networks.CostUnit(d.price))
	}
}

// appraise works out the advantage of every decision by GAE, without discount,
// and gathers the decisions with advantages of mean 0 and spread 1.
func (g *pg) appraise() {
	g.drawn = g.drawn[:0]
	var sum, squares float64
	for _, path := range g.paths {
		var advantage, next float32
		for i := len(path) - 1; i >= 0; i-- {
			d := &path[i]
			advantage = d.reward + next - d.value + float32(g.cfg.Lambda)*advantage
			next = d.value
			d.advantage, d.gain = advantage, advantage+d.value
			sum += float64(advantage)
			squares += float64(advantage) * float64(advantage)
		}
		g.drawn = append(g.drawn, path...)
	}
	n := float64(len(g.drawn))
	mean := sum / n
	spread := math.Sqrt(max(0, squares/n-mean*mean)) + 1e-8
	for i := range g.drawn {
		g.drawn[i].advantage = float32((float64(g.drawn[i].advantage) - mean) / spread)
	}
}

// improve takes one step of the optimiser on some of the decisions.
func (g *pg) improve(decisions []decision) error {
	rows := len(decisions)
	clear(g.chosen)
	for row := range decisions {
		d := &decisions[row]
		g.batch.put(row, &g.train.Episodes[d.at.Episode], d.at.Lead, d.price)
		g.chosen[2*row+d.action] = 1
		g.rows.logits[row], g.rows.advantages[row], g.rows.gains[row] = d.logit, d.advantage, d.gain
	}
	p, n := &g.pool, int64(rows)
	weights := p.from(g.model.weights, int64(len(g.model.weights)))
	p.trainable(weights)
	inputs, history := g.batch.tensors(p, 0, rows)
	out := g.model.forward(p, weights, inputs, history, n)

	logits := p.logSoftmax(out.actions)
	taken := p.sumOver(p.mul(logits, p.from(g.chosen[:2*rows], n, networks.Outputs)), 1, false)
	loss := p.surrogate(taken, p.from(g.rows.logits[:rows], n), p.from(g.rows.advantages[:rows], n), g.cfg.ClipRatio)
	value := p.number(loss)
	mistake := p.huber(out.value, p.from(g.rows.gains[:rows], n), g.cfg.Huber)
	loss = p.add(loss, p.scale(p.mean(mistake), g.cfg.ValueWeight))
	fade := 1 - float64(g.Step)/float64(g.Steps)
	// The mean of p log p over both actions is minus half the entropy.
	loss = p.add(loss, p.scale(p.mean(p.mul(p.exp(logits), logits)), networks.Outputs*max(0, g.cfg.Entropy)*fade))
	gate := g.gate[:rows*len(g.GateSums)]
	if out.gate != nil {
		p.into(gate, out.gate)
		loss = p.add(loss, p.imbalance(out.gate, g.model.spec.Experts, g.cfg.Balance))
	}
	p.gradient(g.gradient, loss, weights)
	p.empty()
	if p.err != nil {
		return p.err
	}
	g.descend()
	g.count(value, gate)
	return nil
}

func (g *pg) judged() []float32 { return g.model.weights }

func (g *pg) arrays() map[string][]float32 { return nil }

func (g *pg) restored() {}
