package outcomes_test

import (
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
)

// at returns the instant d after the epoch.
func at(d time.Duration) segue.Time { return segue.Time(0).Add(d) }

// job returns a job submitted at the instant submit that runs for run within
// limit.
func job(submit, run, limit time.Duration, nodes int32) simulator.Job {
	return simulator.Job{Submit: at(submit), Run: run, Limit: limit, Nodes: nodes, User: 1}
}

// earlier is a job that has come and gone before the epoch: a simulation begins
// with its first submission.
func earlier() simulator.Job { return job(-time.Hour, time.Minute, time.Minute, 1) }

// clusterAt returns a cluster of the given nodes after the given time, first
// come first served.
func clusterAt(t *testing.T, now time.Duration, nodes int, jobs ...simulator.Job) *simulator.Sim {
	t.Helper()
	s, err := simulator.New(simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}},
		append([]simulator.Job{earlier()}, jobs...))
	if err != nil {
		t.Fatal(err)
	}
	s.AdvanceTo(at(now))
	return s
}

// link returns a job of a chain.
func link(nodes int32, limit time.Duration) simulator.Job {
	return simulator.Job{Nodes: nodes, Limit: limit, Run: limit}
}

func curveOf(t *testing.T, base *simulator.Sim, l simulator.Job, grid outcomes.Grid) outcomes.Curve {
	t.Helper()
	var p outcomes.Prober
	c, err := p.Curve(base, l, grid)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recorder writes down what an observer of a cluster sees.
type recorder struct{ events []event }

type event struct {
	What      string
	Job       simulator.Ref
	At, Start segue.Time
}

func (r *recorder) Submitted(ref simulator.Ref, at segue.Time) {
	r.events = append(r.events, event{"submitted", ref, at, segue.NoTime})
}

func (r *recorder) Started(ref simulator.Ref, at segue.Time) {
	r.events = append(r.events, event{"started", ref, at, at})
}

func (r *recorder) Ended(ref simulator.Ref, start, at segue.Time) {
	r.events = append(r.events, event{"ended", ref, at, start})
}

// future returns everything that happens on the cluster from here on.
func future(s *simulator.Sim) []event {
	fork := s.Fork(nil)
	var r recorder
	fork.Observe(&r)
	fork.Run()
	return r.events
}
