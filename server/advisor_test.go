package server

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex
	at segue.Time
}

func (c *clock) now() segue.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// t0 is when the tests begin.
var t0 = segue.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "segue.db"), store.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// counted is a cluster that counts how often it is looked at, and may fail.
type counted struct {
	fileCluster
	mu    sync.Mutex
	looks int
	err   error
}

func (c *counted) State(ctx context.Context) (schedulers.State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	if c.err != nil {
		return schedulers.State{}, c.err
	}
	return c.fileCluster.State(ctx)
}

func (c *counted) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.looks
}

// newAsked returns the advisor of a server on a cluster.
func newAsked(t *testing.T, cfg AdviceConfig) (*Server, *clock, *counted) {
	t.Helper()
	time := &clock{at: t0}
	cluster := &counted{fileCluster: fileCluster{t.TempDir(), time.now}}
	cfg.Replicas = 3
	srv, err := New(openStore(t), Config{
		Now: time.now, Holder: "one", User: "segue", Driver: cluster, Exists: func(string, string) bool { return false }, Advice: cfg,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return srv, time, cluster
}

func aQuestion() api.Question {
	return api.Question{
		Request: segue.Request{Shape: segue.Shape{Nodes: 2, Limit: 48 * time.Hour}, User: "ada"}, Remaining: 9 * time.Hour, Prefer: segue.Balanced,
	}
}

func TestAnAdviceIsRememberedForSeconds(t *testing.T) {
	t.Parallel()
	srv, clock, cluster := newAsked(t, AdviceConfig{})
	ask := func(q api.Question) api.Advice {
		t.Helper()
		a, err := srv.advisor.Advise(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := ask(aQuestion())
	if first.Cluster != "files" || first.Source != "scheduler" || first.Data != t0 || first.Now != t0 || first.Decision.Reason == "" {
		t.Errorf("advice is %+v", first)
	}
	clock.advance(5 * time.Second)
	later := aQuestion()
	later.Remaining += 5 * time.Second // within the minute
	if a := ask(later); a.Data != t0 || a.Now != t0.Add(5*time.Second) || cluster.times() != 1 {
		t.Errorf("5 s later it is of %s at %s, after %d looks; want the one that is remembered", a.Data, a.Now, cluster.times())
	}
	clock.advance(7 * time.Second)
	if a := ask(aQuestion()); a.Data != t0 {
		t.Errorf("12 s later it is of %s, want the old one while it is worked out again", a.Data)
	}
	srv.advisor.refresh(t.Context(), <-srv.advisor.stale)
	if a := ask(aQuestion()); a.Data != t0.Add(12*time.Second) {
		t.Errorf("then it is of %s, want the new one", a.Data)
	}
	clock.advance(time.Minute)
	if a := ask(aQuestion()); a.Data != clock.now() {
		t.Errorf("a minute later it is of %s, want of that moment", a.Data)
	}
	other := aQuestion()
	other.Request.User = "bob"
	ask(other)
	if n := len(srv.advisor.known); n != 2 {
		t.Errorf("%d questions are remembered, want 2: another user asks another one", n)
	}
	clock.advance(time.Minute)
	srv.advisor.sweep(clock.now())
	if n := len(srv.advisor.known); n != 0 {
		t.Errorf("%d questions are remembered a minute later, want none", n)
	}
}

func TestAnAdviceThatFailedIsNotRemembered(t *testing.T) {
	t.Parallel()
	srv, _, cluster := newAsked(t, AdviceConfig{})
	cluster.err = errors.New("slurmctld does not answer")
	if _, err := srv.advisor.Advise(t.Context(), aQuestion()); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("error %v, want one of kind unavailable", err)
	}
	cluster.err = nil
	if _, err := srv.advisor.Advise(t.Context(), aQuestion()); err != nil {
		t.Errorf("afterwards %v", err)
	}
}

func TestTooManyNewQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	srv, _, _ := newAsked(t, AdviceConfig{Waiting: 1})
	if err := srv.advisor.begin(t.Context(), false); err != nil { // somebody works
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := srv.advisor.Advise(t.Context(), aQuestion())
		ended <- err
	}()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for waits := false; !waits; <-again.C {
		srv.advisor.mu.Lock()
		waits = srv.advisor.waiting == 1
		srv.advisor.mu.Unlock()
	}
	other := aQuestion()
	other.Request.Nodes = 1
	if _, err := srv.advisor.Advise(t.Context(), other); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("error %v, want one of kind unavailable", err)
	}
	srv.advisor.turn.give()
	if err := <-ended; err != nil {
		t.Errorf("the one that waited: %v", err)
	}
	if _, err := srv.advisor.Advise(t.Context(), other); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestThePredecessorSaysHowLongItRuns(t *testing.T) {
	t.Parallel()
	srv, clock, cluster := newAsked(t, AdviceConfig{})
	job, err := cluster.Submit(t.Context(), schedulers.Submission{Token: "t", Request: aQuestion().Request})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(40 * time.Hour)
	q := aQuestion()
	q.Predecessor, q.Remaining = &job.Job, 0
	a, err := srv.advisor.Advise(t.Context(), q)
	if err != nil || a.Decision.Remaining != 8*time.Hour || a.Running != 1 {
		t.Errorf("%s remain, %d jobs run, %v; want 8h and 1", a.Decision.Remaining, a.Running, err)
	}
	for name, change := range map[string]func(*api.Question){
		"another's job":     func(q *api.Question) { q.Request.User = "bob" },
		"no job":            func(q *api.Question) { q.Predecessor = &segue.JobID{Number: 77} },
		"another's cluster": func(q *api.Question) { q.Cluster = "elsewhere" },
	} {
		q := q
		change(&q)
		if _, err := srv.advisor.Advise(t.Context(), q); segue.KindOf(err) != segue.NotFound {
			t.Errorf("%s: error %v, want one of kind not found", name, err)
		}
	}
}

func TestWithoutASchedulerTheEndOfTheHistoryCounts(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	clock := &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Advice: AdviceConfig{Replicas: 3}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.advisor.Advise(t.Context(), aQuestion()); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("without a history: error %v, want one of kind unavailable", err)
	}
	last := keepHistory(t, s, "ls6", t0.Add(-48*time.Hour), 200)
	a, err := srv.advisor.Advise(t.Context(), aQuestion())
	if err != nil || a.Source != "history" || a.Cluster != "ls6" || a.Data != last.Add(time.Second) || a.Running+a.Pending == 0 {
		t.Errorf("%+v, %v; want the end of the history, %s", a.Outlook, err, last)
	}
	o, err := srv.advisor.Forecast(t.Context(), "ls6", aQuestion().Request)
	if err != nil || o.Forecast.Empty() {
		t.Errorf("forecast %+v, %v", o, err)
	}
	if _, err := srv.advisor.Forecast(t.Context(), "elsewhere", aQuestion().Request); segue.KindOf(err) != segue.NotFound {
		t.Errorf("another cluster: error %v, want one of kind not found", err)
	}
	keepHistory(t, s, "frontera", t0, 50)
	srv.advisor.forget()
	if _, err := srv.advisor.Advise(t.Context(), aQuestion()); segue.KindOf(err) != segue.Invalid {
		t.Errorf("two histories: error %v, want one of kind invalid", err)
	}
}

func TestWithoutASchedulerAnAdviceIsTheSameUntilTheHistoryOrTheModelChanges(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	clock := &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Advice: AdviceConfig{Replicas: 3}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	keepHistory(t, s, "ls6", t0.Add(-48*time.Hour), 200)
	ask := func(after time.Duration, want float64, why string) {
		t.Helper()
		clock.advance(after)
		if _, err := srv.advisor.Advise(t.Context(), aQuestion()); err != nil {
			t.Fatal(err)
		}
		select {
		case q := <-srv.advisor.stale:
			srv.advisor.refresh(t.Context(), q)
		default:
		}
		if got := valueOf(t, srv.advisor.computed); got != want {
			t.Errorf("%s: worked out %v times, want %v", why, got, want)
		}
	}
	ask(0, 1, "at first")
	ask(12*time.Second, 1, "12 s later")
	ask(12*time.Second, 1, "24 s later")
	ask(25*time.Second, 1, "49 s later, since it was renewed in between")
	srv.advisor.past.outdated.Store(true)
	ask(12*time.Second, 2, "once the history has changed")
	model, err := OpenModel("default")
	if err != nil {
		t.Fatal(err)
	}
	srv.advisor.model.Store(model) // and nothing is dropped
	ask(12*time.Second, 3, "once another model decides")
}

// valueOf returns what a counter counts.
func valueOf(t *testing.T, c prometheus.Collector) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

// keepHistory keeps jobs that come every ten minutes and run for two hours, on four
// nodes, and returns when the last one came.
func keepHistory(t testing.TB, s *store.Store, cluster string, from segue.Time, n int) segue.Time {
	t.Helper()
	at := from
	jobs := func(yield func(segue.Job, error) bool) {
		for i := range n {
			at = from.Add(time.Duration(i) * 10 * time.Minute)
			start := at.Add(10 * time.Minute)
			j := segue.Job{
				ID: segue.JobID{Number: int64(i + 1)}, User: "ada", Nodes: 1, Limit: 4 * time.Hour, Submit: at, Eligible: at,
				Start: start, End: start.Add(2 * time.Hour), State: segue.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	if _, err := s.ImportJobs(t.Context(), cluster, jobs); err != nil {
		t.Fatal(err)
	}
	return at
}
