//go:build native

package libtorch

import (
	"fmt"
	"testing"

	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/trainer/environment"
)

// remembered is the table with the load taken out of the states: it is in the
// oldest row of the history alone.
func remembered(table environment.Table) environment.Table {
	table.HistorySteps, table.HistoryWidth = 4, 2
	for i := range table.Episodes {
		e := &table.Episodes[i]
		for k := range e.Leads {
			state := table.State(e, k)
			e.Histories = append(e.Histories, state[0], 1, 0, state[1], 0, state[1], 0, 1)
			state[0] = 0
		}
	}
	return table
}

func TestPolicyGradientComesCloseToTheBestPolicy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec  networks.Spec
		table func(environment.Table) environment.Table
		cfg   PGConfig
	}{
		"mlp": {
			networks.Spec{Kind: networks.MLP, Heads: networks.Actor, State: 2, Hidden: []int{32, 32}},
			func(t environment.Table) environment.Table { return t },
			PGConfig{Common: Common{Steps: 100, LearningRate: 0.003}},
		},
		"transformer that has to remember the load": {
			networks.Spec{
				Kind: networks.Transformer, Heads: networks.Actor, State: 2, Hidden: []int{32},
				History: &networks.History{
					Steps: 4, Width: 2, Model: 8, Heads: 2, Layers: 1, FeedForward: 16, Positions: networks.Learned, Pool: networks.Mean,
				},
			},
			remembered,
			PGConfig{Common: Common{Steps: 100, LearningRate: 0.003}},
		},
	}
	for name, tt := range tests {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				train, valid := tt.table(queues(1, 300)), tt.table(queues(2, 150))
				cfg := tt.cfg
				cfg.Seed, cfg.Device = seed, "cpu"
				result, err := TrainPG(t.Context(), tt.spec, train, valid, cfg, nil)
				if err != nil {
					t.Fatal(err)
				}
				known := queues(2, 150)
				if got := excess(t, result, &valid, &known); got > 1.1 {
					t.Errorf("the costs are %.3f of the least ones, want at most 1.1", got)
				}
			})
		}
	}
}
