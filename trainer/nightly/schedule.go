package nightly

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// Nightly trains on a schedule, or at once.
type Nightly struct {
	cfg      Config
	store    *store.Store
	schedule cron.Schedule
	begun    segue.Time // before this nothing was missed
}

// New returns what trains for one cluster.
func New(s *store.Store, cfg Config) (*Nightly, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	schedule, err := cfg.schedule()
	if err != nil {
		return nil, err
	}
	return &Nightly{cfg: cfg, store: s, schedule: schedule, begun: cfg.Now()}, nil
}

// look is the longest time between two looks at the clock, which may be set
// meanwhile, or have slept.
const look = time.Minute

// Run trains whenever it is time, until ctx ends, which is no error.
func (n *Nightly) Run(ctx context.Context) error {
	for n.cfg.Sleep(ctx, min(n.round(ctx), look)) == nil {
		continue
	}
	return nil // it was told to end
}

// round is RunOnce, whose error stops here.
func (n *Nightly) round(ctx context.Context) time.Duration {
	wait, err := n.RunOnce(ctx)
	if err != nil && ctx.Err() == nil {
		n.cfg.Log.Warn("training did not end well", "cluster", n.cfg.Cluster, "error", err)
	}
	return wait
}

// RunOnce trains if it is time, and returns how long it is until the next time.
func (n *Nightly) RunOnce(ctx context.Context) (wait time.Duration, err error) {
	if err := n.bury(ctx); err != nil {
		return look, err
	}
	due, err := n.next(ctx)
	if err != nil {
		return look, err
	}
	now := n.cfg.Now()
	if begin := due.at.Add(n.jitter(due.at)); begin > now && !due.missed {
		return begin.Sub(now), nil
	}
	cause := "schedule"
	if due.missed {
		cause = "catch-up"
	}
	t, err := n.train(ctx, cause, due.at)
	switch t.State {
	case store.TrainingRunning: // in another process
		return look, err
	case store.TrainingInterrupted: // what it would have skipped is missed
		return look, err
	}
	if err = errors.Join(err, n.pass(ctx, due.at)); err != nil {
		return look, err
	}
	return 0, nil
}

// Now trains at once, whatever the schedule says.
func (n *Nightly) Now(ctx context.Context) (store.Training, error) {
	return n.train(ctx, "hand", segue.NoTime)
}

// due is an instant of the schedule.
type due struct {
	at segue.Time
	// missed is true for one that passed while nobody was there: the latest of all
	// that did, or the one whose training was interrupted.
	missed bool
}

// next returns the instant of the schedule that comes next, or the latest one that
// was missed.
func (n *Nightly) next(ctx context.Context) (due, error) {
	last, err := n.store.LastScheduled(ctx, n.cfg.Cluster)
	if err != nil {
		return due{}, err
	}
	from := last
	if !from.Known() {
		from = n.begun
	}
	d := due{at: n.after(from)}
	for later := n.after(d.at); later <= n.cfg.Now(); later = n.after(d.at) {
		d = due{at: later, missed: true}
	}
	// The only one that passed is late by no more than its jitter, or else missed.
	d.missed = d.missed || n.cfg.Now().Sub(d.at) > max(n.cfg.Jitter, 0)+2*look
	if d.at <= n.cfg.Now() { // it does what an earlier one did not
		return d, nil
	}
	again, err := n.again(ctx)
	if again.Known() {
		d = due{at: again, missed: true}
	}
	return d, err
}

// after returns the first instant of the schedule after t.
func (n *Nightly) after(t segue.Time) segue.Time {
	return segue.TimeOf(n.schedule.Next(t.Std().In(n.cfg.Zone)))
}

// jitter returns by how much the training of an instant begins later.
func (n *Nightly) jitter(at segue.Time) time.Duration {
	if n.cfg.Jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, n.cfg.Cluster, int64(at))
	return time.Duration(h.Sum64() % uint64(n.cfg.Jitter))
}
