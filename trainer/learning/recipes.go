//go:build native

package learning

import (
	"maps"
	"slices"

	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/predictor"
)

// recipe is how a policy is built and trained.
type recipe struct {
	gradient bool // by policy gradient; otherwise by deep Q-learning
	spec     func() networks.Spec
}

// The gains of the priors: in units of cost, of which an hour's waiting makes a
// fraction, and in logits.
const (
	costGain  = 0.2
	logitGain = 2
)

// What comes on top of a prior is learned slowly, and its weights decay: months
// hold few busy weeks, and a network that may learn them by heart does.
const (
	learningRate = 5e-4
	decay        = 0.3
)

// What waiting costs is followed for a day of leads before the network is asked:
// it knows nothing at first, and a wait that seems to cost nothing spoils the
// prior.
const (
	nStep = 24
	batch = 64
)

// defaultSteps bound the training of a policy: later steps never gave a better
// one.
const defaultSteps = 4000

// prior returns the rule from which a policy starts to learn: the newsvendor rule
// on the forecast of the trees.
func prior(gain float64) *networks.Prior {
	return &networks.Prior{Input: slices.Index(policy.StateNames(), "forecast.no_gap_logit"), Gain: gain}
}

// recipes are the policies that can be trained, by name.
var recipes = map[string]recipe{
	"dqn": {spec: func() networks.Spec {
		return networks.Spec{Kind: networks.MLP, Heads: networks.Dueling, State: states(), Hidden: []int{64, 64}, Prior: prior(costGain)}
	}},
	"moe-dqn": {spec: func() networks.Spec {
		return networks.Spec{
			Kind: networks.Mixture, Heads: networks.Dueling, State: states(), Hidden: []int{32, 32},
			Experts: 4, Gate: gateInputs(), GateHidden: 16, Prior: prior(costGain),
		}
	}},
	"pg": {gradient: true, spec: func() networks.Spec {
		return networks.Spec{Kind: networks.MLP, Heads: networks.Actor, State: states(), Hidden: []int{64, 64}, Prior: prior(logitGain)}
	}},
	"transformer-pg": {gradient: true, spec: func() networks.Spec {
		return networks.Spec{
			Kind: networks.Transformer, Heads: networks.Actor, State: states(), Hidden: []int{32}, Prior: prior(logitGain),
			History: &networks.History{
				Steps: predictor.SummarySteps, Width: len(predictor.SummaryNames()), Model: 16, Heads: 2, Layers: 1, FeedForward: 32,
				Positions: networks.Learned, Pool: networks.Last,
			},
		}
	}},
}

func states() int { return len(policy.StateNames()) }

// Policies returns the names of the policies that can be trained, those of the
// published method last.
func Policies() []string {
	return append(slices.Sorted(maps.Keys(recipes)), published.PolicyNames()...)
}

// DefaultPolicies returns the names of those that are trained when none is
// named: the default of a cluster first.
func DefaultPolicies() []string { return []string{"moe-dqn", "dqn", "pg"} }
