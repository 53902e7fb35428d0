package predictor

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

// The window of the past that policies with a memory look at: one summary an
// hour, of the last day.
const (
	SummaryStep  = time.Hour
	SummarySteps = 24
)

// SummaryNames returns the names of the numbers of a summary, in order.
func SummaryNames() []string {
	s := summary{sheet: sheet{naming: true}}
	s.add(&segue.Snapshot{}, "")
	return s.names
}

// Summarise appends a coarse picture of the cluster to out and returns it: a few
// of the features of a Describer, without the owner's jobs. It needs no forecast
// and no history, so that it can be kept for every hour.
func Summarise(snap *segue.Snapshot, owner string, out []float32) []float32 {
	s := summary{sheet: sheet{values: out}}
	s.add(snap, owner)
	return s.values
}

// summary is a sheet with sums of both lists of jobs.
type summary struct{ sheet }

// sums are totals over a list of jobs. Work is in node-hours by limit, ages are
// in hours: since the submission of a job that waits, since the start of one
// that runs.
type sums struct {
	jobs, nodes, work, age, oldest, widest, limit float64
}

func (s *summary) add(snap *segue.Snapshot, owner string) {
	nodes := float64(max(snap.Nodes, 1))
	running := sumOf(snap.Running, owner, func(q *segue.QueuedJob) (work, age time.Duration) {
		return left(q, planned(q.Limit), snap.At), q.Elapsed(snap.At)
	})
	pending := sumOf(snap.Pending, owner, func(q *segue.QueuedJob) (work, age time.Duration) {
		return planned(q.Limit), max(0, snap.At.Sub(q.Submit))
	})
	s.put("free", max(0, 1-running.nodes/nodes))
	for _, list := range []struct {
		name string
		sums
	}{{"running", running}, {"pending", pending}} {
		jobs := max(list.jobs, 1)
		s.put(list.name+".jobs_log", math.Log1p(list.jobs))
		s.put(list.name+".size", list.nodes/nodes)
		s.put(list.name+".work", list.work/nodes)
		s.put(list.name+".age_mean", list.age/jobs)
		s.put(list.name+".age_max", list.oldest)
		s.put(list.name+".widest", list.widest/nodes)
		s.put(list.name+".limit_mean", list.limit/jobs)
	}
}

// sumOf sums up the jobs of everybody but the owner.
func sumOf(jobs []segue.QueuedJob, owner string, of func(*segue.QueuedJob) (work, age time.Duration)) sums {
	var t sums
	for i := range jobs {
		q := &jobs[i]
		if owner != "" && q.User == owner {
			continue
		}
		work, age := of(q)
		t.jobs++
		t.nodes += float64(q.Nodes)
		t.work += float64(q.Nodes) * work.Hours()
		t.age += age.Hours()
		t.limit += planned(q.Limit).Hours()
		t.oldest = max(t.oldest, age.Hours())
		t.widest = max(t.widest, float64(q.Nodes))
	}
	return t
}
