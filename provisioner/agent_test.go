package provisioner_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
)

// agent returns one of several agents of a world.
func (w *world) agent(holder string) *provisioner.Agent {
	w.t.Helper()
	a, err := provisioner.NewAgent(w.store, w.cluster, func(s *store.Store) (*provisioner.Chains, error) {
		return provisioner.NewChains(s, w.cluster, provisioner.ChainsConfig{
			Now: w.driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false },
		})
	}, provisioner.AgentConfig{Now: w.driver.Now, Holder: holder})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// Two agents that were started at once do the work of one, and when the one that
// works is killed the other takes over.
func TestOfTwoAgentsOneWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, noDecider{})
	w.begin(segue.Terms{MaxLinks: 4})
	one, two := w.agent("one"), w.agent("two")
	for range 60 * 15 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		for _, a := range []*provisioner.Agent{one, two} {
			if err := a.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(w.links()); n != 2 {
		t.Fatalf("%d links after 15 hours, want 2", n)
	}
	for range 60 * 15 { // one is killed
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		if err := two.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	links := w.links()
	if len(links) != 3 || links[2].Number != 3 {
		t.Errorf("%d links after 30 hours, want 3", len(links))
	}
}

// An agent that looks once, from a cron table, keeps no other one from working.
func TestAnAgentThatLooksOnceLetsTheNextOneWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, noDecider{})
	w.begin(segue.Terms{})
	for _, holder := range []string{"one", "two"} {
		w.driver.Advance(w.driver.Now().Add(time.Second))
		if err := w.agent(holder).Once(t.Context()); err != nil {
			t.Fatalf("agent %s: %v", holder, err)
		}
	}
	if err := w.agent("three").RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.agent("four").Once(t.Context()); !errors.Is(err, provisioner.ErrOtherWorks) {
		t.Errorf("while another agent works: %v, want %v", err, provisioner.ErrOtherWorks)
	}
}

// noDecider decides nothing: the agents have deciders of their own.
type noDecider struct{ constantLead }

// A user who has no accounting has a history all the same.
func TestAnAgentCollectsHistory(t *testing.T) {
	t.Parallel()
	jobs := []simulator.Job{
		{Submit: noon.Add(time.Hour), Run: 2 * hour, Limit: 6 * hour, Nodes: 2, User: 1},
		{Submit: noon.Add(time.Hour), Run: 3 * hour, Limit: 6 * hour, Nodes: 1, User: 2},
	}
	w := newWorld(t, jobs, noDecider{})
	a := w.agent("one")
	for range 60 * 6 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		if err := a.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var runs []time.Duration
	for j, err := range w.store.Jobs(t.Context(), store.JobQuery{Cluster: "simulated"}) {
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, j.Run())
	}
	if len(runs) != 2 {
		t.Fatalf("%d jobs in the history, want 2", len(runs))
	}
	for i, want := range []time.Duration{2 * hour, 3 * hour} {
		if diff := (runs[i] - want).Abs(); diff > 5*time.Minute {
			t.Errorf("job %d ran for %s, want %s within the five minutes between snapshots", i, runs[i], want)
		}
	}
}

// The scheduler may not answer when an agent begins: it goes on when it does.
func TestAnAgentThatCannotBeginTriesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, noDecider{})
	w.begin(segue.Terms{})
	failures := 2
	a, err := provisioner.NewAgent(w.store, w.cluster, func(*store.Store) (*provisioner.Chains, error) {
		if failures--; failures >= 0 {
			return nil, segue.Errorf(segue.Unavailable, "no controller")
		}
		return w.chains, nil
	}, provisioner.AgentConfig{Now: w.driver.Now, Holder: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.RunOnce(t.Context()); segue.KindOf(err) != segue.Unavailable {
			t.Fatalf("error %v, want one of kind unavailable", err)
		}
	}
	if err := a.RunOnce(t.Context()); err != nil {
		t.Errorf("then it does not work: %v", err)
	}
}

// A round that takes longer than the lease keeps it: ten rounds' time passes here
// within one.
func TestALongRoundKeepsItsLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, noDecider{})
	w.begin(segue.Terms{})
	var clock atomic.Int64
	now := func() segue.Time { return noon.Add(time.Duration(clock.Load())) }
	tick := make(chan struct{}) // a minute has passed; taken once what was due before it is done
	a, err := provisioner.NewAgent(w.store, w.cluster, func(*store.Store) (*provisioner.Chains, error) { return w.chains, nil }, provisioner.AgentConfig{
		Now: now, Holder: "one", Every: time.Minute,
		Sleep: func(ctx context.Context, _ time.Duration) error {
			select {
			case <-tick:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		TakeOver: func(ctx context.Context, s *store.Store) error {
			for range 10 {
				clock.Add(int64(time.Minute))
				tick <- struct{}{}
			}
			tick <- struct{}{}
			if _, err := s.Acquire(ctx, "agent", "two", now(), time.Minute); segue.KindOf(err) != segue.Conflict {
				t.Errorf("error %v of another agent meanwhile, want one of kind conflict", err)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.RunOnce(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnAgentEndsWhenItIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, noDecider{})
	ctx, cancel := context.WithCancel(t.Context())
	a := w.agent("one")
	if err := a.RunOnce(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if _, err := w.store.Acquire(t.Context(), "agent", "two", w.driver.Now(), time.Minute); err != nil {
		t.Errorf("its lease is not free: %v", err)
	}
}
