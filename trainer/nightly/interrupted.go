package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// attempts is how often the training of an instant of the schedule begins: once
// more after it was interrupted.
const attempts = 2

// recent is how many trainings are looked at for what became of the latest.
const recent = 100

// again returns the instant whose training was interrupted and is to be repeated,
// NoTime where there is none.
func (n *Nightly) again(ctx context.Context) (segue.Time, error) {
	all, err := n.store.Trainings(ctx, n.cfg.Cluster, recent)
	if err != nil {
		return segue.NoTime, err
	}
	for _, t := range all {
		if !t.Scheduled.Known() || unbegun(t) {
			continue
		}
		if t.State == store.TrainingInterrupted && begun(all, t.Scheduled) < attempts {
			return t.Scheduled, nil
		}
		break
	}
	return segue.NoTime, nil
}

// unbegun reports whether a training was skipped before it did anything.
func unbegun(t store.Training) bool { return t.State == store.TrainingSkipped && t.Step == first }

// begun returns how many trainings of an instant have begun.
func begun(all []store.Training, scheduled segue.Time) (n int) {
	for _, t := range all {
		if t.Scheduled == scheduled && !unbegun(t) {
			n++
		}
	}
	return n
}

// repeated reports whether a training that is interrupted will be repeated. One by
// hand is its user's to repeat.
func (n *Nightly) repeated(ctx context.Context, t store.Training) (bool, error) {
	if !t.Scheduled.Known() {
		return false, nil
	}
	all, err := n.store.Trainings(ctx, n.cfg.Cluster, recent)
	return begun(all, t.Scheduled) < attempts, err
}

// bury records that trainings which seem to run are gone with the process that ran
// them, removes what is large of theirs, and tells of those that are not repeated.
func (n *Nightly) bury(ctx context.Context) error {
	all, err := n.store.Trainings(ctx, n.cfg.Cluster, recent)
	if err != nil {
		return err
	}
	var dead []store.Training
	for _, t := range all {
		if t.State == store.TrainingRunning {
			dead = append(dead, t)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	now := n.cfg.Now()
	lease, err := n.store.Acquire(ctx, leaseOf(n.cfg.Cluster), n.cfg.Holder, now, leaseSpan)
	if segue.KindOf(err) == segue.Conflict { // it lives, or died a moment ago
		return nil
	}
	if err != nil {
		return err
	}
	_, err = n.store.Under(lease).InterruptTrainings(ctx, n.cfg.Cluster, now)
	if err = errors.Join(err, n.store.Release(ctx, lease)); err != nil {
		return err
	}
	for _, t := range dead {
		t.State, t.Ended, t.Why = store.TrainingInterrupted, now, "The process that ran it is gone."
		n.cfg.Log.Warn("training was interrupted", "cluster", t.Cluster, "training", t.ID, "step", t.Step)
		again, unknown := n.repeated(ctx, t)
		if !again || unknown != nil {
			err = errors.Join(err, unknown, n.tell(ctx, t))
		}
		err = errors.Join(err, sweep(t.Folder))
	}
	return err
}

// pass records that what was due while a training of ours worked is skipped. at is
// the instant of that training.
func (n *Nightly) pass(ctx context.Context, at segue.Time) error {
	now, passed := n.cfg.Now(), segue.NoTime
	for next := n.after(at); next.Add(n.jitter(next)) <= now; next = n.after(next) {
		passed = next
	}
	if !passed.Known() {
		return nil
	}
	last, err := n.store.LastScheduled(ctx, n.cfg.Cluster)
	if err != nil || last >= passed { // another server was there
		return err
	}
	t := store.Training{
		ID: idOf(passed), Cluster: n.cfg.Cluster, Cause: "schedule", Scheduled: passed, Started: passed, Ended: passed,
		State: store.TrainingSkipped, Step: first, Why: another,
	}
	if err := n.store.BeginTraining(ctx, t); segue.KindOf(err) != segue.Conflict { // another server was faster
		return err
	}
	return nil
}

// sweep removes from the folder of a run what is large and of no use after it.
func sweep(folder string) error {
	if folder == "" {
		return nil
	}
	halves, err := filepath.Glob(filepath.Join(folder, "*.unfinished")) // of segue-trainer
	for _, path := range append(halves, filepath.Join(folder, history)) {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		return fmt.Errorf("tidy the folder of a training: %w", err)
	}
	return nil
}
