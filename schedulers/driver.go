package schedulers

import (
	"context"
	"syscall"

	"github.com/segue-project/segue"
)

// Driver talks to one scheduler. It does each thing once and says what came of
// it; Cluster adds the rest. Its errors have kinds: Unavailable when the
// scheduler did not answer or not wholly, NotFound for a job that it does not
// know, Invalid for what it refuses for good. A driver may be used by several
// goroutines.
type Driver interface {
	// Name is stable: "slurm".
	Name() string
	// Capabilities says what the scheduler at hand can do.
	Capabilities(ctx context.Context) (Capabilities, error)
	// State returns the nodes and the jobs that are pending or running, all users'.
	State(ctx context.Context) (State, error)
	// Submit submits a job once. An error of kind Ambiguous says that the scheduler
	// may have taken it all the same.
	Submit(ctx context.Context, s Submission) (Submitted, error)
	// FindByToken returns the jobs that carry the token, ended ones too where the
	// scheduler remembers them. It is complete for jobs that were submitted from
	// the instant since on, or it fails.
	FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error)
	// Status returns what is known of jobs, by their ID. One that is not in the
	// answer is not known to this source.
	Status(ctx context.Context, jobs []segue.JobID) (map[segue.JobID]Status, error)
	Cancel(ctx context.Context, job segue.JobID) error
	Hold(ctx context.Context, job segue.JobID) error
	Release(ctx context.Context, job segue.JobID) error
	// Requeue puts running jobs back into the queue, and leaves alone what has
	// ended meanwhile.
	Requeue(ctx context.Context, jobs []segue.JobID) error
	// SetNice sets how far a pending job stands behind others of its priority.
	SetNice(ctx context.Context, job segue.JobID, nice int) error
	// Signal sends a signal to the batch script and all steps.
	Signal(ctx context.Context, job segue.JobID, signal syscall.Signal) error
}

// Capabilities says what a scheduler can do. What is false or 0 is not there.
type Capabilities struct {
	Version string // of the scheduler, as it says itself: "slurm 22.05.8"
	Cluster string // its name
	// Accounting is true where ended jobs are remembered and can be asked for
	// (slurmdbd). Otherwise they are forgotten after Remembers.
	Accounting bool
	// Requeue, Nice and Signals are true where the methods work for this user.
	Requeue, Nice, Signals bool
	// TokenSearch is true where FindByToken sees ended jobs too.
	TokenSearch bool
}

// Submission is a job to submit.
type Submission struct {
	segue.Submission
	// Token is carried by the job, and names it to FindByToken.
	Token string
	// Extra are variables that the job gets on top of its environment.
	Extra []string // K=V
}

// Submitted is what came of a submission.
type Submitted struct {
	Job segue.JobID
	// Says is what the scheduler said about it, for people.
	Says string
}

// State is what a scheduler shows at one instant.
type State struct {
	At    segue.Time
	Nodes []Node
	Jobs  []Job
	// Skipped counts records that could not be read, and Problems tells of some.
	Skipped  int
	Problems []string
}

// Node is one machine.
type Node struct {
	Name       string
	Partitions []string
	GPUs       int
	// InService is false for one that takes no jobs: down, drained, or reserved
	// for maintenance.
	InService bool
	// Idle is true for one in service on which nothing runs or is being cleaned up.
	Idle bool
}

// Job is a pending or running job.
type Job struct {
	segue.QueuedJob
	Name    string
	State   segue.JobState
	Nodes   []string // that it runs on, by name
	Comment string
	// Requeueable is true for one that may be put back into the queue.
	Requeueable bool
	Restarts    int
}

// Life is what is known of a job's being.
type Life uint8

// What is known of a job's being. Unknown is the zero value.
const (
	Unknown Life = iota
	Alive        // pending, running, suspended, or on its way back into the queue
	Ended        // and it will not run again by itself
)

var lives = [...]string{"unknown", "alive", "ended"}

// String returns "unknown", "alive" or "ended".
func (l Life) String() string { return lives[min(int(l), len(lives)-1)] }

// Status is what is known of one job. Instants that are not known are
// segue.NoTime.
type Status struct {
	Life     Life
	State    segue.JobState
	Submit   segue.Time
	Start    segue.Time
	End      segue.Time // of a running job: when its limit ends it
	Reason   string     // why it pends
	ExitCode int
	Signal   int
	Restarts int
}
