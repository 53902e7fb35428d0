package nightly_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer/nightly"
)

// states returns cause and state of the trainings, the earliest first.
func (r *rig) states() (all []string) {
	r.t.Helper()
	for _, t := range r.trainings() {
		all = append([]string{t.Cause + " " + string(t.State)}, all...)
	}
	return all
}

// A training whose server is told to end says so and leaves nothing large behind. It
// is repeated once; when that is interrupted too, somebody is told, and the schedule
// goes on.
func TestAnInterruptedTrainingIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Schedule = "0 2 * * *"
	n := r.nightly()
	r.now = midnight.Add(2 * time.Hour)
	interrupted := func() {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.hook = func(ctx context.Context, _ string) error {
			cancel()
			<-ctx.Done()
			folder := filepath.Join(r.cfg.Dir, r.trainings()[0].ID)
			return errors.Join(ctx.Err(), os.Mkdir(filepath.Join(folder, "model.unfinished"), 0o700))
		}
		if _, err := n.RunOnce(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that it was told to end", err)
		}
		got := r.trainings()[0]
		left, err := os.ReadDir(got.Folder)
		if err != nil || len(left) != 1 || left[0].Name() != "log" {
			t.Errorf("its folder has %v, %v; want the log alone", left, err)
		}
		held, err := r.store.Leases(t.Context(), r.now)
		if err != nil || len(held) != 0 {
			t.Errorf("leases %v, %v; want none", held, err)
		}
		r.hook = nil
	}
	interrupted()
	if got := r.trainings()[0]; got.Why != "It was told to end. The next server to be there repeats it, once." || len(r.told) != 0 {
		t.Errorf("the first: %q, told of %v", got.Why, r.told)
	}
	r.now = midnight.Add(5 * time.Hour)
	interrupted()
	if got := r.trainings()[0]; got.Why != "It was told to end. It is not repeated." || len(r.told) != 1 || r.told[0].ID != got.ID {
		t.Errorf("the second: %q, told of %v", got.Why, r.told)
	}
	r.now = midnight.Add(6 * time.Hour)
	r.follow(n, time.UTC, midnight.Add(day+3*time.Hour))
	want := []string{"schedule interrupted", "catch-up interrupted", "schedule promoted"}
	if diff := cmp.Diff(want, r.states()); diff != "" {
		t.Errorf("trainings (-want +got):\n%s", diff)
	}
}

// A training whose process was killed is told of by the next server as soon as its
// lease is over, which repeats it; of one by hand somebody is told.
func TestTheTrainingOfADeadProcess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cause     string
		scheduled segue.Time
		want      []string
		told      int
	}{
		"by the schedule": {"schedule", midnight.Add(-day + 2*time.Hour), []string{"schedule interrupted", "catch-up promoted"}, 0},
		"by hand":         {"hand", segue.NoTime, []string{"hand interrupted"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Schedule = "0 2 * * *"
			dead := store.Training{
				ID: "20230228-020000", Cluster: "c", Cause: tt.cause, Scheduled: tt.scheduled, Started: midnight.Add(-22 * time.Hour),
				Ended: segue.NoTime, State: store.TrainingRunning, Step: "train", Folder: t.TempDir(),
			}
			large := filepath.Join(dead.Folder, "history.parquet")
			if err := errors.Join(r.store.BeginTraining(t.Context(), dead), os.WriteFile(large, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			lease, err := r.store.Acquire(t.Context(), "training of c", "dead", midnight, 3*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			n := r.nightly()
			if _, err := n.RunOnce(t.Context()); err != nil || r.trainings()[0].State != store.TrainingRunning {
				t.Errorf("while its lease counts: %v, %v", r.states(), err)
			}
			r.now = lease.Expires.Add(time.Second)
			if _, err := n.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, r.states()); diff != "" {
				t.Errorf("trainings (-want +got):\n%s", diff)
			}
			if len(r.told) != tt.told {
				t.Errorf("told of %v, want %d", r.told, tt.told)
			}
			if _, err := os.Stat(large); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its history is still there: %v", err)
			}
		})
	}
}

// What is due while a training works is skipped, and not made up for afterwards.
func TestWhatIsDueDuringATrainingIsSkipped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Schedule = "*/10 * * * *"
	n := r.nightly()
	r.hook = func(_ context.Context, word string) error {
		if word == "promote" {
			r.now = r.now.Add(25 * time.Minute)
		}
		return nil
	}
	got := r.follow(n, time.UTC, midnight.Add(time.Hour))
	want := []string{"03-01 00:10 schedule", "03-01 00:30 schedule", "03-01 00:40 schedule", "03-01 01:00 schedule"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trainings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"schedule promoted", "schedule skipped", "schedule promoted", "schedule skipped"}, r.states()); diff != "" {
		t.Errorf("what came of them (-want +got):\n%s", diff)
	}
}

