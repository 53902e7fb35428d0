package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

func TestLeaseHasOneHolder(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			ctx := t.Context()
			a, err := s.Acquire(ctx, "agent", "a", t0, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Acquire(ctx, "agent", "b", t0.Add(59*time.Second), time.Minute)
			wantKind(t, err, segue.Conflict)
			if a, err = s.Renew(ctx, a, t0.Add(50*time.Second), time.Minute); err != nil {
				t.Fatal(err)
			}
			_, err = s.Acquire(ctx, "agent", "b", t0.Add(100*time.Second), time.Minute)
			wantKind(t, err, segue.Conflict)
			b, err := s.Acquire(ctx, "agent", "b", t0.Add(110*time.Second), time.Minute)
			if err != nil || b.Fence <= a.Fence {
				t.Errorf("after it ran out: %+v, %v; want a higher fence than %d", b, err, a.Fence)
			}
			_, err = s.Renew(ctx, a, t0.Add(111*time.Second), time.Minute)
			wantKind(t, err, segue.Conflict)
			for _, l := range []Lease{a, b} { // that of a is lost, which is no error
				if err := s.Release(ctx, l); err != nil {
					t.Error(err)
				}
			}
			if c, err := s.Acquire(ctx, "agent", "c", t0.Add(111*time.Second), time.Minute); err != nil || c.Fence <= b.Fence {
				t.Errorf("after its release: %+v, %v; want a higher fence than %d", c, err, b.Fence)
			}
			_, err = s.Acquire(ctx, "agent", "", t0, time.Minute)
			wantKind(t, err, segue.Invalid)
		})
	}
}

// An agent that was asleep for too long, and does not know it, changes nothing.
func TestLostLeaseChangesNothing(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			last := create(t, s, "c")
			a, err := s.Acquire(t.Context(), "agent", "a", t0, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Under(a).NextLink(t.Context(), last, aDecision(t0)); err != nil {
				t.Fatalf("with the lease: %v", err)
			}
			b, err := s.Acquire(t.Context(), "agent", "b", t0.Add(time.Hour), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			ended := last
			ended.State = segue.LinkEnded
			wantKind(t, s.Under(a).UpdateLink(t.Context(), segue.LinkRunning, ended), segue.Conflict)
			wantKind(t, s.Under(a).SetChainState(t.Context(), "c", segue.ChainActive, segue.ChainDone, ""), segue.Conflict)
			_, err = s.Under(a).ImportJobs(t.Context(), "c", historyOf(aJob(1)))
			wantKind(t, err, segue.Conflict)
			importAll(t, s.Under(b), "c", aJob(1))
			if err := s.Under(b).UpdateLink(t.Context(), segue.LinkRunning, ended); err != nil {
				t.Errorf("the new holder: %v", err)
			}
		})
	}
}

func TestOfManyAgentsOneGetsTheLease(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := fresh(t)
			const agents = 8
			errs := make([]error, agents)
			var all sync.WaitGroup
			for i := range agents {
				s := open(t, where)
				all.Go(func() { _, errs[i] = s.Acquire(t.Context(), "agent", fmt.Sprintf("agent %d", i), t0, time.Minute) })
			}
			all.Wait()
			holders := 0
			for _, err := range errs {
				if err == nil {
					holders++
					continue
				}
				wantKind(t, err, segue.Conflict)
			}
			if holders != 1 {
				t.Errorf("%d agents hold the lease, want 1", holders)
			}
		})
	}
}
