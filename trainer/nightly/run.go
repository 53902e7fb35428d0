package nightly

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/store"
)

// leaseSpan is how long a training is taken for running after its process was
// killed.
const leaseSpan = 3 * time.Minute

// first is the step of a training that has done nothing yet.
const first = "begin"

// another is why a training is skipped.
const another = "Another training of the cluster ran."

// errEnough ends a run whose history is too short: it is skipped, not failed.
var errEnough = errors.New("too short a history")

// run is one training.
type run struct {
	*Nightly
	under *store.Store // for the holder of the lease
	t     store.Training
	log   io.Writer
	nodes int
	until segue.Time // where the history ends
}

// leaseOf returns the name of the lease under which one training runs.
func leaseOf(cluster string) string { return "training of " + cluster }

// idOf returns the name of a training that begins then.
func idOf(at segue.Time) string { return at.Std().UTC().Format("20060102-150405") }

// train is one training, from the beginning to its row in the store.
func (n *Nightly) train(ctx context.Context, cause string, scheduled segue.Time) (store.Training, error) {
	now := n.cfg.Now()
	id := idOf(now)
	t := store.Training{
		ID: id, Cluster: n.cfg.Cluster, Cause: cause, Scheduled: scheduled, Started: now, Ended: segue.NoTime,
		State: store.TrainingRunning, Step: first, Folder: filepath.Join(n.cfg.Dir, id),
	}
	lease, err := n.store.Acquire(ctx, leaseOf(n.cfg.Cluster), n.cfg.Holder, now, leaseSpan)
	if segue.KindOf(err) == segue.Conflict {
		return n.skip(ctx, t, err)
	}
	if err != nil {
		return t, err
	}
	r := &run{Nightly: n, under: n.store.Under(lease), t: t, until: now}
	ctx, done := r.watch(ctx, lease)
	defer done()
	if _, err := r.under.InterruptTrainings(ctx, n.cfg.Cluster, now); err != nil {
		return t, err
	}
	if err := r.under.BeginTraining(ctx, t); segue.KindOf(err) == segue.Conflict {
		return t, segue.Errorf(segue.Conflict, "there is a training of this second already: try again")
	} else if err != nil {
		return t, err
	}
	return r.end(ctx, r.steps(ctx))
}

// skip records that a training did not begin since another one runs; one by hand
// is refused instead.
func (n *Nightly) skip(ctx context.Context, t store.Training, why error) (store.Training, error) {
	if t.Cause == "hand" {
		return t, segue.Errorf(segue.Conflict, "a training of cluster %s runs: %w", t.Cluster, why)
	}
	last, err := n.store.LastScheduled(ctx, t.Cluster)
	if err != nil || last.Known() && last >= t.Scheduled { // it runs, or ran, in another process
		return t, err
	}
	t.State, t.Ended, t.Why = store.TrainingSkipped, t.Started, another
	n.cfg.Log.Info("training is skipped", "cluster", t.Cluster, "why", t.Why)
	return t, n.store.BeginTraining(ctx, t)
}

// steps does the work.
func (r *run) steps(ctx context.Context) error {
	if err := os.MkdirAll(r.t.Folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of the run: %w", err)
	}
	log, err := os.OpenFile(r.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make the log of the run: %w", err)
	}
	defer log.Close()
	r.log = log
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{"collect", r.collect}, {"export", r.export}, {"train", r.fit}, {"promote", r.contest}} {
		if err := r.begin(ctx, step.name); err != nil {
			return err
		}
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// begin records that a step begins, if there is room for what it writes.
func (r *run) begin(ctx context.Context, step string) error {
	r.t.Step = step
	fmt.Fprintf(r.log, "%s %s\n", r.cfg.Now().Std().UTC().Format(time.RFC3339), step)
	if err := r.room(); err != nil {
		return err
	}
	return r.under.UpdateTraining(ctx, r.t)
}

func (r *run) room() error {
	have, err := r.cfg.Free(r.t.Folder)
	if err == nil && have < r.cfg.MinFree {
		err = segue.Errorf(segue.Unavailable, "%s has %d MiB free, want %d", r.cfg.Dir, have>>20, r.cfg.MinFree>>20)
	}
	return err
}

// collect brings the history up to date. What the accounting does not tell today
// it tells tomorrow: that is no reason not to train.
func (r *run) collect(ctx context.Context) error {
	if r.cfg.Collect == nil {
		return nil
	}
	if err := r.cfg.Collect(ctx); err != nil {
		fmt.Fprintf(r.log, "the history is not up to date: %v\n", err)
	}
	return ctx.Err()
}

// fit trains a model on all but the end of the history.
func (r *run) fit(ctx context.Context) error {
	r.t.Model = r.t.ID
	argv := append([]string{"train", "--out", r.path(r.t.Model), "--until", instant(r.judged())}, r.common()...)
	if parent := r.champion(); parent != "" {
		argv = append(argv, "--parent", parent)
	}
	return r.execute(ctx, append(argv, r.cfg.TrainArgs...))
}

// contest lets the model compete with the one that decides on the end of the
// history, which neither saw.
func (r *run) contest(ctx context.Context) error {
	argv := append([]string{
		"promote", "--registry", r.cfg.Models, "--challenger", r.path(r.t.Model), "--from", instant(r.judged()), "--until", instant(r.until),
	}, r.common()...)
	if err := r.execute(ctx, argv); err != nil {
		return err
	}
	registry := models.NewRegistry(r.cfg.Models, r.cfg.Now)
	champion, err := registry.Champion()
	if err != nil && segue.KindOf(err) != segue.NotFound {
		return err
	}
	r.t.State = store.TrainingKept
	if champion == r.t.Model {
		r.t.State = store.TrainingPromoted
	}
	events, err := registry.Log()
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Model == r.t.Model {
			r.t.Why = e.Reason
		}
	}
	return nil
}

