package predictor

import (
	"cmp"
	"slices"

	"github.com/segue-project/segue"
)

// Known returns what a recorded history said at the instant at: the jobs that
// had been submitted, stripped of every start, end, state and exit code that
// had not happened.
func Known(jobs []segue.Job, at segue.Time) []segue.Job {
	var known []segue.Job
	for i := range jobs {
		j := jobs[i]
		if !j.Submit.Known() || j.Submit >= at {
			continue
		}
		if j.Eligible.Known() && j.Eligible > at {
			j.Eligible = segue.NoTime
		}
		if !j.End.Known() || j.End > at {
			j.End, j.State, j.ExitCode, j.Signal = segue.NoTime, segue.Running, 0, 0
			if !j.Start.Known() || j.Start > at {
				j.Start, j.State = segue.NoTime, segue.Pending
			}
		}
		known = append(known, j)
	}
	return known
}

// RecordedAt returns what could be seen at the instant at of a recorded
// history, on a cluster with nodes in service.
func RecordedAt(jobs []segue.Job, at segue.Time, nodes int) Present {
	snap := segue.Snapshot{At: at, Nodes: nodes}
	var started, ended []*segue.Job
	known := Known(jobs, at)
	for i := range known {
		switch j := &known[i]; {
		case j.Ran():
			started, ended = append(started, j), append(ended, j)
		case j.End.Known(): // cancelled while it waited
		case j.Start.Known():
			started = append(started, j)
			snap.Running = append(snap.Running, shown(j, j.Start))
		default:
			snap.Pending = append(snap.Pending, shown(j, segue.NoTime))
		}
	}
	slices.SortStableFunc(snap.Pending, func(a, b segue.QueuedJob) int { return cmp.Compare(a.Submit, b.Submit) })
	return Present{Snapshot: snap, History: recordedHistory(started, ended)}
}

// recordedHistory writes the starts and the ends down in the order in which
// they happened.
func recordedHistory(started, ended []*segue.Job) *History {
	slices.SortStableFunc(started, func(a, b *segue.Job) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(ended, func(a, b *segue.Job) int { return cmp.Compare(a.End, b.End) })
	h := &History{}
	for _, j := range started {
		q := shown(j, j.Start)
		h.Start(&q, j.Start)
	}
	for _, j := range ended {
		q := shown(j, j.Start)
		h.End(&q, j.Start, j.End)
	}
	return h
}

// shown is the job as squeue would have shown it, eligible since its
// submission for all that the record says.
func shown(j *segue.Job, start segue.Time) segue.QueuedJob {
	eligible := j.Submit
	if j.Eligible.Known() {
		eligible = j.Eligible
	}
	return segue.QueuedJob{
		ID: j.ID,
		Request: segue.Request{
			Shape: segue.Shape{Nodes: int(max(j.Nodes, 1)), Limit: j.Limit},
			User:  j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS,
		},
		Submit: j.Submit, Eligible: eligible, Start: start,
	}
}