// A store that does not answer at the end keeps nobody from being told.
func TestAStoreThatHangsKeepsNobodyFromBeingTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other, err := sql.Open("sqlite", r.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() }) // it was only for the lock
	if r.store, err = store.Open(t.Context(), r.path, store.Config{Volatile: true, Patience: 400 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	r.hook = func(ctx context.Context, _ string) error {
		c, err := other.Conn(ctx)
		if err == nil {
			_, err = c.ExecContext(ctx, "BEGIN IMMEDIATE") // nobody else can write
		}
		return errors.Join(err, errors.New("out of memory"))
	}
	r.cfg.Patience = 200 * time.Millisecond
	var spoiled error
	r.cfg.Alert = func(ctx context.Context, t store.Training) error {
		r.told, spoiled = append(r.told, t), ctx.Err()
		return nil
	}
	_, err = r.nightly().Now(t.Context())
	if !errors.Is(err, context.DeadlineExceeded) || len(r.told) != 1 || spoiled != nil || !strings.Contains(r.told[0].Why, "out of memory") {
		t.Errorf("error %v; told of %+v, with %v", err, r.told, spoiled)
	}
}

// A real process that trains is told to end with its server, and so is what it
// started.
func TestTheProcessOfATrainingIsToldToEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// The child reports by the pipe, in which it writes its number when it is there.
	script := fmt.Sprintf(`trap 'echo told; exit 1' TERM; sh -c 'echo $$ > %s; exec sleep 600' & wait`, pipe)
	r.cfg.Execute, r.cfg.Trainer = nil, []string{"sh", "-c", script}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	child := make(chan int, 1)
	go func() {
		text, _ := os.ReadFile(pipe)
		var number int
		_, _ = fmt.Sscan(string(text), &number) // 0 fails below
		child <- number
		cancel()
	}()
	n := r.nightly()
	got, err := n.Now(ctx)
	if err == nil || got.State != store.TrainingInterrupted || got.Step != "train" {
		t.Errorf("training %+v, %v", got, err)
	}
	log, err := os.ReadFile(filepath.Join(got.Folder, "log"))
	if err != nil || !strings.Contains(string(log), "told") {
		t.Errorf("%v; the process was not told: %s", err, log)
	}
	number := <-child
	// Its files close a moment before it counts as dead.
	for until := time.Now().Add(10 * time.Second); number != 0 && alive(number) && time.Now().Before(until); {
		runtime.Gosched()
	}
	if number == 0 || alive(number) {
		t.Errorf("process %d, which the trainer started, lives", number)
	}
}

// alive reports whether a process runs, and is not just waited for.
func alive(number int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", number))
	return err == nil && !strings.Contains(string(status), ") Z ")
}

// In the night in which 02:30 is left out, and in the one in which it comes twice, a
// training begins once; one of every hour begins in each hour that passes.
func TestOneTrainingInTheNightsInWhichTheClockChanges(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		schedule, zone, from, until string
		want                        []string
	}{
		"forward": {"30 2 * * *", "Europe/Zurich", "2027-03-27 12:00", "2027-03-29 12:00", []string{"03-28 03:30 CEST", "03-29 02:30 CEST"}},
		"back":    {"30 2 * * *", "Europe/Zurich", "2027-10-30 12:00", "2027-11-01 12:00", []string{"10-31 02:30 CEST", "11-01 02:30 CET"}},
		"forward, later that day": {
			"0 14 * * *", "Europe/Zurich", "2027-03-27 12:00", "2027-03-29 12:00", []string{"03-27 14:00 CET", "03-28 14:00 CEST"},
		},
		"back, later that day": {
			"0 14 * * *", "Europe/Zurich", "2027-10-30 15:00", "2027-11-01 15:00", []string{"10-31 14:00 CET", "11-01 14:00 CET"},
		},
		"every hour, forward": {
			"0 * * * *", "Europe/Zurich", "2027-03-28 00:30", "2027-03-28 04:30", []string{"03-28 01:00 CET", "03-28 03:00 CEST", "03-28 04:00 CEST"},
		},
		"every hour, back": {
			"0 * * * *", "Europe/Zurich", "2027-10-31 01:30", "2027-10-31 03:30", []string{"10-31 02:00 CEST", "10-31 02:00 CET", "10-31 03:00 CET"},
		},
		"a zone of the schedule's own": {
			"CRON_TZ=Europe/Zurich 30 2 * * *", "UTC", "2027-03-27 12:00", "2027-03-29 12:00", []string{"03-28 01:30 UTC", "03-29 00:30 UTC"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			zone, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			var began []string
			r.cfg.Schedule, r.cfg.Zone, r.now = tt.schedule, zone, at(t, tt.zone, tt.from)
			r.cfg.Ended = func(t store.Training) { began = append(began, t.Started.Std().In(zone).Format("01-02 15:04 MST")) }
			n, err := nightly.New(r.store, r.cfg)
			if err != nil {
				t.Fatal(err)
			}
			r.follow(n, zone, at(t, tt.zone, tt.until))
			if diff := cmp.Diff(tt.want, began); diff != "" {
				t.Errorf("trainings (-want +got):\n%s", diff)
			}
		})
	}
}
