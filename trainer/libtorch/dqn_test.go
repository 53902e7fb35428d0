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

// queues is a table whose best policy is known. The state tells the load: the
// wait is 2, 8 or 16 hours by it, and up to half as much more or less. For each
// load, and at each price, one lead is best.
func queues(seed uint64, episodes int) environment.Table {
	r := rand.New(rand.NewPCG(seed, 0))
	loads := []float64{2, 8, 16}
	table := environment.Table{Width: 2}
	for i := range episodes {
		load := loads[i%len(loads)]
		wait := load * (0.5 + r.Float64())
		e := environment.Episode{Weight: 1}
		for lead := float32(0); lead <= 30; lead += 2 {
			e.Leads = append(e.Leads, lead)
			e.States = append(e.States, float32(load), float32(r.NormFloat64()))
			e.Outcomes = append(e.Outcomes, float32(wait)-lead)
		}
		table.Episodes = append(table.Episodes, e)
	}
	return table
}

// leastCost is the cost of the best policy that knows the load alone, when the
// waits are those of the table.
func leastCost(t *environment.Table, price float64) float64 {
	sums := make(map[float32][]float64) // by load, the cost of each lead
	for i := range t.Episodes {
		e := &t.Episodes[i]
		load := t.State(e, 0)[0]
		if sums[load] == nil {
			sums[load] = make([]float64, len(e.Leads))
		}
		for k, x := range e.Outcomes {
			sums[load][k] += environment.Cost(x, price)
		}
	}
	var total float64
	for _, costs := range sums {
		least := math.Inf(1)
		for _, c := range costs {
			least = min(least, c)
		}
		total += least
	}
	return total / float64(len(t.Episodes))
}

// excess is the cost of a trained network on a table over that of the best
// policy, as a mean over the prices of the validation. The table known shows the
// load in its states.
func excess(t *testing.T, r Result, table, known *environment.Table) float64 {
	t.Helper()
	net, err := networks.New(r.Spec, r.Tensors)
	if err != nil {
		t.Fatal(err)
	}
	prices := defaultPrices()
	var sum float64
	for _, j := range environment.Frontier(net, table, prices) {
		sum += j.Cost / leastCost(known, j.Price)
	}
	return sum / float64(len(prices))
}

func TestDQNComesCloseToTheBestPolicy(t *testing.T) {
	t.Parallel()
	train, valid := queues(1, 300), queues(2, 150)
	for name, spec := range map[string]networks.Spec{
		"mlp": {Kind: networks.MLP, Heads: networks.Dueling, State: 2, Hidden: []int{32, 32}},
		"mixture": {
			Kind: networks.Mixture, Heads: networks.Dueling, State: 2, Hidden: []int{16, 16}, Experts: 3, Gate: []int{0},
		},
	} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				result, err := TrainDQN(t.Context(), spec, train, valid, DQNConfig{Common: Common{
					Seed: seed, Steps: 2500, Batch: 128, LearningRate: 0.003, ValidateEvery: 250, Device: "cpu",
				}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := excess(t, result, &valid, &valid); got > 1.1 {
					t.Errorf("the costs are %.3f of the least ones, want at most 1.1", got)
				}
			})
		}
	}
}
