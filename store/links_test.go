package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestNextLinkComesWithItsDecision(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			last := create(t, s, "k3")
			at := t0.Add(40 * time.Hour)
			got, err := s.NextLink(t.Context(), last, aDecision(at))
			if err != nil {
				t.Fatal(err)
			}
			want := aLink("k3", 2)
			want.Planned = at
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("next link (-want +got):\n%s", diff)
			}
			for user, of := range map[string]string{"ada": "[" + at.String() + "]", "ben": "[]"} {
				if all, err := s.Submissions(t.Context(), user, at.Add(-time.Hour), at); err != nil || fmt.Sprint(all) != of {
					t.Errorf("submissions of %s within an hour are %v, %v; want %s", user, all, err, of)
				}
			}
			if all, err := s.Submissions(t.Context(), "ada", at.Add(time.Minute), at.Add(time.Hour)); err != nil || len(all) > 0 {
				t.Errorf("submissions after that are %v, %v; want none", all, err)
			}
			byToken, err := s.LinkByToken(t.Context(), "segue:k3/2.1")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, byToken); diff != "" {
				t.Errorf("by its token (-want +got):\n%s", diff)
			}
			decisions, err := s.Decisions(t.Context(), "k3", 5)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Recorded{{Chain: "k3", Number: 2, Attempt: 1, Decision: aDecision(at)}}, decisions); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNextLinkIsRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prepare func(ctx context.Context, s *Store, last *segue.Link) error
		want    segue.Kind
	}{
		"when one waits already": {func(ctx context.Context, s *Store, last *segue.Link) error {
			_, err := s.NextLink(ctx, *last, aDecision(t0))
			return err
		}, segue.Conflict},
		"when the caller missed a link": {func(ctx context.Context, s *Store, last *segue.Link) error {
			next, err := s.NextLink(ctx, *last, aDecision(t0))
			return errors.Join(err, s.UpdateLink(ctx, segue.LinkSubmitting, running(next)))
		}, segue.Conflict},
		"when the last one was requeued": {func(ctx context.Context, s *Store, last *segue.Link) error {
			queued := *last
			queued.State, queued.Restarts = segue.LinkQueued, 1
			return s.UpdateLink(ctx, segue.LinkRunning, queued)
		}, segue.Conflict},
		"when the chain is paused": {func(ctx context.Context, s *Store, _ *segue.Link) error {
			return s.SetChainState(ctx, "c", segue.ChainActive, segue.ChainPaused, "by ada")
		}, segue.Conflict},
		"when the caller takes the last one for lost": {func(_ context.Context, _ *Store, last *segue.Link) error {
			last.State = segue.LinkLost
			return nil
		}, segue.Conflict},
		"when there is no such chain": {func(_ context.Context, _ *Store, last *segue.Link) error {
			last.Chain = "d"
			return nil
		}, segue.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for name, fresh := range engines(t) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := open(t, fresh(t))
					last := create(t, s, "c")
					if err := c.prepare(t.Context(), s, &last); err != nil {
						t.Fatal(err)
					}
					before, err := s.Links(t.Context(), "c")
					if err != nil {
						t.Fatal(err)
					}
					_, err = s.NextLink(t.Context(), last, aDecision(t0.Add(time.Minute)))
					wantKind(t, err, c.want)
					after, err := s.Links(t.Context(), "c")
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("the links changed (-before +after):\n%s", diff)
					}
				})
			}
		})
	}
}

