package simulator

import (
	"fmt"
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
	Events Events // PerInstant by default; SlurmBackfill knows no other
	Limits Limits
	// QOS are the classes of service that jobs name by index. None means one
	// without limits.
	QOS     []QOS
	Outages []Outage
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

// Outage takes nodes of a pool out of service for a while.
type Outage struct {
	Pool        int
	From, Until segue.Time
	Nodes       int
	// Drain lets running jobs finish; otherwise the jobs on the nodes, picked
	// at random among the nodes in service, are requeued at once.
	Drain bool
}

// Backfill is the rule by which a job may overtake.
type Backfill uint8

// The backfill rules.
const (
	// NoBackfill starts jobs strictly in order.
	NoBackfill Backfill = iota
	// EASY lets a job overtake that does not delay the first waiting job
	// (Lifka, 1995).
	EASY
	// Conservative gives every job a reservation at its submission, which no
	// later job delays; when a job ends early all are placed anew in order
	// (Mu'alem and Feitelson, 2001).
	Conservative
	// SlurmBackfill plans anew every BackfillInterval, as Slurm's sched/backfill.
	SlurmBackfill
)

var backfillNames = [...]string{"none", "easy", "conservative", "slurm"}

// String returns the name on the command line.
func (b Backfill) String() string {
	if int(b) < len(backfillNames) {
		return backfillNames[b]
	}
	return fmt.Sprintf("Backfill(%d)", b)
}

// ParseBackfill returns the rule of that name.
func ParseBackfill(name string) (Backfill, error) {
	for i, n := range backfillNames {
		if n == name {
			return Backfill(i), nil
		}
	}
	return 0, segue.Errorf(segue.Invalid, "backfill %q: want none, easy, conservative or slurm", name)
}

// Events says how much happens between two scheduling passes.
type Events uint8

// The granularities of events.
const (
	PerInstant Events = iota // one pass after everything at one instant
	PerEvent                 // one pass after every single event
)

// ParseEvents returns the granularity that the command line calls name.
func ParseEvents(name string) (Events, error) {
	switch name {
	case "per-instant":
		return PerInstant, nil
	case "per-event":
		return PerEvent, nil
	}
	return 0, segue.Errorf(segue.Invalid, "events %q: want per-instant or per-event", name)
}

// SlurmParameters are the SchedulerParameters that matter here, under Slurm's
// names. Zero fields take Slurm's defaults.
type SlurmParameters struct {
	// MainInterval is the grid of the main pass: changes are seen at its next
	// point. Negative means at once. Default 1 s (sched_min_interval's
	// granularity in practice).
	MainInterval     time.Duration
	BackfillInterval time.Duration // bf_interval; default 30 s
	Window           time.Duration // bf_window; default 24 h
	Resolution       time.Duration // bf_resolution; default 60 s
	MaxJobTest       int           // bf_max_job_test; default 500
	MaxJobUser       int           // bf_max_job_user; default 0, no bound
	QueueDepth       int           // default_queue_depth; default 100
}

// Published returns the scheduler of the published provisioner's own
// simulator: a strict first-in-first-out pass every minute and a backfill pass
// every 10 minutes on a 10-minute grid over 48 hours.
func Published() SlurmParameters {
	return SlurmParameters{
		MainInterval: time.Minute, BackfillInterval: 10 * time.Minute,
		Window: 48 * time.Hour, Resolution: 10 * time.Minute, MaxJobTest: 3000, QueueDepth: 3000,
	}
}

func (p SlurmParameters) withDefaults() SlurmParameters {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&p.MainInterval, time.Second)
	def(&p.BackfillInterval, 30*time.Second)
	def(&p.Window, 24*time.Hour)
	def(&p.Resolution, time.Minute)
	if p.MaxJobTest == 0 {
		p.MaxJobTest = 500
	}
	if p.QueueDepth == 0 {
		p.QueueDepth = 100
	}
	return p
}

func (c Config) withDefaults() Config {
	c.Slurm = c.Slurm.withDefaults()
	if len(c.Partitions) == 0 {
		for i, p := range c.Pools {
			c.Partitions = append(c.Partitions, Partition{Name: p.Name, Pool: i})
		}
	}
	if len(c.QOS) == 0 {
		c.QOS = []QOS{{Name: "normal"}}
	}
	return c
}

func (c Config) validate() error {
	bad := func(format string, args ...any) error {
		return segue.Errorf(segue.Invalid, "simulator config: "+format, args...)
	}
	if len(c.Pools) == 0 {
		return bad("Pools is empty, want at least one")
	}
	for i, p := range c.Pools {
		if p.Nodes < 1 || p.Nodes > maxNodes {
			return bad("Pools[%d].Nodes is %d, want 1 to %d", i, p.Nodes, maxNodes)
		}
		if p.GPUsPerNode < 0 || p.GPUsPerNode > maxGPUs {
			return bad("Pools[%d].GPUsPerNode is %d, want 0 to %d", i, p.GPUsPerNode, maxGPUs)
		}
	}
	for i, p := range c.Partitions {
		if p.Pool < 0 || p.Pool >= len(c.Pools) {
			return bad("Partitions[%d].Pool is %d, want 0 to %d", i, p.Pool, len(c.Pools)-1)
		}
	}
	for i, o := range c.Outages {
		switch {
		case o.Pool < 0 || o.Pool >= len(c.Pools):
			return bad("Outages[%d].Pool is %d, want 0 to %d", i, o.Pool, len(c.Pools)-1)
		case o.Nodes < 1 || o.Nodes > c.Pools[o.Pool].Nodes:
			return bad("Outages[%d].Nodes is %d, want 1 to %d", i, o.Nodes, c.Pools[o.Pool].Nodes)
		case o.Until <= o.From:
			return bad("Outages[%d] ends at %s, not after its start at %s", i, o.Until, o.From)
		}
	}
	if c.Backfill > SlurmBackfill {
		return bad("Backfill is %d, want 0 to %d", c.Backfill, SlurmBackfill)
	}
	if c.Backfill == SlurmBackfill && c.Events == PerEvent {
		return bad("Events is PerEvent, but Slurm schedules in passes")
	}
	if p := c.Slurm; p.BackfillInterval < 0 || p.Resolution < 0 || p.Window < 0 || p.MaxJobTest < 0 || p.QueueDepth < 0 {
		return bad("Slurm has a negative parameter")
	}
	return nil
}

const (
	maxNodes = 1 << 24
	maxGPUs  = 1 << 10
)
