package infer

import (
	"time"

	"github.com/segue-project/segue"
)

// Config sets what counts as a coincidence. The zero value works.
type Config struct {
	// Window is how soon after an own job's end a start is thought to follow
	// from it: clean-up and one scheduling period. Default 90 s.
	Window time.Duration
	// MinWait is the wait from which on a start is asked for its cause; below,
	// it had none to wait for. Default 10 minutes.
	MinWait time.Duration
}

func (c Config) withDefaults() Config {
	if c.Window <= 0 {
		c.Window = 90 * time.Second
	}
	if c.MinWait <= 0 {
		c.MinWait = 10 * time.Minute
	}
	return c
}

// Result is what a history gives away. Slices that are "by job" have one
// element per job of the history, in its order.
type Result struct {
	Jobs         int     `json:"jobs"`
	Users        int     `json:"users"`
	Started      int     `json:"started"`       // jobs that started and took time
	WaitingHours float64 `json:"waiting_hours"` // of all jobs, until they started or were cancelled

	// Limits on each user over the whole cluster, and within each partition or
	// QOS where there is more than one.
	Limits     Limits         `json:"limits"`
	Partitions []ScopedLimits `json:"partitions,omitempty"`
	QOS        []ScopedLimits `json:"qos,omitempty"`

	Chains       Chains       `json:"chains"`
	Dependencies []Dependency `json:"dependencies"`
	// Order is what the recorded priorities say about the order of the queue.
	Order Order `json:"order"`

	// OwnPending tells how waits grow with the jobs that the user had pending
	// already.
	OwnPending []PendingRow `json:"own_pending"`
	Nodes      []NodeDay    `json:"nodes"`

	// Held, by job, is until when it certainly could not run, because jobs that
	// its user submitted later and that ask for no less went first; NoTime where
	// nothing says so.
	Held []segue.Time `json:"-"`
	// Eligible, by job, is when the job could first have run: at its submission,
	// or when the recorded eligible time came, the job it depends on ended, Held
	// was over, or its user fell below the limit for the last time before its
	// start. A job that never started has its submission.
	Eligible []segue.Time `json:"-"`
	// SelfBlocked, by job, is true when the user's own jobs, or the user, held it
	// for over a minute.
	SelfBlocked []bool `json:"-"`
	// Blocked counts the self-blocked jobs; LimitShare, DependencyShare and
	// BlockedShare are the parts of all waiting hours that limits, dependencies,
	// and either of them explain.
	Blocked         int     `json:"self_blocked_jobs"`
	LimitShare      float64 `json:"waiting_share_of_limits"`
	DependencyShare float64 `json:"waiting_share_of_dependencies"`
	BlockedShare    float64 `json:"waiting_share_of_both"`
}

// Infer studies a history, whose jobs may come in any order.
func Infer(jobs []segue.Job, cfg Config) *Result {
	h := newHistory(jobs)
	r := &Result{
		Jobs:         len(jobs),
		Users:        len(h.users),
		Started:      h.startedJobs,
		WaitingHours: h.waiting,
	}
	r.Limits = h.inferLimits(everyJob)
	r.Partitions = h.inferScopes(func(j *segue.Job) string { return j.Partition })
	r.QOS = h.inferScopes(func(j *segue.Job) string { return j.QOS })
	blocks := h.limitBlocks(r)
	r.Chains, r.Dependencies = h.inferChains(cfg.withDefaults(), blocks)
	r.Dependencies = h.completeLines(r.Dependencies)
	r.Held, r.Dependencies = h.findHeld(r.Dependencies)
	r.Chains.Inferred = len(r.Dependencies)
	h.eligibility(r, blocks)
	r.Order = h.inferOrder(r)
	r.OwnPending = h.ownPending()
	r.Nodes = h.newOccupancy(r.Eligible).perDay()
	return r
}
