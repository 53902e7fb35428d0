package shadow

import (
	"context"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
)

// absent are the jobs that are not there when the work is continued another way.
type absent map[segue.JobID]bool

// absentIn returns the successor and the later jobs of its line, which would have
// come after it: those that had not started before the predecessor.
func absentIn(history []segue.Job, line []int, h Handover) absent {
	set := absent{}
	for _, i := range line {
		if j := &history[i]; i != h.Before && !(j.Start.Known() && j.Start <= history[h.Before].Start) {
			set[j.ID] = true
		}
	}
	return set
}

// adviser asks for advice at ascending instants of the history.
type adviser struct {
	Config
	walk *predictor.Walk
	now  predictor.Present

	// How forecasts turned out, by what was known at the last midnight: the model's
	// by the zero shape, without a model the planner's by that of the successor.
	hindsights map[segue.Shape]provisioner.Hindsight
	looked     segue.Time
}

func newAdviser(cfg Config) (*adviser, error) {
	walk, err := predictor.NewWalk(cfg.History, cfg.Cluster.Pools[0].Nodes)
	if err != nil {
		return nil, err
	}
	return &adviser{Config: cfg, walk: walk, looked: segue.NoTime}, nil
}

// advise says whether the successor is to be submitted at the instant at, by what
// had been recorded before: of the predecessor its limit, and not when it ended.
// The successor asks for what the job like does.
func (a *adviser) advise(ctx context.Context, at segue.Time, h Handover, like int, absent absent) (segue.Decision, error) {
	before, user := &a.History[h.Before], a.History[h.Before].User
	a.now.History = a.walk.To(at, &a.now.Snapshot)
	a.now.Owner = user
	gone := func(q segue.QueuedJob) bool { return absent[q.ID] }
	a.now.Snapshot.Running = slices.DeleteFunc(a.now.Snapshot.Running, gone)
	a.now.Snapshot.Pending = slices.DeleteFunc(a.now.Snapshot.Pending, gone)
	remaining := max(before.Start.Add(before.Limit).Sub(at), 0)
	if before.End < at {
		remaining = 0
	}
	q := provisioner.Question{
		Request:   requestOf(&a.History[like], a.Cluster.Pools[0].Nodes),
		Remaining: remaining, Prefer: a.Prefer, MaxLead: a.MaxLead,
		Step: max(remaining, time.Hour), // what later moments would cost is not asked
	}
	if a.By == nil {
		shape := q.Request.Shape
		past, err := a.lookBack(ctx, at, shape, provisioner.Trained{Pairs: []segue.Shape{shape}})
		if err != nil {
			return segue.Decision{}, err
		}
		return provisioner.Advise(past, a.now, a.Cluster, a.Monte, q)
	}
	by, err := a.model(ctx, at, user)
	if err != nil {
		return segue.Decision{}, err
	}
	return provisioner.AdviseBy(by, a.now, a.Cluster, a.Monte, q)
}

// requestOf returns what the successor asks for, cut to the nodes that there are.
func requestOf(j *segue.Job, nodes int) segue.Request {
	limit := j.Limit
	if limit <= 0 {
		limit = segue.Unlimited
	}
	return segue.Request{
		Shape: segue.Shape{Nodes: min(int(max(j.Nodes, 1)), nodes), Limit: limit},
		User:  j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS,
	}
}

// model returns the model as it is asked at an instant.
func (a *adviser) model(ctx context.Context, at segue.Time, user string) (provisioner.Trained, error) {
	by := *a.By
	network, err := by.Model.Policy(by.Policy)
	if err != nil {
		return by, err
	}
	if network != nil && network.Spec.Kind == networks.Transformer {
		by.History = predictor.RecordedWindow(a.History, at, a.Cluster.Pools[0].Nodes, user)
	}
	by.Hindsight, err = a.lookBack(ctx, at, segue.Shape{}, by)
	return by, err
}

// lookBack returns how forecasts turned out, which is looked at every midnight (UTC).
func (a *adviser) lookBack(ctx context.Context, at segue.Time, of segue.Shape, by provisioner.Trained) (provisioner.Hindsight, error) {
	midnight := segue.TimeOf(at.Std().Truncate(24 * time.Hour))
	if midnight != a.looked {
		a.hindsights, a.looked = map[segue.Shape]provisioner.Hindsight{}, midnight
	}
	if found, done := a.hindsights[of]; done {
		return found, nil
	}
	found, err := provisioner.LookBack(ctx, by, a.History, midnight, a.Cluster, a.Monte)
	if err == nil {
		a.hindsights[of] = found
	}
	return found, err
}
