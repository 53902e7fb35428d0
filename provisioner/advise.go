package provisioner

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Question asks whether to submit the next link of a chain now.
type Question struct {
	Request   segue.Request
	Remaining time.Duration // until the current link ends
	Prefer    segue.Preference
	MaxLead   time.Duration // never earlier than this before the end; 0 is no cap
	// Step is the distance of the alternatives; default one hour.
	Step time.Duration
}

// maxAlternatives bounds how many later submissions are compared.
const maxAlternatives = 169

// Advise answers the question from what is known now, on a cluster with the
// scheduler of cfg: it covers the quantile of the Monte Carlo forecast that the
// preference asks for, and prices submitting now and at each later step.
func Advise(now predictor.Present, cluster simulator.Config, monte predictor.MonteCarloConfig, q Question) (segue.Decision, error) {
	if q.Step == 0 {
		q.Step = time.Hour
	}
	if err := q.validate(now.Snapshot.Nodes); err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	forecaster, err := predictor.NewMonteCarlo(cluster, monte)
	if err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	var delays []time.Duration
	for d := time.Duration(0); d <= q.Remaining && len(delays) < maxAlternatives; d += q.Step {
		delays = append(delays, d)
	}
	later, err := forecaster.Later(&now, q.Request, delays)
	if err != nil {
		return segue.Decision{}, fmt.Errorf("advise: %w", err)
	}
	rule := policy.Rule{
		Name: "monte-carlo-quantile", Forecaster: forecaster.Name(), Form: policy.Quantile, Param: q.Prefer.CriticalQuantile(),
	}
	return policy.Decide(rule, policy.Situation{
		At: now.Snapshot.At, Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, MaxLead: q.MaxLead,
		Forecast: later[0], Later: later,
	}), nil
}

func (q Question) validate(nodes int) error {
	if err := q.Request.Validate(); err != nil {
		return err
	}
	switch {
	case q.Request.Nodes > nodes:
		return segue.Errorf(segue.Invalid, "the request is for %d nodes, the cluster has %d", q.Request.Nodes, nodes)
	case q.Remaining < 0:
		return segue.Errorf(segue.Invalid, "remaining is %s, want 0 or more", q.Remaining)
	case q.Step < time.Minute:
		return segue.Errorf(segue.Invalid, "step is %s, want at least 1m", q.Step)
	case !(q.Prefer > 0):
		return segue.Errorf(segue.Invalid, "preference is %v, want more than 0", float64(q.Prefer))
	}
	return nil
}
