package watch_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/provisioner/shadow"
	"github.com/segue-project/segue/provisioner/shadow/watch"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/simulated"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
)

const hour = time.Hour

var monday = segue.Seconds(1675641600) // 2023-02-06 00:00 UTC

var cluster = simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 4}}, Backfill: simulator.EASY, Users: []string{"ada", "ben"}}

// forbidden is a driver with which nothing may be done but to look.
type forbidden struct {
	*simulated.Driver
	t *testing.T
}

// State shows the nodes in the partition that jobs ask for.
func (f forbidden) State(ctx context.Context) (schedulers.State, error) {
	state, err := f.Driver.State(ctx)
	for i := range state.Nodes {
		state.Nodes[i].Partitions = []string{"batch"}
	}
	return state, err
}

func (f forbidden) Submit(context.Context, schedulers.Submission) (schedulers.Submitted, error) {
	f.t.Error("something was submitted")
	return schedulers.Submitted{}, nil
}

func (f forbidden) Cancel(context.Context, segue.JobID) error  { return f.refuse("cancelled") }
func (f forbidden) Hold(context.Context, segue.JobID) error    { return f.refuse("held") }
func (f forbidden) Release(context.Context, segue.JobID) error { return f.refuse("released") }

func (f forbidden) Requeue(context.Context, []segue.JobID) error { return f.refuse("requeued") }

func (f forbidden) SetNice(context.Context, segue.JobID, int) error { return f.refuse("moved") }

func (f forbidden) Signal(context.Context, segue.JobID, syscall.Signal) error {
	return f.refuse("signalled")
}

func (f forbidden) refuse(what string) error {
	f.t.Errorf("a job was %s", what)
	return nil
}

// newDriver returns a cluster of four nodes on which ada's job of a day, and one of
// an hour, run; ben's of 20 hours and two nodes too, and another of his waits.
func newDriver(t *testing.T) forbidden {
	t.Helper()
	jobs := []simulator.Job{
		{Submit: monday, Run: 24 * hour, Limit: 24 * hour, Nodes: 1, User: 0},
		{Submit: monday, Run: hour, Limit: hour, Nodes: 1, User: 0},
		{Submit: monday, Run: 20 * hour, Limit: 20 * hour, Nodes: 2, User: 1},
		{Submit: monday, Run: 20 * hour, Limit: 20 * hour, Nodes: 3, User: 1},
	}
	sim, err := simulator.New(cluster, jobs)
	if err != nil {
		t.Fatal(err)
	}
	d, err := simulated.New(sim, cluster, func(schedulers.Submission) simulated.Run { return simulated.Run{For: hour} })
	if err != nil {
		t.Fatal(err)
	}
	d.Advance(monday.Add(30 * time.Minute))
	return forbidden{d, t}
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "segue.db"), store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func live(t *testing.T) provisioner.Decider {
	t.Helper()
	return provisioner.NewLive(newStore(t), "tiny", provisioner.LiveConfig{Monte: predictor.MonteCarloConfig{Replicas: 4}})
}

// A day of looks writes advice about the long jobs that run, and of all that a
// scheduler can be told nothing is.
func TestNothingIsSubmitted(t *testing.T) {
	t.Parallel()
	driver := newDriver(t)
	var out bytes.Buffer
	w, err := watch.New(driver, live(t), &out, watch.Config{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	submits := 0
	for range 50 {
		if _, err := w.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		driver.Advance(driver.Now().Add(30 * time.Minute))
	}
	all, _, err := shadow.ReadAdvice(&out)
	if err != nil {
		t.Fatal(err)
	}
	about := map[string]int{}
	for _, a := range all {
		about[a.Job]++
		if a.Submit {
			submits++
		}
		if a.Reason == "" || a.Policy == "" || len(a.Waits) != 11 {
			t.Fatalf("advice without its reason: %+v", a)
		}
	}
	// Every half hour from the first to the 25th hour, and a job is still there at the
	// instant of its end: ada's day, ben's 20 hours, and his other job from then on.
	if diff := cmp.Diff(map[string]int{"1": 48, "3": 40, "4": 10}, about); diff != "" {
		t.Errorf("advice by job (-want +got):\n%s", diff)
	}
	if submits == 0 {
		t.Error("no advice was to submit, so that nothing was tempted")
	}
}

// brokenQueue does not answer.
type brokenQueue struct{}

func (brokenQueue) State(context.Context) (schedulers.State, error) {
	return schedulers.State{}, segue.Errorf(segue.Unavailable, "slurmctld does not answer")
}

func TestALookThatFailsWritesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := watch.New(brokenQueue{}, live(t), &out, watch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Look(t.Context()); segue.KindOf(err) != segue.Unavailable || n != 0 || out.Len() != 0 {
		t.Errorf("%d jobs, %v, %q: want none, unavailable, nothing", n, err, &out)
	}
}

// choosy has no advice about ben's jobs.
type choosy struct{ provisioner.Decider }

func (c choosy) Decide(ctx context.Context, state schedulers.State, q provisioner.Question) (segue.Decision, error) {
	if q.Request.User == "ben" {
		return segue.Decision{}, errors.New("no advice for ben")
	}
	return c.Decider.Decide(ctx, state, q)
}

func TestOneJobWithoutAdviceKeepsNobodyFromIt(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := watch.New(newDriver(t), choosy{live(t)}, &out, watch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Look(t.Context()); err != nil || n != 1 || !strings.Contains(out.String(), `"user":"ada"`) {
		t.Errorf("%d jobs, %v, %q: want ada's", n, err, &out)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := watch.New(newDriver(t), endsIt{live(t), cancel}, &bytes.Buffer{}, watch.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(ctx); err != nil {
		t.Errorf("it ends with %v, want nothing", err)
	}
}

// endsIt cancels the context once it is asked.
type endsIt struct {
	provisioner.Decider
	cancel context.CancelFunc
}

func (e endsIt) Decide(ctx context.Context, state schedulers.State, q provisioner.Question) (segue.Decision, error) {
	d, err := e.Decider.Decide(ctx, state, q)
	e.cancel()
	return d, err
}

func TestWatchRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, cfg := range []watch.Config{{Every: time.Second}, {MinLimit: -hour}} {
		if _, err := watch.New(brokenQueue{}, nil, nil, cfg); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%+v: the error is %v, want one of kind invalid", cfg, err)
		}
	}
}
