package segue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Unlimited is the time limit of a job that may run for ever (Slurm's
// UNLIMITED or INFINITE).
const Unlimited time.Duration = math.MaxInt64

// JobID names one job of a cluster: Slurm's number, and the task of an array
// or the component of a heterogeneous job where there is one.
type JobID struct {
	Number int64
	// Sub is the array task or the heterogeneous component, by Kind.
	Sub  int32
	Kind JobIDKind
}

// JobIDKind says what JobID.Sub counts.
type JobIDKind uint8

// The kinds of job identity.
const (
	PlainJob     JobIDKind = iota // 1234
	ArrayTask                     // 1234_5
	HetComponent                  // 1234+1
)

// String returns the identity as Slurm spells it.
func (id JobID) String() string {
	n := strconv.FormatInt(id.Number, 10)
	switch id.Kind {
	case ArrayTask:
		return n + "_" + strconv.Itoa(int(id.Sub))
	case HetComponent:
		return n + "+" + strconv.Itoa(int(id.Sub))
	}
	return n
}

// ParseJobID reads an identity as String returns it.
func ParseJobID(s string) (JobID, error) {
	number, rest := s, ""
	id := JobID{}
	if i := strings.IndexAny(s, "_+"); i >= 0 {
		number, rest = s[:i], s[i+1:]
		id.Kind = map[byte]JobIDKind{'_': ArrayTask, '+': HetComponent}[s[i]]
	}
	var err error
	if id.Number, err = strconv.ParseInt(number, 10, 64); err == nil && id.Kind != PlainJob {
		var sub int64
		sub, err = strconv.ParseInt(rest, 10, 32)
		id.Sub = int32(sub)
	}
	if err != nil || id.Number <= 0 || id.Sub < 0 {
		return JobID{}, Errorf(Invalid, "job id %q: want a number, 123_4 or 123+1", s)
	}
	return id, nil
}

// Job is one record of a cluster's history: what was asked for, when, and what
// became of it. Unknown instants are NoTime, unknown counts and limits 0.
type Job struct {
	ID        JobID
	Name      string
	User      string
	Account   string
	Partition string
	QOS       string

	Submit Time
	// Eligible is when the job could first have run: its begin time reached
	// and its dependencies met. NoTime when the history does not say.
	Eligible Time
	Start    Time // NoTime for a job that never started
	End      Time // NoTime for a job that has not ended

	Limit    time.Duration // requested time limit, or Unlimited
	Nodes    int32
	CPUs     int32 // processors over all nodes
	GPUs     int32 // GPUs over all nodes
	Priority int64 // as the scheduler recorded it once; 0 when unknown
	State    JobState
	// ExitCode is the exit status of the batch script, Signal the signal that
	// ended it.
	ExitCode int16
	Signal   int16
	// Restarts counts the earlier attempts of the same job (requeues).
	Restarts int16
}

// Ran reports whether the job started and ended.
func (j *Job) Ran() bool { return j.Start.Known() && j.End.Known() }

// Wait returns the time from submission to start, 0 if either is not known.
func (j *Job) Wait() time.Duration {
	if !j.Start.Known() || !j.Submit.Known() {
		return 0
	}
	return j.Start.Sub(j.Submit)
}

// Run returns the time from start to end, 0 if the job did not run.
func (j *Job) Run() time.Duration {
	if !j.Ran() {
		return 0
	}
	return j.End.Sub(j.Start)
}

// JobState is the state of a job, in Slurm's words.
type JobState uint8

// The states of a job.
const (
	StateUnknown JobState = iota
	Pending
	Running
	Suspended
	Completed
	Failed
	Cancelled
	Timeout
	Preempted
	NodeFail
	OutOfMemory
	BootFail
	Deadline
	Requeued
)

var stateNames = [...]string{
	"UNKNOWN", "PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT",
	"PREEMPTED", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REQUEUED",
}

// String returns Slurm's name of the state.
func (s JobState) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("JobState(%d)", s)
}

// ParseJobState returns the state that Slurm spells name; trailing words
// ("CANCELLED by 1000") and a trailing "+" of a truncated column are ignored.
// A name that it does not know is StateUnknown.
func ParseJobState(name string) JobState {
	for i := 0; i < len(name); i++ {
		if name[i] == ' ' || name[i] == '+' {
			name = name[:i]
			break
		}
	}
	if name == "" {
		return StateUnknown
	}
	for i, n := range stateNames {
		if n == name || (len(name) >= 6 && len(name) < len(n) && n[:len(name)] == name) {
			return JobState(i)
		}
	}
	return StateUnknown
}

// Ended reports whether a job in this state will not run again by itself.
func (s JobState) Ended() bool { return s >= Completed && s != Requeued }