// Whether its submission made no job, or one that the scheduler lost while it waited.
func TestLostLinkIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		for _, from := range []segue.LinkState{segue.LinkSubmitting, segue.LinkQueued} {
			t.Run(name+"/"+from.String(), func(t *testing.T) {
				t.Parallel()
				s := open(t, fresh(t))
				next, err := s.NextLink(t.Context(), create(t, s, "c"), aDecision(t0))
				if err != nil {
					t.Fatal(err)
				}
				next.State = from
				if err := s.UpdateLink(t.Context(), segue.LinkSubmitting, next); err != nil {
					t.Fatal(err)
				}
				next.State = segue.LinkLost
				if err := s.UpdateLink(t.Context(), from, next); err != nil {
					t.Fatal(err)
				}
				again, err := s.NextLink(t.Context(), next, aDecision(t0.Add(time.Minute)))
				if err != nil {
					t.Fatal(err)
				}
				if want := "segue:c/2.2"; again.Token() != want {
					t.Errorf("the next attempt is %s, want %s", again.Token(), want)
				}
			})
		}
	}
}

// A run that happened counts, whatever became of the job afterwards.
func TestALinkThatHasRunIsNeverLost(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			l := create(t, s, "c")
			l.State, l.Start, l.Restarts = segue.LinkQueued, segue.NoTime, 1
			if err := s.UpdateLink(t.Context(), segue.LinkRunning, l); err != nil {
				t.Fatal(err)
			}
			lost := l
			lost.State = segue.LinkLost
			wantKind(t, s.UpdateLink(t.Context(), segue.LinkQueued, lost), segue.Conflict)
			got, err := s.LinkByToken(t.Context(), l.Token())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(l, got); diff != "" {
				t.Errorf("the link changed (-before +after):\n%s", diff)
			}
		})
	}
}

// Ten agents, on as many connections, at once.
func TestOfManyAgentsOneAddsTheLink(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := fresh(t)
			last := create(t, open(t, where), "c")
			const agents = 10
			errs := make([]error, agents)
			var all sync.WaitGroup
			for i := range agents {
				s := open(t, where)
				all.Go(func() { _, errs[i] = s.NextLink(t.Context(), last, aDecision(t0.Add(time.Duration(i)))) })
			}
			all.Wait()
			added := 0
			for _, err := range errs {
				if err == nil {
					added++
					continue
				}
				wantKind(t, err, segue.Conflict)
			}
			links, err := open(t, where).Links(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			if added != 1 || len(links) != 2 {
				t.Errorf("%d agents added a link, and there are %d; want 1 and 2", added, len(links))
			}
		})
	}
}

// Every pair of states by a hand with a database client, and by the method.
func TestLinkTakesOnlyLegalSteps(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			n := 0
			for from := segue.LinkSubmitting; from <= segue.LinkLost; from++ {
				for to := segue.LinkSubmitting; to <= segue.LinkLost; to++ {
					n++
					id := fmt.Sprintf("c%d", n)
					first := aLink(id, 1)
					first.State = from
					if err := s.CreateChain(t.Context(), aChain(id), first); err != nil {
						t.Fatal(err)
					}
					_, byHand := s.write.ExecContext(t.Context(), `UPDATE links SET state = $1 WHERE chain = $2`, to.String(), id)
					if legal := from.MayBecome(to) || from == to; (byHand == nil) != legal {
						t.Errorf("by hand, from %s to %s: error %v, legal: %t", from, to, byHand, legal)
					}
					if from == to || from.MayBecome(to) {
						continue
					}
					changed := first
					changed.State = to
					wantKind(t, s.UpdateLink(t.Context(), from, changed), segue.Conflict)
				}
			}
		})
	}
}

func TestSecondWaitingLinkIsImpossibleByHand(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			if err := s.CreateChain(t.Context(), aChain("c"), aLink("c", 1)); err != nil {
				t.Fatal(err)
			}
			_, err := s.write.ExecContext(t.Context(), `INSERT INTO links SELECT chain, 2, 1, 'queued', 1, 0, 0, planned, submitted, start_at, end_at, ready, ended, 0, 0, 0 FROM links`)
			wantKind(t, s.explain(err, "by hand"), segue.Conflict)
		})
	}
}

