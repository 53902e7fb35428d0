package nightly_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer/nightly"
)

const day = 24 * time.Hour

var midnight = segue.TimeOf(time.Date(2023, time.March, 1, 0, 0, 0, 0, time.UTC))

// rig is a store with a history of 60 days up to midnight, a clock, and a trainer
// whose process is played by fits and wins.
type rig struct {
	t     *testing.T
	store *store.Store
	path  string // of the store's file
	cfg   nightly.Config
	now   segue.Time
	ran   []string // what was executed: the word after the program, and its flags
	fits  error    // of training
	wins  bool     // whether the challenger is promoted
	told  []store.Training
	hook  func(ctx context.Context, word string) error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, now: midnight, wins: true, path: filepath.Join(t.TempDir(), "segue.db")}
	var err error
	if r.store, err = store.Open(t.Context(), r.path, store.Config{Volatile: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	r.history(60)
	r.cfg = nightly.Config{
		Cluster: "c", Nodes: 8, Jitter: -1, Judge: 7 * day, Dir: filepath.Join(t.TempDir(), "runs"), Models: filepath.Join(t.TempDir(), "models"), Holder: "one",
		Now: func() segue.Time { return r.now }, MinFree: 1, Execute: r.execute,
		Alert: func(_ context.Context, t store.Training) error { r.told = append(r.told, t); return nil },
		Log:   slog.New(slog.DiscardHandler),
	}
	return r
}

// history fills the store with a job an hour for so many days up to midnight.
func (r *rig) history(days int) {
	r.t.Helper()
	_, err := r.store.ImportJobs(r.t.Context(), "c", func(yield func(segue.Job, error) bool) {
		for i := range days * 24 {
			at := midnight.Add(-time.Duration(days)*day + time.Duration(i)*time.Hour)
			j := segue.Job{
				ID: segue.JobID{Number: int64(i + 1)}, User: "ada", Submit: at, Eligible: at, Start: at.Add(time.Minute), End: at.Add(time.Hour),
				Limit: 2 * time.Hour, Nodes: 1, State: segue.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// execute does to files what segue-trainer does.
func (r *rig) execute(ctx context.Context, argv []string, log io.Writer) error {
	r.ran = append(r.ran, strings.Join(argv[1:], " "))
	fmt.Fprintln(log, "the trainer speaks")
	if r.hook != nil {
		if err := r.hook(ctx, argv[1]); err != nil {
			return err
		}
	}
	if argv[1] == "train" {
		return r.fits
	}
	id := filepath.Base(argv[slices.Index(argv, "--challenger")+1])
	registry := models.NewRegistry(r.cfg.Models, r.cfg.Now)
	if err := registry.Write(toymodel.Manifest(id), toymodel.Files(r.t, toymodel.New(r.t, time.Hour, time.Hour, "moe-dqn"))); err != nil {
		return err
	}
	if r.wins {
		return registry.Promote(id, "it costs less")
	}
	return registry.Keep(id, "it costs no less")
}

func (r *rig) nightly() *nightly.Nightly {
	r.t.Helper()
	n, err := nightly.New(r.store, r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) trainings() []store.Training {
	r.t.Helper()
	all, err := r.store.Trainings(r.t.Context(), "c", 100)
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// A training exports the history, trains on all but its last week, lets the model
// compete on that week, and tells what came of it.
func TestATraining(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Args, r.cfg.TrainArgs = []string{"--pairs", "1"}, []string{"--steps", "10"}
	got, err := r.nightly().Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(r.cfg.Dir, "20230301-000000")
	want := store.Training{
		ID: "20230301-000000", Cluster: "c", Cause: "hand", Scheduled: segue.NoTime, Started: midnight, Ended: midnight, State: store.TrainingPromoted,
		Step: "promote", Why: "it costs less", Model: "20230301-000000", Folder: folder,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("training (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.Training{want}, r.trainings()); diff != "" {
		t.Errorf("in the store (-want +got):\n%s", diff)
	}
	model, trace := filepath.Join(folder, want.Model), filepath.Join(folder, "history.parquet")
	wantRan := []string{
		"train --out " + model + " --until 2023-02-22T00:00:00Z --trace " + trace + " --nodes 8 --pairs 1 --steps 10",
		"promote --registry " + r.cfg.Models + " --challenger " + model + " --from 2023-02-22T00:00:00Z --until 2023-03-01T00:00:00Z --trace " + trace +
			" --nodes 8 --pairs 1",
	}
	if diff := cmp.Diff(wantRan, r.ran); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
	log, err := os.ReadFile(filepath.Join(folder, "log"))
	if err != nil || strings.Count(string(log), "the trainer speaks") != 2 || !strings.Contains(string(log), "1440 jobs") {
		t.Errorf("its log, %v:\n%s", err, log)
	}
	if _, err := os.Stat(trace); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the exported history is still there: %v", err)
	}
	if _, err := r.nightly().Now(t.Context()); segue.KindOf(err) != segue.Conflict || !strings.Contains(err.Error(), "try again") {
		t.Errorf("one more in the same second: %v, want a conflict", err)
	}
	r.wins, r.now = false, midnight.Add(time.Hour)
	if got, err := r.nightly().Now(t.Context()); err != nil || got.State != store.TrainingKept || got.Why != "it costs no less" {
		t.Errorf("the second: %+v, %v; want kept", got, err)
	}
	if !strings.Contains(r.ran[2], "--parent "+filepath.Join(r.cfg.Models, want.Model)) {
		t.Errorf("the second was not compared with the champion: %s", r.ran[2])
	}
}

// What ends a training early is told, in the store and to whoever wants to know,
// and the next one is not kept from beginning.
func TestATrainingThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("out of memory")
	for name, c := range map[string]struct {
		make func(r *rig)
		want store.TrainingState
		step string
		why  string
		told int
	}{
		"the trainer fails": {func(r *rig) { r.fits = broken }, store.TrainingFailed, "train", "train: out of memory", 1},
		"the disk is full": {
			func(r *rig) { r.cfg.Free, r.cfg.MinFree = func(string) (int64, error) { return 1 << 20, nil }, 1<<30 },
			store.TrainingFailed, "collect", "has 1 MiB free, want 1024", 1,
		},
		"the history is short": {func(r *rig) { r.cfg.Judge = 30 * day }, store.TrainingSkipped, "export", "too short a history", 0},
		"nobody knows how many nodes": {
			func(r *rig) { r.cfg.Nodes = 0 }, store.TrainingFailed, "export", "no snapshot of cluster c says how many nodes it has", 1,
		},
		"there is no trainer": {
			func(r *rig) { r.cfg.Execute, r.cfg.Trainer = nil, []string{"no-such-trainer"} }, store.TrainingFailed, "train", "segue-trainer is a program of its own", 1,
		},
		"the real process fails": {
			func(r *rig) {
				r.cfg.Execute, r.cfg.Trainer = nil, []string{"sh", "-c", "echo one; echo two >&2; exit 3"}
			},
			store.TrainingFailed, "train", "exit status 3: one two", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.make(r)
			got, err := r.nightly().Now(t.Context())
			if (err != nil) != (c.want == store.TrainingFailed) {
				t.Errorf("error %v", err)
			}
			if got.State != c.want || c.step != "" && got.Step != c.step || !strings.Contains(got.Why, c.why) || len(r.told) != c.told {
				t.Errorf("training %+v, told %d times; want it %s at %s since %q, told %d times", got, len(r.told), c.want, c.step, c.why, c.told)
			}
			again := newRig(t)
			again.store, again.now = r.store, midnight.Add(time.Hour)
			if got, err := again.nightly().Now(t.Context()); err != nil || got.State != store.TrainingPromoted {
				t.Errorf("the next one: %+v, %v", got, err)
			}
		})
	}
}

// A training that takes longer than it may is ended.
func TestATrainingThatTakesTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var clock atomic.Int64
	clock.Store(int64(midnight))
	r.cfg.Now = func() segue.Time { return segue.Time(clock.Load()) }
	tick := make(chan struct{})
	r.cfg.Sleep = func(ctx context.Context, _ time.Duration) error {
		select {
		case <-tick:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.hook = func(ctx context.Context, _ string) error {
		clock.Store(int64(midnight.Add(9 * time.Hour)))
		tick <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	got, err := r.nightly().Now(t.Context())
	if err == nil || got.State != store.TrainingFailed || got.Why != "train: it took longer than 8h0m0s" || got.Ended != midnight.Add(9*time.Hour) {
		t.Errorf("training %+v, %v", got, err)
	}
}

// Of two trainings of a cluster at once one runs.
func TestTrainingsDoNotRunAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var by, at error
	r.hook = func(ctx context.Context, word string) error {
		if word != "train" {
			return nil
		}
		other, now := r.cfg, midnight.Add(time.Hour)
		other.Holder, other.Now = "two", func() segue.Time { return now }
		other.Schedule = "0 2 * * *"
		n, err := nightly.New(r.store, other)
		if err != nil {
			return err
		}
		now = midnight.Add(150*time.Minute + time.Second)
		_, by = n.Now(ctx)
		_, at = n.RunOnce(ctx)
		return nil
	}
	// The lease is renewed by the clock of the tests: what runs is not late.
	r.cfg.Now = func() segue.Time { return midnight.Add(150 * time.Minute) }
	if _, err := r.nightly().Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	if segue.KindOf(by) != segue.Conflict {
		t.Errorf("by hand: error %v, want a conflict", by)
	}
	if at != nil {
		t.Errorf("by the schedule: error %v, want it skipped", at)
	}
	if all := r.trainings(); len(all) != 2 || all[0].State != store.TrainingPromoted && all[1].State != store.TrainingPromoted {
		t.Errorf("trainings %+v; want one, and one that was skipped", all)
	}
}

// Of two servers whose schedule is the same one trains, and the other says nothing
// of it.
func TestTwoServersTrainOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Schedule = "0 2 * * *"
	other := r.cfg
	other.Holder = "two"
	two, err := nightly.New(r.store, other)
	if err != nil {
		t.Fatal(err)
	}
	var met error
	r.hook = func(ctx context.Context, _ string) error {
		_, met = two.RunOnce(ctx)
		return met
	}
	one := r.nightly()
	r.now = midnight.Add(2 * time.Hour)
	for _, n := range []*nightly.Nightly{one, two} {
		if _, err := n.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if all := r.trainings(); len(all) != 1 || met != nil {
		t.Errorf("%v; trainings %+v, want one", met, all)
	}
}

// A process that was killed in the middle leaves a training that seems to run: the
// next one tells that it does not.
func TestAKilledTrainingIsToldByTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dead := store.Training{
		ID: "20230228-023000", Cluster: "c", Cause: "schedule", Scheduled: midnight.Add(-21 * time.Hour), Started: midnight.Add(-21 * time.Hour),
		Ended: segue.NoTime, State: store.TrainingRunning, Step: "train",
	}
	if err := r.store.BeginTraining(t.Context(), dead); err != nil {
		t.Fatal(err)
	}
	if _, err := r.nightly().Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := r.trainings(); len(all) != 2 || all[1].State != store.TrainingInterrupted {
		t.Errorf("trainings %+v; want the one before interrupted", all)
	}
}

// Old runs lose their folders, and nothing else does.
func TestFoldersOfOldRunsAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Keep = 2
	for _, name := range []string{"20230101-000000", "20230102-000000", "20230103-000000", "notes"} {
		if err := os.MkdirAll(filepath.Join(r.cfg.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.nightly().Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"20230103-000000", "20230301-000000", "notes"}, names); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
}
