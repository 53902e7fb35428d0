package trainer

import (
	"fmt"
	"slices"

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
// the caps and dependencies that the history gives away.
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
	return []Replay{plain, plain.faithful(infer.Infer(history, infer.Config{}))}, nil
}

// faithful adds what was inferred from the history, whose jobs are those of the
// replay, one by one.
func (r Replay) faithful(found *infer.Result) Replay {
	r.Name = "faithful"
	if l := found.Limits.MaxRunning; l.Found && r.Cluster.Limits.MaxRunningJobs == 0 {
		r.Cluster.Limits.MaxRunningJobs = l.Value
	}
	jobs := append([]simulator.Job(nil), r.Jobs...)
	for _, d := range found.Dependencies {
		jobs[d.Job].After = append(jobs[d.Job].After, simulator.Dependency{Job: simulator.Ref(d.After), Kind: simulator.AfterAny})
	}
	r.Jobs = jobs
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
