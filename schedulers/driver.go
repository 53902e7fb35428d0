package schedulers

import (
	"context"
	"io"
	"syscall"
	"time"

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
	// State returns the nodes and all users' jobs: the pending and running ones, and
	// those that have ended as long as the scheduler shows them.
	State(ctx context.Context) (State, error)
	// Submit submits a job once. An error of kind Ambiguous says that the scheduler
	// may have taken it all the same.
	Submit(ctx context.Context, s Submission) (Submitted, error)
	// FindByToken returns the jobs that carry the token, ended ones too where the
	// scheduler remembers them. It is complete for jobs that were submitted from
	// the instant since on, by the clock of this machine, or it fails: with an error
	// that wraps ErrForgotten where it can never be again.
	FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error)
	// Status returns what the accounting, a second source, knows of jobs that State
	// does not show, by their ID. One that is not in the answer is not known to it.
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

// Impersonator is a driver that can act as a user of the cluster.
type Impersonator interface {
	// As returns a driver whose Cancel is the user's own act: the scheduler refuses what
	// the user may not do. For anything else it is the same.
	As(user string) (Driver, error)
}

// Historian is a driver whose scheduler remembers the jobs of all users.
type Historian interface {
	// History writes what the accounting knows of the jobs that waited or ran
	// between two instants, as sacct --parsable2 prints it: a line of column names,
	// and times in seconds since the epoch or in UTC. It is for package traces to
	// read.
	History(ctx context.Context, from, until segue.Time, w io.Writer) error
}

// Skew is how far the clocks of this machine and the scheduler's may be apart.
const Skew = 10 * time.Minute

// Capabilities says what a scheduler can do. What is false or 0 is not there.
type Capabilities struct {
	Version string // of the scheduler, as it says itself: "slurm 22.05.8"
	Cluster string // its name
	// Accounting is true where ended jobs are remembered and can be asked for
	// (slurmdbd). Otherwise they are forgotten after Remembers.
	Accounting bool
	// Hold, Requeue, Nice and Signals are true where the methods work for a user's
	// own jobs.
	Hold, Requeue, Nice, Signals bool
	// TokenSearch is true where FindByToken sees ended jobs too.
	TokenSearch bool
	// Lingers is for how long what submits a job may still do so when the process
	// that started it has died.
	Lingers time.Duration
}

// Submission is a job to submit.
type Submission struct {
	segue.Submission
	// Request is what the job asks for, as far as it is known. A scheduler that
	// reads the submission itself does not look at it.
	Request segue.Request
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

// Job is a job that a scheduler shows.
type Job struct {
	segue.QueuedJob
	Name    string
	State   segue.JobState
	Nodes   []string   // that it runs on, by name
	EndTime segue.Time // when it ended, or when its limit will end it
	Comment string
	// ExitCode and Signal are of one that has ended.
	ExitCode, Signal int
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

// LifeOf returns what a state says of a job's being, to a source that shows the
// last word on it. A job that was preempted, or lost its node, may be on its way
// back into the queue.
func LifeOf(s segue.JobState) Life {
	switch {
	case s == segue.StateUnknown:
		return Unknown
	case s.Ended():
		return Ended
	}
	return Alive
}

// settled is how long after its end a job that was preempted, or lost its node,
// is not coming back: schedulers requeue at once.
const settled = time.Minute

// status returns what a scheduler that shows the job at an instant says of it.
func (j *Job) status(at segue.Time) Status {
	s := Status{
		Life: LifeOf(j.State), State: j.State, Submit: j.Submit, Start: j.Start, End: j.EndTime,
		Reason: j.Reason, ExitCode: j.ExitCode, Signal: j.Signal, Restarts: j.Restarts, User: j.User,
	}
	s.Token, _, _, _, _ = segue.FindToken(j.Comment)
	mayReturn := j.State == segue.Preempted || j.State == segue.NodeFail || j.State == segue.BootFail
	if mayReturn && j.Requeueable && (!j.EndTime.Known() || at.Sub(j.EndTime) < settled) {
		s.Life = Unknown
	}
	return s
}

func (s *State) byID() map[segue.JobID]*Job {
	m := make(map[segue.JobID]*Job, len(s.Jobs))
	for i := range s.Jobs {
		m[s.Jobs[i].ID] = &s.Jobs[i]
	}
	return m
}

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
	// User and Token are whose job it is and the token that it carries, empty where
	// the source does not say. A scheduler that has lost a job gives its number to
	// another one: they tell the two apart.
	User  string
	Token string
}

// SameJob reports whether two records under one number are of one job, by what they
// say of it.
func (s Status) SameJob(other Status) bool { return s.Token == other.Token && s.User == other.User }

// HasRun reports whether the job is known to have been started, or to have ended
// in a way of which a source tells.
func (s Status) HasRun() bool {
	return s.Start.Known() || s.State.Ended() || s.State == segue.Running || s.State == segue.Suspended
}
