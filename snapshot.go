package segue

import "time"

// Snapshot is what a scheduler shows of itself at one instant, and all that a
// forecaster may know of the present: no job in it carries its end, its run
// time or anything else that lies in the future.
type Snapshot struct {
	At Time
	// Nodes is the number of nodes in service (not down, not drained).
	Nodes int
	// GPUsPerNode is 0 where nodes are handed out whole.
	GPUsPerNode int
	Running     []QueuedJob
	Pending     []QueuedJob // in the scheduler's order where it has one
}

// QueuedJob is one pending or running job as squeue would show it.
type QueuedJob struct {
	ID JobID
	Request
	Submit   Time
	Eligible Time // NoTime when not known or not yet
	Start    Time // NoTime while pending
	// Priority is how far the job goes before a new submission of the same shape
	// for reasons other than its age, in the scheduler's units; 0 when unknown.
	Priority int64
	Reason   string // why it pends, in Slurm's words: "Resources", "QOSMaxJobsPerUserLimit"
}

// Elapsed returns how long the job has run at the instant now; 0 while pending.
func (q *QueuedJob) Elapsed(now Time) time.Duration {
	if !q.Start.Known() {
		return 0
	}
	return now.Sub(q.Start)
}
