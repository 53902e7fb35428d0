package trainer

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
)

// Probe returns the outcome of every submit time for a pair whose first job is
// submitted at the instant at of the replay. Later submissions of the history
// go on to its end, whenever the pair ends.
func Probe(s Setup, at segue.Time) (outcomes.Curve, error) {
	cluster, link, err := s.clusterAt(at)
	if err != nil {
		return outcomes.Curve{}, fmt.Errorf("outcome curve: %w", err)
	}
	var prober outcomes.Prober
	return prober.Curve(cluster, link, s.Grid)
}

// ProbeChain returns what becomes of a chain whose first link is submitted at
// the instant at of the replay, and every other one the lead before its
// predecessor ends: at its end for a lead of 0.
func ProbeChain(s Setup, at segue.Time, links int, lead time.Duration) ([]outcomes.Link, error) {
	if lead < 0 || lead > s.Pair.Limit || (lead > 0 && lead < time.Second) {
		return nil, segue.Errorf(segue.Invalid, "chain: a lead of %s, want 0, or from 1s to the time limit %s", lead, s.Pair.Limit)
	}
	cluster, link, err := s.clusterAt(at)
	if err != nil {
		return nil, fmt.Errorf("chain: %w", err)
	}
	step := lead // Follow asks at multiples of the step before the end
	if lead == 0 {
		step = s.Pair.Limit
	}
	atLead := func(_ int, remaining time.Duration, _ *simulator.Sim) (bool, error) { return remaining <= lead, nil }
	return outcomes.Follow(cluster, link, links, step, atLead, nil)
}

// clusterAt returns the replay at an instant, and a job of the pair.
func (s Setup) clusterAt(at segue.Time) (*simulator.Sim, simulator.Job, error) {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return nil, simulator.Job{}, err
	}
	if span := (Replay{Jobs: s.Jobs}).span(); at < span.From || at > span.To {
		return nil, simulator.Job{}, segue.Errorf(segue.Invalid, "%s is outside the history, whose jobs are submitted from %s to %s", at, span.From, span.To)
	}
	cluster, err := simulator.New(s.Cluster, s.Jobs)
	if err != nil {
		return nil, simulator.Job{}, err
	}
	cluster.AdvanceTo(at)
	return cluster, s.link(), nil
}
