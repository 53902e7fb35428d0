package learning

import (
	"maps"
	"slices"

	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/predictor"
)

// recipe is how a policy is built and trained.
type recipe struct {
	gradient bool // by policy gradient; otherwise by deep Q-learning
	spec     func() networks.Spec
}

// recipes are the policies that can be trained, by name.
var recipes = map[string]recipe{
	"dqn": {spec: func() networks.Spec {
		return networks.Spec{Kind: networks.MLP, Heads: networks.Dueling, State: states(), Hidden: []int{128, 128}}
	}},
	"moe-dqn": {spec: func() networks.Spec {
		return networks.Spec{
			Kind: networks.Mixture, Heads: networks.Dueling, State: states(), Hidden: []int{64, 64},
			Experts: 4, Gate: gateInputs(), GateHidden: 16,
		}
	}},
	"pg": {gradient: true, spec: func() networks.Spec {
		return networks.Spec{Kind: networks.MLP, Heads: networks.Actor, State: states(), Hidden: []int{128, 128}}
	}},
	"transformer-pg": {gradient: true, spec: func() networks.Spec {
		return networks.Spec{
			Kind: networks.Transformer, Heads: networks.Actor, State: states(), Hidden: []int{64},
			History: &networks.History{
				Steps: predictor.SummarySteps, Width: len(predictor.SummaryNames()), Model: 32, Heads: 4, Layers: 2, FeedForward: 64,
				Positions: networks.Learned, Pool: networks.Last,
			},
		}
	}},
}

func states() int { return len(policy.StateNames()) }

// Policies returns the names of the policies that can be trained.
func Policies() []string { return slices.Sorted(maps.Keys(recipes)) }

// DefaultPolicies returns the names of those that are trained when none is
// named: the default of a cluster first.
func DefaultPolicies() []string { return []string{"moe-dqn", "dqn", "pg"} }
