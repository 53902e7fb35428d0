//go:build native

package libtorch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/segue-project/segue/policy/networks"
)

// served are networks of the sizes that are trained in earnest.
func served(heads networks.Heads) []networks.Spec {
	return []networks.Spec{
		{Kind: networks.MLP, Heads: heads, State: 92, Hidden: []int{128, 128}},
		{
			Kind: networks.Mixture, Heads: heads, State: 92, Hidden: []int{64, 64},
			Experts: 4, Gate: []int{0, 1, 2, 3}, GateHidden: 16,
		},
		{
			Kind: networks.Transformer, Heads: heads, State: 92, Hidden: []int{128},
			History: &networks.History{
				Steps: 24, Width: 24, Model: 64, Heads: 4, Layers: 2, FeedForward: 128,
				Positions: networks.Sinusoidal, Pool: networks.Mean,
			},
		},
	}
}

func BenchmarkDQNStep(b *testing.B) {
	for _, spec := range served(networks.Dueling)[:2] {
		b.Run(fmt.Sprintf("%s-%d", spec.Kind, spec.ExpertCount()), func(b *testing.B) {
			defer onOneThread()()
			table := randomTable(rand.New(rand.NewPCG(1, 2)), spec, 200, 49)
			cfg := DQNConfig{Common: Common{Device: "cpu"}}.withDefaults()
			l, err := newLearner(spec, &table, &table, cfg.Common)
			if err != nil {
				b.Fatal(err)
			}
			d := newDQN(l, cfg)
			for b.Loop() {
				if err := d.learn(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPGStep(b *testing.B) {
	for _, spec := range served(networks.Actor) {
		b.Run(fmt.Sprintf("%s-%d", spec.Kind, spec.ExpertCount()), func(b *testing.B) {
			defer onOneThread()()
			table := randomTable(rand.New(rand.NewPCG(1, 2)), spec, 200, 49)
			cfg := PGConfig{Common: Common{Device: "cpu"}}.withDefaults()
			l, err := newLearner(spec, &table, &table, cfg.Common)
			if err != nil {
				b.Fatal(err)
			}
			g := newPG(l, cfg)
			g.hesitate()
			decisions := 0
			for b.Loop() {
				if err := g.learn(); err != nil {
					b.Fatal(err)
				}
				decisions += len(g.drawn)
			}
			b.ReportMetric(float64(decisions)/float64(b.N), "decisions/op")
		})
	}
}
