//go:build native

package libtorch

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/policy/networks"
)

func TestImbalanceIsLeastWhenExpertsAreUsedAlike(t *testing.T) {
	t.Parallel()
	defer onOneThread()()
	tests := map[string]struct {
		gate    []float32 // two moments
		experts int
		weight  float64
		want    float64
	}{
		"one expert does everything": {[]float32{1, 0, 1, 0}, 2, 0.01, 0.01 * 2 * 1},
		"all do a part of each":      {[]float32{0.5, 0.5, 0.5, 0.5}, 2, 0.01, 0.01 * 2 * 0.5},
		// What a moment is given matters not, only what they are given together.
		"each does all of another": {[]float32{1, 0, 0, 1}, 2, 0.01, 0.01 * 2 * 0.5},
		// Mean weights of 0.3, 0.5 and 0.2, whose squares sum up to 0.38.
		"three of them":      {[]float32{0.5, 0.3, 0.2, 0.1, 0.7, 0.2}, 3, 2, 2 * 3 * 0.38},
		"no penalty is none": {[]float32{1, 0, 1, 0}, 2, -1, 0},
	}
	for name, tt := range tests {
		p := pool{device: -1}
		got := p.number(p.imbalance(p.from(tt.gate, 2, int64(tt.experts)), tt.experts, tt.weight))
		if p.err != nil {
			t.Fatal(p.err)
		}
		if diff := cmp.Diff(tt.want, got, roughly); diff != "" {
			t.Errorf("%s: the penalty differs (-want +got):\n%s", name, diff)
		}
		p.empty()
	}
}

// balanced is the training of a mixture, step by step. A step shows each of its
// moments to the gate once.
type balanced struct {
	*learner
	algorithm
	seen func() []decision // those of the last step
}

// mixtures are the two ways of training a mixture, of three experts.
func mixtures(t *testing.T, c Common) map[string]balanced {
	t.Helper()
	train, valid := queues(1, 60), queues(2, 15)
	c.Device = "cpu"
	start := func(heads networks.Heads, c Common) *learner {
		l, err := newLearner(networks.Spec{
			Kind: networks.Mixture, Heads: heads, State: 2, Hidden: []int{8}, Experts: 3, Gate: []int{0},
		}, &train, &valid, c)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	forDQN := DQNConfig{Common: c}.withDefaults()
	d := newDQN(start(networks.Dueling, forDQN.Common), forDQN)
	forPG := PGConfig{Common: c, Episodes: 32, Epochs: 1}
	forPG.Batch = 2000 // more than a step has decisions
	forPG = forPG.withDefaults()
	g := newPG(start(networks.Actor, forPG.Common), forPG)
	g.hesitate()
	return map[string]balanced{
		"DQN": {d.learner, d, func() []decision {
			var all []decision
			for i, n := range d.drawn {
				all = append(all, decision{at: d.replay.At(n), price: d.prices[i]})
			}
			return all
		}},
		"policy gradient": {g.learner, g, func() []decision { return g.drawn }},
	}
}

func TestBalanceSpreadsACollapsedGate(t *testing.T) {
	t.Parallel()
	defer onOneThread()()
	greatest := func(balance float64) map[string]float64 {
		uses := make(map[string]float64)
		for name, m := range mixtures(t, Common{Seed: 1, Steps: 120, Batch: 64, LearningRate: 0.02, ValidateEvery: 20, Balance: balance}) {
			named := m.model.export(m.model.weights)
			clear(named["gate.output.weight"].Data)
			copy(named["gate.output.bias"].Data, []float32{3, 0, 0}) // 91 % for the first
			r, err := m.run(t.Context(), m.algorithm)
			if err != nil {
				t.Fatal(err)
			}
			uses[name] = slices.Max(r.GateUse)
		}
		return uses
	}
	with, without := greatest(5), greatest(-1)
	for name := range with {
		if with[name] > 0.6 || without[name] < with[name]+0.1 {
			t.Errorf("%s: the expert that is used most has a weight of %.2f with the penalty and %.2f without, want at most 0.6 and much more",
				name, with[name], without[name])
		}
	}
}

func TestGateUseIsWhatTheGateGives(t *testing.T) {
	t.Parallel()
	defer onOneThread()()
	const steps = 3
	for name, m := range mixtures(t, Common{Steps: 100, Batch: 32}) {
		want := make([]float64, 3)
		for m.Step < steps {
			// As it is before the step: a step asks the gate, then moves it.
			net, err := networks.New(m.model.spec, m.model.export(slices.Clone(m.model.weights)))
			if err != nil {
				t.Fatal(err)
			}
			if err := m.learn(); err != nil {
				t.Fatal(err)
			}
			m.Step++
			scratch, seen := net.NewScratch(), m.seen()
			for _, d := range seen {
				e := &m.train.Episodes[d.at.Episode]
				var out [networks.Outputs]float32
				net.Decide(scratch, m.train.State(e, d.at.Lead), nil, float64(e.Leads[d.at.Lead]), d.price, out[:])
				for k, w := range scratch.Gate {
					want[k] += float64(w) / float64(len(seen)) / steps
				}
			}
		}
		if err := m.validate(m.judged()); err != nil {
			t.Fatal(err)
		}
		got := m.result().GateUse
		if diff := cmp.Diff(want, got, roughly); diff != "" {
			t.Errorf("%s: the reported use of the experts differs (-the network's +reported):\n%s", name, diff)
		}
		if diff := cmp.Diff(1.0, sum(got), roughly); diff != "" {
			t.Errorf("%s: the uses sum up to something else (-want +got):\n%s", name, diff)
		}
		// The next report is of the steps since this one alone.
		if diff := cmp.Diff([]float64{0, 0, 0}, m.GateSums); diff != "" {
			t.Errorf("%s: after a report something is left of it (-want +got):\n%s", name, diff)
		}
	}
}

func TestReportedGateUseSumsToOne(t *testing.T) {
	t.Parallel()
	defer onOneThread()()
	for name, m := range mixtures(t, Common{Steps: 7, Batch: 32, ValidateEvery: 2}) {
		r, err := m.run(t.Context(), m.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]float64)
		for _, p := range r.History {
			got[fmt.Sprint("step ", p.Step)] = sum(p.GateUse)
		}
		if diff := cmp.Diff(map[string]float64{"step 2": 1, "step 4": 1, "step 6": 1, "step 7": 1}, got, roughly); diff != "" {
			t.Errorf("%s: sums of the uses differ (-want +got):\n%s", name, diff)
		}
	}
}

func sum(values []float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total
}