func TestRequeuedLinkWaitsBesideItsSuccessor(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			first := create(t, s, "c")
			if _, err := s.NextLink(t.Context(), first, aDecision(t0)); err != nil {
				t.Fatal(err)
			}
			first.State, first.Start, first.Restarts = segue.LinkQueued, segue.NoTime, 1
			if err := s.UpdateLink(t.Context(), segue.LinkRunning, first); err != nil {
				t.Errorf("the requeue of a link whose successor waits: %v", err)
			}
		})
	}
}

func TestUpdateGoesFromTheStateThatWasSeen(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			l := create(t, s, "c")
			ended := l
			ended.State, ended.End, ended.Ended, ended.ExitCode, ended.Signal = segue.LinkEnded, t0.Add(9*time.Hour), segue.Timeout, 1, 15
			wantKind(t, s.UpdateLink(t.Context(), segue.LinkQueued, ended), segue.Conflict)
			if err := s.UpdateLink(t.Context(), segue.LinkRunning, ended); err != nil {
				t.Fatal(err)
			}
			wantKind(t, s.UpdateLink(t.Context(), segue.LinkRunning, ended), segue.Conflict)
			unknown := aLink("c", 7)
			unknown.State = segue.LinkQueued
			wantKind(t, s.UpdateLink(t.Context(), segue.LinkSubmitting, unknown), segue.NotFound)
			got, err := s.LinkByToken(t.Context(), l.Token())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ended, got); diff != "" {
				t.Errorf("link (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadinessIsNotForgottenUntilARequeue(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			l := create(t, s, "c")
			ready := t0.Add(80 * time.Minute)
			for _, at := range []segue.Time{ready, ready.Add(time.Hour)} {
				if err := s.MarkReady(t.Context(), l.Token(), at); err != nil {
					t.Fatal(err)
				}
			}
			steps := []struct {
				was  segue.LinkState
				to   func()
				want segue.Time
			}{
				{segue.LinkRunning, func() {}, ready}, // the writer knows nothing of it
				{segue.LinkRunning, func() { l.State, l.Start, l.Restarts = segue.LinkQueued, segue.NoTime, 1 }, segue.NoTime},
			}
			for i, step := range steps {
				step.to()
				if err := s.UpdateLink(t.Context(), step.was, l); err != nil {
					t.Fatal(err)
				}
				got, err := s.LinkByToken(t.Context(), l.Token())
				if err != nil {
					t.Fatal(err)
				}
				if got.Ready != step.want {
					t.Errorf("step %d: ready at %s, want %s", i, got.Ready, step.want)
				}
			}
			wantKind(t, s.MarkReady(t.Context(), "segue:c/9.1", t0), segue.NotFound)
			wantKind(t, s.MarkReady(t.Context(), "c/9.1", t0), segue.Invalid)
		})
	}
}

func TestLiveLinksAreWhatALoopLooksAt(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			create(t, s, "runs")
			ended := create(t, s, "ended")
			ended.State, ended.End = segue.LinkEnded, t0.Add(2*time.Hour)
			stopped, over := create(t, s, "stopped"), create(t, s, "over")
			over.State = segue.LinkEnded
			for _, l := range []segue.Link{ended, over} {
				if err := s.UpdateLink(t.Context(), segue.LinkRunning, l); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.NextLink(t.Context(), create(t, s, "two"), aDecision(t0)); err != nil {
				t.Fatal(err)
			}
			for _, l := range []segue.Link{stopped, over} {
				if err := s.SetChainState(t.Context(), l.Chain, segue.ChainActive, segue.ChainStopped, "by ada"); err != nil {
					t.Fatal(err)
				}
			}
			links, err := s.LiveLinks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range links {
				got = append(got, l.Token())
			}
			want := []string{"segue:ended/1.1", "segue:runs/1.1", "segue:stopped/1.1", "segue:two/1.1", "segue:two/2.1"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("live links (-want +got):\n%s", diff)
			}
		})
	}
}
