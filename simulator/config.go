package simulator

import (
	"time"

	"github.com/segue-project/segue"
)

// Config describes a cluster and its scheduler. The zero value of every field
// but Pools works.
type Config struct {
	Pools []Pool
	// Partitions name the pools. None means one partition per pool, of the
	// pool's name and tier 0.
	Partitions []Partition
	Order      Order
	Backfill   Backfill
	// Slurm holds the parameters of SlurmBackfill. Unused otherwise.
	Slurm  SlurmParameters
	Events Events // PerInstant by default
	Limits Limits
	// QOS are the classes of service that jobs name by index. None means one
	// without limits.
	QOS     []QOS
	Outages []Outage
	// CleanUp is how long the nodes of a job that has ended cannot be used (Slurm's
	// completing state). The scheduler knows that they will be idle then. With
	// NoBackfill and SlurmBackfill only, and neither with outages nor preemption.
	CleanUp time.Duration
	// RequeueDelay is how long a preempted or failed job waits before it is
	// eligible again; 0 means at once. Slurm's default is 2 minutes.
	RequeueDelay time.Duration
	// Seed picks the nodes that an outage hits.
	Seed uint64
	// Users names the users by index, for snapshots.
	Users []string
}

// Pool is a number of equal nodes.
type Pool struct {
	Name  string
	Nodes int
	// GPUsPerNode bounds the GPUs that a job can take of one node; 0 means
	// that nodes are only handed out whole.
	GPUsPerNode int
}

// Partition is a door to a pool.
type Partition struct {
	Name string
	Pool int // index into Config.Pools
	// Tier is Slurm's PriorityTier: jobs of a higher tier go first and, where
	// the lower partition allows it, preempt.
	Tier int
	// Preempt says what happens to this partition's jobs when a higher tier
	// needs their nodes.
	Preempt PreemptMode
	// Factor is the partition's factor of the multifactor priority, in [0, 1].
	Factor float64
}

// PreemptMode is Slurm's PreemptMode of a partition.
type PreemptMode uint8

// The preemption modes.
const (
	PreemptOff     PreemptMode = iota // its jobs are never preempted
	PreemptRequeue                    // preempted jobs go back to the queue and start anew
	PreemptCancel                     // preempted jobs end
)

// QOS is a class of service.
type QOS struct {
	Name   string
	Factor float64 // of the multifactor priority, in [0, 1]
	Limits Limits  // per user within the QOS
	// GroupNodes bounds the nodes of all the QOS's running jobs together
	// (GrpTRES=node); 0 means no bound.
	GroupNodes int
}

// Limits are caps on one user; 0 means none.
type Limits struct {
	// MaxRunningJobs is Slurm's MaxJobsPerUser: a job over it waits without a
	// reservation and holds nobody up.
	MaxRunningJobs int
	// MaxNodes bounds the nodes of a user's running jobs (MaxTRESPerUser=node).
	MaxNodes int
	// MaxSubmittedJobs is MaxSubmitJobsPerUser, over pending and running jobs.
	// Slurm refuses a submission over it; a replay cannot ask the user, so the
	// job is taken as soon as the user is below it again.
	MaxSubmittedJobs int
}

// Outage takes nodes of a pool out of service for a while; at most those that
// are in service, where outages overlap. The scheduler does not foresee it.
type Outage struct {
	Pool        int
	From, Until segue.Time
	Nodes       int
	// Drain lets running jobs finish; otherwise the jobs on the nodes, picked
	// at random among the nodes in service, are requeued at once.
	Drain bool
}
