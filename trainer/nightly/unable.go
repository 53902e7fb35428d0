package nightly

import (
	"context"
	"errors"
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// Unable is a schedule whose trainings cannot begin, since something is missing that
// New needs, such as the cluster. What it does not do is told, once for each reason.
type Unable struct {
	n    *Nightly
	last segue.Time // the latest instant that passed
	told string
}

// NewUnable returns one. Of cfg only what schedules, records and tells counts; its
// Cluster may be empty.
func NewUnable(s *store.Store, cfg Config) (*Unable, error) {
	cfg = cfg.withDefaults()
	if cfg.Now == nil {
		return nil, segue.Errorf(segue.Invalid, "training: Now is required")
	}
	schedule, err := cfg.schedule()
	if err != nil {
		return nil, err
	}
	return &Unable{n: &Nightly{cfg: cfg, store: s, schedule: schedule}, last: cfg.Now()}, nil
}

// RunOnce records a training that failed, and tells of it, if one was due since the
// last time and could not begin for a reason of which nobody is told yet. Of several
// servers one does.
func (u *Unable) RunOnce(ctx context.Context, why error) error {
	now, passed := u.n.cfg.Now(), segue.NoTime
	for at := u.n.after(u.last); at.Add(u.n.jitter(at)) <= now; at = u.n.after(at) {
		passed = at
	}
	if !passed.Known() {
		return nil
	}
	u.last = passed
	if u.told == why.Error() {
		return nil
	}
	t := store.Training{
		ID: idOf(passed), Cluster: u.n.cfg.Cluster, Cause: "schedule", Scheduled: segue.NoTime, Started: passed, Ended: now,
		State: store.TrainingFailed, Step: first, Why: fmt.Sprintf("It cannot begin: %v", why),
	}
	err := u.n.store.BeginTraining(ctx, t)
	u.told = why.Error()
	if segue.KindOf(err) == segue.Conflict { // another server told of it
		return nil
	}
	return errors.Join(err, u.n.tell(ctx, t))
}
