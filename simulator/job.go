package simulator

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Job is one job as the simulated users, scheduler and machine know it
// between them. User, Partition and QOS are indices; the scheduler never looks
// at Run.
type Job struct {
	Submit segue.Time
	// Run is how long the job would run without a limit.
	Run time.Duration
	// Limit is the requested time limit, all that the scheduler knows.
	Limit time.Duration
	Nodes int32
	// GPUsPerNode takes so many GPUs of each node; 0 takes whole nodes.
	GPUsPerNode int32
	User        int32
	Partition   int32 // index into Config.Partitions
	QOS         int32 // index into Config.QOS
	Nice        int32
	// Begin is the earliest start (sbatch --begin); the zero Time is none.
	Begin segue.Time
	// CancelAt is when its user gives it up if it has not started by then;
	// the zero Time is never.
	CancelAt segue.Time
	// Fails says that the job ends with an error: afterok is not met by it.
	Fails bool
	// Singleton, when not 0, names a group (same name and user) of which one
	// job runs at a time, in order of submission.
	Singleton int32
	After     []Dependency
}

// Dependency is one condition of sbatch --dependency. A job with several is
// eligible when all are met (Slurm's comma).
type Dependency struct {
	Job  Ref
	Kind DependencyKind
	// Delay is the time after the start of Job, for After.
	Delay time.Duration
}

// DependencyKind is the type of a dependency, in Slurm's words.
type DependencyKind uint8

// The kinds of dependencies.
const (
	AfterAny DependencyKind = iota // Job has ended
	AfterOK                        // Job has ended without an error; never met otherwise
	After                          // Job has started, Delay ago
)

// Ref names a job of one simulation: its position in the slice given to New,
// or what Submit returned.
type Ref int32

// job is a compiled Job: what the hot path reads, on one cache line.
type job struct {
	submit, run, limit int64 // run is already cut at the limit
	nodes              int32
	gpus               int32
	user               int32
	part               int16
	qos                int16
	flags              uint16
}

const (
	hasBegin uint16 = 1 << iota
	hasCancel
	hasNice
	hasAfter // has dependencies of its own
	hasSingleton
	hasDependents // others of the table depend on it
	fails

	// isRare says that more about the job is kept beside the table.
	isRare = hasBegin | hasCancel | hasNice | hasAfter | hasSingleton
	// isHeld says that the job may not be eligible at its submission.
	isHeld = hasBegin | hasAfter | hasSingleton
)

// compile returns the hot part of j.
func compile(j *Job) job {
	limit := min(max(j.Limit.Microseconds(), 1), maxSpan)
	k := job{
		submit: int64(j.Submit), run: min(j.Run.Microseconds(), limit), limit: limit,
		nodes: j.Nodes, gpus: j.GPUsPerNode, user: j.User, part: int16(j.Partition), qos: int16(j.QOS),
	}
	set := func(flag uint16, on bool) {
		if on {
			k.flags |= flag
		}
	}
	set(hasBegin, j.Begin != 0)
	set(hasCancel, j.CancelAt != 0)
	set(hasNice, j.Nice != 0)
	set(hasAfter, len(j.After) > 0)
	set(hasSingleton, j.Singleton != 0)
	set(fails, j.Fails || j.Run > j.Limit)
	return k
}

// clone returns a copy that the caller's later changes do not reach.
func (j *Job) clone() *Job {
	c := *j
	c.After = slices.Clone(j.After)
	return &c
}

// shares reports whether the job takes less than whole nodes of that many GPUs.
func (j *job) shares(gpus int32) bool { return j.gpus > 0 && j.gpus < gpus }
