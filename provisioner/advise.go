package provisioner

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Question asks whether to submit the next link of a chain now.
type Question struct {
	Request   segue.Request
	Remaining time.Duration    // until the current link ends
	Prefer    segue.Preference // default balanced
	MaxLead   time.Duration    // never earlier than this before the end; 0 is no cap
	// Step is the distance of the alternatives; default one hour.
	Step time.Duration
}

func (q Question) withDefaults() Question {
	if q.Prefer == 0 {
		q.Prefer = segue.Balanced
	}
	if q.Step == 0 {
		q.Step = time.Hour
	}
	return q
}

// maxAlternatives bounds how many submissions are compared: a week of hours.
const maxAlternatives = 7 * 24

// Advise answers the question from what is known now, on a cluster of one pool
// with the scheduler that cluster describes: it covers the quantile of the Monte
// Carlo forecast that the preference asks for, as past corrects it, and prices
// submitting now, at each later step, and when the current link ends. A question
// that makes no sense is an error of kind segue.Invalid.
func Advise(
	past Hindsight, now predictor.Present, cluster simulator.Config, monte predictor.MonteCarloConfig, q Question,
) (segue.Decision, error) {
	s, err := plan(now, cluster, monte, q)
	if err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	return learned.Plan(s, past.CorrectPlanner), nil
}

// plan checks the question and simulates a submission now, at each later step,
// and when the current link ends.
func plan(now predictor.Present, cluster simulator.Config, monte predictor.MonteCarloConfig, q Question) (policy.Situation, error) {
	q = q.withDefaults()
	if err := q.validate(now.Snapshot, cluster); err != nil {
		return policy.Situation{}, err
	}
	forecaster, err := predictor.NewMonteCarlo(cluster, monte)
	if err != nil {
		return policy.Situation{}, err
	}
	later, err := forecaster.Later(&now, q.Request, q.delays())
	if err != nil {
		return policy.Situation{}, err
	}
	return policy.Situation{
		At: now.Snapshot.At, Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, MaxLead: q.MaxLead,
		Forecast: later[0], Later: later,
	}, nil
}

// delays returns after how long each alternative is submitted: 0 first, and at
// the end of the current link last unless that is too far ahead to be foreseen.
func (q Question) delays() []time.Duration {
	var delays []time.Duration
	for d := time.Duration(0); d < min(q.Remaining, predictor.MostAhead) && len(delays) < maxAlternatives; d += q.Step {
		delays = append(delays, d)
	}
	if q.Remaining > predictor.MostAhead {
		return delays
	}
	return append(delays, q.Remaining)
}

func (q Question) validate(snap segue.Snapshot, cluster simulator.Config) error {
	if err := q.Request.Validate(); err != nil {
		return err
	}
	if len(cluster.Pools) != 1 {
		return segue.Errorf(segue.Invalid, "the cluster has %d pools, want 1", len(cluster.Pools))
	}
	switch gpus := cluster.Pools[0].GPUsPerNode; {
	case q.Request.Nodes > snap.Nodes:
		return segue.Errorf(segue.Invalid, "the request is for %d nodes, the cluster has %d", q.Request.Nodes, snap.Nodes)
	case q.Request.GPUsPerNode > gpus:
		return segue.Errorf(segue.Invalid, "the request is for %d GPUs per node, the cluster hands out %d", q.Request.GPUsPerNode, gpus)
	case q.Remaining < 0:
		return segue.Errorf(segue.Invalid, "remaining is %s, want 0 or more", q.Remaining)
	case q.Remaining == segue.Unlimited:
		return segue.Errorf(segue.Invalid, "remaining is unlimited: a link that never ends needs no other")
	case q.MaxLead < 0:
		return segue.Errorf(segue.Invalid, "the longest lead is %s, want 0 (no cap) or more", q.MaxLead)
	case q.Step < time.Minute:
		return segue.Errorf(segue.Invalid, "step is %s, want at least 1m", q.Step)
	case !(q.Prefer > 0):
		return segue.Errorf(segue.Invalid, "preference is %v, want more than 0", float64(q.Prefer))
	}
	return nil
}
