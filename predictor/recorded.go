package predictor

import (
	"cmp"
	"slices"

	"github.com/segue-project/segue"
)

// Known returns what a recorded history said at the instant at: the jobs that
// had been submitted, stripped of every start, end, state, exit code and requeue
// that had not happened. What happens at the instant itself is still to come.
func Known(jobs []segue.Job, at segue.Time) []segue.Job {
	var known []segue.Job
	for i := range jobs {
		if j := jobs[i]; j.Submit.Known() && j.Submit < at {
			known = append(known, knownOf(j, at))
		}
	}
	return known
}

func knownOf(j segue.Job, at segue.Time) segue.Job {
	if j.Eligible >= at {
		j.Eligible = segue.NoTime
	}
	if j.End.Known() && j.End < at {
		return j
	}
	j.End, j.State, j.ExitCode, j.Signal, j.Restarts = segue.NoTime, segue.Running, 0, 0, 0
	if !j.Start.Known() || j.Start >= at {
		j.Start, j.State = segue.NoTime, segue.Pending
	}
	return j
}

// RecordedAt returns what could be seen at the instant at of a recorded
// history, on a cluster with nodes in service. jobs are the records as they are,
// not what Known left of them: a job that becomes eligible later is shown as
// one that is not eligible yet, which the scheduler shows too.
func RecordedAt(jobs []segue.Job, at segue.Time, nodes int) Present {
	snap := segue.Snapshot{At: at, Nodes: nodes}
	var started, ended []*segue.Job
	for i := range jobs {
		if !jobs[i].Submit.Known() || jobs[i].Submit >= at {
			continue
		}
		switch j := knownOf(jobs[i], at); {
		case j.Ran():
			started, ended = append(started, &j), append(ended, &j)
		case j.End.Known(): // cancelled while it waited
		case j.Start.Known():
			started = append(started, &j)
			snap.Running = append(snap.Running, shown(&j))
		default:
			q := shown(&j)
			if jobs[i].Eligible >= at {
				q.Eligible = segue.NoTime
			}
			snap.Pending = append(snap.Pending, q)
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
		q := shown(j)
		h.Start(&q, j.Start)
	}
	for _, j := range ended {
		q := shown(j)
		h.End(&q, j.Start, j.End)
	}
	return h
}

// shown is the job as squeue would have shown it. For all that the record says
// it has been eligible since its submission, and without a limit it has none.
func shown(j *segue.Job) segue.QueuedJob {
	eligible, limit := j.Submit, j.Limit
	if j.Eligible.Known() {
		eligible = j.Eligible
	}
	if limit <= 0 {
		limit = segue.Unlimited
	}
	return segue.QueuedJob{
		ID: j.ID,
		Request: segue.Request{
			Shape: segue.Shape{Nodes: int(max(j.Nodes, 1)), Limit: limit},
			User:  j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS,
		},
		Submit: j.Submit, Eligible: eligible, Start: j.Start,
	}
}
