//go:build native

package libtorch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/trainer/environment"
)

// specs are networks of every kind, small enough for a test.
func specs() map[string]networks.Spec {
	all := make(map[string]networks.Spec)
	history := func(positions networks.Positions, pool networks.Pool) *networks.History {
		return &networks.History{
			Steps: 6, Width: 5, Model: 12, Heads: 3, Layers: 2, FeedForward: 16, Positions: positions, Pool: pool,
		}
	}
	for _, heads := range []networks.Heads{networks.Plain, networks.Dueling, networks.Actor} {
		all[fmt.Sprintf("mlp, %s", heads)] = networks.Spec{Kind: networks.MLP, Heads: heads, State: 7, Hidden: []int{16, 9}}
		all[fmt.Sprintf("mixture, %s", heads)] = networks.Spec{
			Kind: networks.Mixture, Heads: heads, State: 7, Hidden: []int{16, 9, 5},
			Experts: 3, Gate: []int{0, 6, 7}, GateHidden: 8,
		}
		leaning := all[fmt.Sprintf("mixture, %s", heads)]
		leaning.Prior = &networks.Prior{Input: 5, Gain: 0.7}
		all[fmt.Sprintf("mixture, %s, with a prior", heads)] = leaning
		all[fmt.Sprintf("transformer, %s", heads)] = networks.Spec{
			Kind: networks.Transformer, Heads: heads, State: 7, Hidden: []int{16, 9}, History: history(networks.Learned, networks.Mean),
		}
	}
	all["mixture with a linear gate"] = networks.Spec{
		Kind: networks.Mixture, Heads: networks.Dueling, State: 7, Hidden: []int{16}, Experts: 2, Gate: []int{3},
	}
	all["transformer with sinusoidal positions, of which the last is read"] = networks.Spec{
		Kind: networks.Transformer, Heads: networks.Plain, State: 7, Hidden: []int{8}, History: history(networks.Sinusoidal, networks.Last),
	}
	return all
}

func TestPlainGoAndLibtorchAgree(t *testing.T) {
	t.Parallel()
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer onOneThread()()
			r := rand.New(rand.NewPCG(1, 2))
			table := randomTable(r, spec, 20, 6)
			m := newModel(spec, &table)
			m.draw(r)
			for i := range m.weights { // biases too
				m.weights[i] += float32(r.NormFloat64()) * 0.1
			}
			net, err := networks.New(spec, m.export(m.weights))
			if err != nil {
				t.Fatal(err)
			}
			rows := table.Moments()
			b := newBatch(m, &table, rows)
			row := 0
			for i := range table.Episodes {
				for k := range table.Episodes[i].Leads {
					b.put(row, &table.Episodes[i], k, environment.Balanced)
					row++
				}
			}

			var p pool
			p.device = -1
			defer p.empty()
			inputs, history := b.tensors(&p, 0, rows)
			out := m.forward(&p, p.from(m.weights, int64(len(m.weights))), inputs, history, int64(rows))
			got := make([]float32, rows*networks.Outputs)
			gate := make([]float32, rows*spec.Experts)
			p.into(got, out.actions)
			if spec.Kind == networks.Mixture {
				p.into(gate, out.gate)
			}
			if p.err != nil {
				t.Fatal(p.err)
			}

			scratch := net.NewScratch()
			row = 0
			for i := range table.Episodes {
				e := &table.Episodes[i]
				for k := range e.Leads {
					var want [networks.Outputs]float32
					net.Decide(scratch, table.State(e, k), table.History(e, k), float64(e.Leads[k]), environment.Balanced, want[:])
					for a := range want {
						near(t, fmt.Sprintf("row %d, output %d", row, a), got[row*networks.Outputs+a], want[a])
					}
					for a, w := range scratch.Gate {
						near(t, fmt.Sprintf("row %d, expert %d", row, a), gate[row*spec.Experts+a], w)
					}
					row++
				}
			}
		})
	}
}

func near(t *testing.T, what string, got, want float32) {
	t.Helper()
	if diff := math.Abs(float64(got - want)); !(diff <= 1e-5*max(1, math.Abs(float64(want)))) {
		t.Errorf("%s: libtorch has %v, plain Go %v", what, got, want)
	}
}

// randomTable has numbers of all sizes in its states, and some that are none.
func randomTable(r *rand.Rand, spec networks.Spec, episodes, leads int) environment.Table {
	table := environment.Table{Width: spec.State}
	if h := spec.History; h != nil {
		table.HistorySteps, table.HistoryWidth = h.Steps, h.Width
	}
	for range episodes {
		e := environment.Episode{Weight: 1}
		for k := range leads {
			e.Leads = append(e.Leads, float32(k))
			e.Outcomes = append(e.Outcomes, float32(r.NormFloat64()*5))
			for c := range spec.State {
				e.States = append(e.States, float32(r.NormFloat64()*math.Pow(10, float64(c%4))))
			}
			for range table.HistorySteps * table.HistoryWidth {
				e.Histories = append(e.Histories, float32(r.NormFloat64()*3+1))
			}
		}
		e.States[0] = float32(math.NaN())
		e.States[spec.State] = float32(math.Inf(-1))
		table.Episodes = append(table.Episodes, e)
	}
	return table
}
