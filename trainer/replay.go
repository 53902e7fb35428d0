package trainer

import (
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces/infer"
)

// Replay is a history made ready for a simulated cluster.
type Replay struct {
	// Name is stable: "plain" or "faithful".
	Name    string
	Cluster simulator.Config // of one pool
	Jobs    []simulator.Job
}

// Replays returns the plain replay of a history, in which every job may start
// as soon as it is submitted, and on request the faithful one too, which holds
// what the history gives away: the limits on a user's running jobs, dependencies,
// the nodes in service day by day (then cluster's number is not used), and the
// order of the queue by recorded priority. docs/fidelity.md measures both.
func Replays(history []segue.Job, cluster simulator.Config, faithful bool) ([]Replay, error) {
	if len(cluster.Pools) != 1 {
		return nil, segue.Errorf(segue.Invalid, "replay: the cluster has %d pools, want 1", len(cluster.Pools))
	}
	w, err := simulator.FromHistory(history, cluster.Pools[0].Nodes)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	cluster.Users = w.Users
	plain := Replay{Name: "plain", Cluster: cluster, Jobs: w.Jobs}
	if !faithful {
		return []Replay{plain}, nil
	}
	return []Replay{plain, plain.faithful(history, infer.Infer(history, infer.Config{}))}, nil
}

// RequestedLimits returns the replay with the limits that users asked for, where
// they are known. The reference rules, by which histories are replayed
// elsewhere, raise the limit of a job that overran it to its run time and cut
// that of a job that never ran to a second: a forecaster that sees such a limit
// could tell how the job will end. history must be the replay's own.
func (r Replay) RequestedLimits(history []segue.Job) Replay {
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		if limit := history[i].Limit; limit >= time.Second && limit != segue.Unlimited {
			r.Jobs[i].Limit, r.Jobs[i].Run = limit, min(r.Jobs[i].Run, limit)
		}
	}
	return r
}

// Clairvoyant returns the replay in which the scheduler knows how long every
// job will run: its limit is its run time.
func (r Replay) Clairvoyant() Replay {
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		r.Jobs[i].Limit = r.Jobs[i].Run
	}
	return r
}
