package simulator

import (
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
	_                  uint16
}

const (
	hasCancel uint16 = 1 << iota
	hasBegin
	hasAfter      // has dependencies of its own
	hasDependents // others depend on it
	hasSingleton
	fails
)
