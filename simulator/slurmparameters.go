package simulator

import (
	"time"

	"github.com/segue-project/segue"
)

// SlurmParameters are the SchedulerParameters that matter here, under Slurm's
// names. Zero fields take Slurm's defaults.
type SlurmParameters struct {
	// MainInterval is the grid of the main pass: changes are seen at its next
	// point. Negative means at once. Default 1 s (sched_min_interval's
	// granularity in practice).
	MainInterval time.Duration
	// CycleInterval is the grid on which the main pass goes through the whole
	// queue, when QueueDepth kept the pass before from that (sched_interval);
	// default 60 s.
	CycleInterval    time.Duration
	BackfillInterval time.Duration // bf_interval; default 30 s
	Window           time.Duration // bf_window; default 24 h
	Resolution       time.Duration // bf_resolution; default 60 s
	MaxJobTest       int           // bf_max_job_test; default 500
	MaxJobUser       int           // bf_max_job_user; default 0, no bound
	QueueDepth       int           // default_queue_depth; default 100
	// RoundOutward rounds as a real Slurm does: a reservation is widened to the grid
	// of Resolution at both ends, and running jobs end with their limits. Otherwise,
	// as in the published simulator, running jobs and reservations last to the next
	// point of the grid, and begin where they begin. It matters where limits are
	// minutes.
	RoundOutward bool
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
	def(&p.CycleInterval, time.Minute)
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

func (p SlurmParameters) validate() error {
	bad := func(field string, value any, want string) error {
		return segue.Errorf(segue.Invalid, "simulator config: Slurm.%s is %v, want %s", field, value, want)
	}
	switch {
	case p.MainInterval > longest:
		return bad("MainInterval", p.MainInterval, "at most "+longest.String())
	case p.CycleInterval < time.Microsecond || p.CycleInterval > longest:
		return bad("CycleInterval", p.CycleInterval, "1µs to "+longest.String())
	case p.BackfillInterval < time.Microsecond || p.BackfillInterval > longest:
		return bad("BackfillInterval", p.BackfillInterval, "1µs to "+longest.String())
	case p.Window < 0 || p.Window > longest:
		return bad("Window", p.Window, "0 to "+longest.String())
	case p.Resolution < time.Microsecond || p.Resolution > longest:
		return bad("Resolution", p.Resolution, "1µs to "+longest.String())
	case p.MaxJobTest < 0:
		return bad("MaxJobTest", p.MaxJobTest, "0 or more")
	case p.MaxJobUser < 0:
		return bad("MaxJobUser", p.MaxJobUser, "0 or more")
	case p.QueueDepth < 0:
		return bad("QueueDepth", p.QueueDepth, "0 or more")
	}
	return nil
}