// champion returns the folder of the model that decides, "" for none.
func (r *run) champion() string {
	id, err := models.NewRegistry(r.cfg.Models, r.cfg.Now).Champion()
	if err != nil || id == "" {
		return ""
	}
	return filepath.Join(r.cfg.Models, id)
}

// judged is where the end of the history begins, on which models compete.
func (r *run) judged() segue.Time { return r.until.Add(-r.cfg.Judge) }

func (r *run) common() []string {
	return append([]string{"--trace", r.path(history), "--nodes", fmt.Sprint(r.nodes)}, r.cfg.Args...)
}

func (r *run) execute(ctx context.Context, args []string) error {
	argv := append(append([]string{}, r.cfg.Trainer...), args...)
	fmt.Fprintf(r.log, "+ %s\n", strings.Join(argv, " "))
	return r.cfg.Execute(ctx, argv, r.log)
}

func (r *run) path(name string) string { return filepath.Join(r.t.Folder, name) }

func instant(at segue.Time) string { return at.Std().UTC().Format(time.RFC3339) }

// end records what came of the training, tells of it, and cleans up after it.
func (r *run) end(ctx context.Context, failed error) (store.Training, error) {
	cause := context.Cause(ctx)
	ctx = context.WithoutCancel(ctx)
	r.t.Ended = r.cfg.Now()
	tell := false
	switch {
	case errors.Is(failed, errEnough):
		r.t.State, r.t.Why = store.TrainingSkipped, failed.Error()
		failed = nil
	case failed != nil && errors.Is(cause, context.Canceled):
		tell = r.interrupt(ctx)
	case failed != nil && cause != nil:
		failed = fmt.Errorf("%s: %w", r.t.Step, cause)
		r.t.State, r.t.Why, tell = store.TrainingFailed, failed.Error(), true
	case failed != nil:
		r.t.State, r.t.Why, tell = store.TrainingFailed, failed.Error(), true
	}
	if r.log != nil {
		r.cfg.Log.Info("training has ended", "cluster", r.t.Cluster, "training", r.t.ID, "state", string(r.t.State), "why", r.t.Why)
	}
	err := r.record(ctx)
	if tell {
		err = errors.Join(err, r.tell(ctx, r.t))
	}
	if err = errors.Join(failed, err, r.tidy()); r.cfg.Ended != nil {
		r.cfg.Ended(r.t)
	}
	return r.t, err
}

// interrupt notes that the training was told to end, and reports whether somebody is
// to be told since nothing repeats it. Whoever interrupts one by hand knows.
func (r *run) interrupt(ctx context.Context) (tell bool) {
	r.t.State, r.t.Why = store.TrainingInterrupted, "It was told to end."
	if !r.t.Scheduled.Known() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	again, err := r.repeated(ctx, r.t)
	if err == nil && again {
		r.t.Why += " The next server to be there repeats it, once."
		return false
	}
	r.t.Why += " It is not repeated."
	return true
}

// record writes down what came of the training.
func (r *run) record(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Patience)
	defer cancel()
	return r.under.UpdateTraining(ctx, r.t)
}

// tell tells whoever wants to know that a training did not end well. The store has
// had its own time: one that hangs keeps nobody from being told.
func (n *Nightly) tell(ctx context.Context, t store.Training) error {
	if n.cfg.Alert == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, n.cfg.Patience)
	defer cancel()
	if err := n.cfg.Alert(ctx, t); err != nil {
		return fmt.Errorf("tell of training %s: %w", t.ID, err)
	}
	return nil
}

// watch renews the lease while the training runs, and ends it when the lease is
// lost, the time is up or the disk is full. done gives the lease back.
func (r *run) watch(ctx context.Context, lease store.Lease) (watched context.Context, done func()) {
	watched, stop := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		for r.cfg.Sleep(watched, leaseSpan/6) == nil {
			if _, err := r.store.Renew(watched, lease, r.cfg.Now(), leaseSpan); segue.KindOf(err) == segue.Conflict {
				stop(fmt.Errorf("its lease is lost: %w", err))
			}
			if r.cfg.Now().Sub(r.t.Started) > r.cfg.TimeLimit {
				stop(fmt.Errorf("it took longer than %s", r.cfg.TimeLimit))
			}
			if err := r.room(); segue.KindOf(err) == segue.Unavailable {
				stop(err)
			}
		}
	})
	return watched, func() {
		stop(nil)
		work.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Patience)
		defer cancel()
		if err := r.store.Release(ctx, lease); err != nil {
			r.cfg.Log.Warn("lease is not released", "error", err)
		}
	}
}
