package store

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// The second link of chain "c" was submitted by a decision and has started; about
// the second of chain "d" it was decided to wait, and chain "e" is over.
func TestHandoversAndOpenDecisions(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			decided := aDecision(t0.Add(time.Hour))
			next, err := s.NextLink(t.Context(), create(t, s, "c"), decided)
			if err != nil {
				t.Fatal(err)
			}
			waits := Recorded{Chain: "d", Number: 2, Attempt: 1, Decision: aDecision(t0.Add(2 * time.Hour))}
			waits.Decision.Submit = false
			for _, id := range []string{"d", "e"} {
				create(t, s, id)
				waits.Chain = id
				must(t, s.RecordDecision(t.Context(), waits))
			}
			waits.Chain = "d"
			must(t, s.SetChainState(t.Context(), "e", segue.ChainActive, segue.ChainStopped, "Stopped."))

			planned := Recorded{Chain: "c", Number: 2, Attempt: 1, Decision: decided}
			wantOpen(t, s, "", planned, waits)
			wantOpen(t, s, "bob")
			wantHandovers(t, s, t0)

			started := running(next)
			must(t, s.UpdateLink(t.Context(), next.State, started))
			wantOpen(t, s, "ada", waits)
			wantHandovers(t, s, t0, Handover{Recorded: planned, Submitted: started.Submitted, Start: started.Start})
			outcome := Outcome{Chain: "c", Number: 2, At: t0.Add(5 * time.Hour), Overlap: time.Minute}
			must(t, s.RecordOutcome(t.Context(), outcome))
			planned.Outcome = &outcome
			wantHandovers(t, s, t0, Handover{Recorded: planned, Submitted: started.Submitted, Start: started.Start})
			wantHandovers(t, s, decided.At+1)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantOpen(t *testing.T, s *Store, user string, want ...Recorded) {
	t.Helper()
	got, err := s.OpenDecisions(t.Context(), user)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("open decisions of %q (-want +got):\n%s", user, diff)
	}
}

func wantHandovers(t *testing.T, s *Store, from segue.Time, want ...Handover) {
	t.Helper()
	for user, want := range map[string][]Handover{"": want, "ada": want, "bob": nil} {
		got, err := s.Handovers(t.Context(), user, from, 10)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("handovers of %q from %s (-want +got):\n%s", user, from, diff)
		}
	}
}

func TestCoverageCountsDaysAndGuesses(t *testing.T) {
	t.Parallel()
	midnight := segue.TimeOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			_, err := s.Coverage(t.Context(), "c")
			wantKind(t, err, segue.NotFound)
			jobs := func(yield func(segue.Job, error) bool) {
				for i, at := range []segue.Time{midnight, midnight.Add(24*time.Hour - time.Microsecond), midnight.Add(72 * time.Hour)} {
					if !yield(segue.Job{ID: segue.JobID{Number: int64(i + 1)}, Submit: at, Start: segue.NoTime, End: segue.NoTime, Eligible: segue.NoTime, Nodes: 1}, nil) {
						return
					}
				}
			}
			_, err = s.ImportJobs(t.Context(), "c", jobs)
			must(t, err)
			shown := segue.QueuedJob{ID: segue.JobID{Number: 9}, Request: aRequest(), Submit: midnight, Eligible: segue.NoTime, Start: segue.NoTime}
			for i, pending := range [][]segue.QueuedJob{{shown}, nil} {
				snap := segue.Snapshot{At: t0.Add(time.Duration(i) * time.Minute), Nodes: 4, Pending: pending}
				_, err := s.RecordSnapshot(t.Context(), "c", snap)
				must(t, err)
			}
			got, err := s.Coverage(t.Context(), "c")
			must(t, err)
			want := Coverage{
				Days: []DayCount{{midnight, 3}, {midnight.Add(72 * time.Hour), 1}}, Estimated: 1, Snapshots: 2, FirstSnapshot: t0,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("coverage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeasesAreThoseThatSomebodyHolds(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			var want []Lease
			for _, name := range []string{"a", "b", "c"} {
				l, err := s.Acquire(t.Context(), name, "holder of "+name, t0, time.Duration(len(want)+1)*time.Minute)
				must(t, err)
				want = append(want, l)
			}
			must(t, s.Release(t.Context(), want[1]))
			got, err := s.Leases(t.Context(), t0.Add(time.Minute))
			must(t, err)
			if diff := cmp.Diff(slices.Delete(want, 0, 2), got); diff != "" {
				t.Errorf("leases (-want +got):\n%s", diff)
			}
		})
	}
}
