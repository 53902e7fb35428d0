package infer

import (
	"cmp"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// history is the jobs, indexed for the questions that are asked of them. Jobs
// are known by their index.
type history struct {
	jobs        []segue.Job
	started     []bool       // the job ran for some time
	leaves      []segue.Time // the queue: its start, or when it was cancelled
	users       [][]int      // the jobs of each user, in order of submission
	userOf      []int
	startedJobs int
	waiting     float64 // hours, of all jobs: centuries fit no time.Duration
}

func newHistory(jobs []segue.Job) *history {
	h := &history{
		jobs:    jobs,
		started: make([]bool, len(jobs)),
		leaves:  make([]segue.Time, len(jobs)),
		userOf:  make([]int, len(jobs)),
	}
	names := map[string]int{}
	for i := range jobs {
		j := &jobs[i]
		h.started[i] = j.Start.Known() && j.Start >= j.Submit && (!j.End.Known() || j.End > j.Start)
		h.leaves[i] = leaves(j)
		if h.started[i] {
			h.startedJobs++
		}
		h.waiting += h.wait(i).Hours()
		u, known := names[j.User]
		if !known {
			u = len(h.users)
			names[j.User] = u
			h.users = append(h.users, nil)
		}
		h.userOf[i] = u
		h.users[u] = append(h.users[u], i)
	}
	for _, own := range h.users {
		slices.SortStableFunc(own, func(a, b int) int { return cmp.Compare(jobs[a].Submit, jobs[b].Submit) })
	}
	return h
}

// leaves returns when a job leaves the queue: Never for one that still waits.
func leaves(j *segue.Job) segue.Time {
	switch {
	case j.Start.Known():
		return max(j.Start, j.Submit)
	case j.End.Known():
		return max(j.End, j.Submit)
	}
	return segue.Never
}

// wait returns how long the job waited, 0 for one that waits still.
func (h *history) wait(i int) time.Duration {
	if h.leaves[i] == segue.Never {
		return 0
	}
	return h.leaves[i].Sub(h.jobs[i].Submit)
}

// ends returns when the job ends, Never for one that still runs.
func (h *history) ends(i int) segue.Time {
	if !h.jobs[i].End.Known() {
		return segue.Never
	}
	return h.jobs[i].End
}

// change is a step of a count that jobs raise for a while.
type change struct {
	at  segue.Time
	by  int
	job int
}

// sortChanges orders changes by time; what falls at an instant makes room for
// what rises there.
func sortChanges(changes []change) {
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by), cmp.Compare(a.job, b.job))
	})
}

// selection says which jobs a question is about.
type selection func(*segue.Job) bool

func everyJob(*segue.Job) bool { return true }
