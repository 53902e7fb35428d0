package shadow_test

import (
	"context"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner/shadow"
	"github.com/segue-project/segue/simulator"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// monday is the midnight at which the histories of tests begin.
var monday = segue.Seconds(1675641600) // 2023-02-06 00:00 UTC

func at(d time.Duration) segue.Time { return monday.Add(d) }

// log is a history under construction.
type log struct{ jobs []segue.Job }

// job adds a job of a user, on nodes, that was submitted, started and ended after
// those spans from Monday.
func (l *log) job(user, name string, nodes int32, submit, start, end, limit time.Duration) *segue.Job {
	state := segue.Completed
	if end-start >= limit {
		state = segue.Timeout
	}
	l.jobs = append(l.jobs, segue.Job{
		ID: segue.JobID{Number: int64(len(l.jobs) + 1)}, User: user, Name: name, Nodes: nodes, Submit: at(submit), Eligible: segue.NoTime,
		Start: at(start), End: at(end), Limit: limit, State: state,
	})
	return &l.jobs[len(l.jobs)-1]
}

// late adds a small job so late that everything before it is within the history.
func (l *log) late() {
	l.job("zoe", "last", 1, 30*day, 30*day, 30*day+hour, hour)
}

func cluster(nodes int) simulator.Config {
	return simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}, Backfill: simulator.EASY}
}

// plainWorld replays a history on a cluster without any rule that it might give
// away, with the limits that were asked for.
func plainWorld(t testing.TB, history []segue.Job, nodes int) shadow.World {
	t.Helper()
	c := cluster(nodes)
	w, err := simulator.FromHistory(history, nodes)
	if err != nil {
		t.Fatal(err)
	}
	c.Users = w.Users
	for i := range w.Jobs {
		w.Jobs[i].Limit = max(history[i].Limit, w.Jobs[i].Run)
	}
	return shadow.World{Cluster: c, Jobs: w.Jobs}
}

func config(t testing.TB, history []segue.Job, nodes int) shadow.Config {
	t.Helper()
	return shadow.Config{
		History: history, World: plainWorld(t, history, nodes), From: at(0), Until: at(20 * day), Cluster: cluster(nodes),
		Monte: predictor.MonteCarloConfig{Replicas: 4, Seed: 1},
	}
}

func judged(t interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
}, cfg shadow.Config,
) shadow.Result {
	t.Helper()
	r, err := shadow.Judge(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
