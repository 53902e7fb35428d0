package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestChainComesBackByteForByte(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			want := aChain("k3v9q2")
			if err := s.CreateChain(t.Context(), want, aLink("k3v9q2", 1)); err != nil {
				t.Fatal(err)
			}
			got, err := s.Chain(t.Context(), "k3v9q2")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the chain changed (-want +got):\n%s", diff)
			}
			links, err := s.Links(t.Context(), "k3v9q2")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]segue.Link{aLink("k3v9q2", 1)}, links); diff != "" {
				t.Errorf("its first link changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChainIsCreatedOnceAndWhole(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			if err := s.CreateChain(t.Context(), aChain("a"), aLink("a", 1)); err != nil {
				t.Fatal(err)
			}
			wantKind(t, s.CreateChain(t.Context(), aChain("a"), aLink("a", 1)), segue.Conflict)
			wantKind(t, s.CreateChain(t.Context(), aChain("b"), aLink("b", 2)), segue.Invalid)
			latin := aChain("b")
			latin.Terms.DoneFile = "/d\xfcne" // as text it would be another file
			wantKind(t, s.CreateChain(t.Context(), latin, aLink("b", 1)), segue.Invalid)
			wantKind(t, s.CreateChain(t.Context(), aChain("no spaces"), aLink("no spaces", 1)), segue.Invalid)
			_, err := s.Chain(t.Context(), "b")
			wantKind(t, err, segue.NotFound)
		})
	}
}

func TestChainsAreFoundByUserAndState(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			for i, user := range []string{"ada", "grace", "ada"} {
				c := aChain(fmt.Sprintf("c%d", i))
				c.User, c.Created = user, t0.Add(time.Duration(i)*time.Hour)
				if err := s.CreateChain(t.Context(), c, aLink(c.ID, 1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.SetChainState(t.Context(), "c0", segue.ChainActive, segue.ChainStopped, "as ada asked"); err != nil {
				t.Fatal(err)
			}
			ended := aLink("c1", 1)
			ended.State = segue.LinkLost
			if err := s.UpdateLink(t.Context(), segue.LinkSubmitting, ended); err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]struct {
				query ChainQuery
				want  []string
			}{
				"all, the latest first": {ChainQuery{}, []string{"c2", "c1", "c0"}},
				"of a user":             {ChainQuery{User: "ada"}, []string{"c2", "c0"}},
				"that go on":            {ChainQuery{States: []segue.ChainState{segue.ChainActive, segue.ChainPaused}}, []string{"c2", "c1"}},
				"stopped ones of ada":   {ChainQuery{User: "ada", States: []segue.ChainState{segue.ChainStopped}}, []string{"c0"}},
				"the latest":            {ChainQuery{Limit: 1}, []string{"c2"}},
				"with a live link":      {ChainQuery{Live: true}, []string{"c2", "c0"}},
			} {
				found, err := s.Chains(t.Context(), c.query)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, f := range found {
					got = append(got, f.ID)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// Every pair of states, by the method and by a hand with a database client: the
// database agrees with segue.ChainState.MayBecome.
func TestChainTakesOnlyLegalSteps(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			n := 0
			for from := segue.ChainActive; from <= segue.ChainFailed; from++ {
				for to := segue.ChainActive; to <= segue.ChainFailed; to++ {
					n++
					id := fmt.Sprintf("c%d", n)
					c := aChain(id)
					c.State = from
					if err := s.CreateChain(t.Context(), c, aLink(id, 1)); err != nil {
						t.Fatal(err)
					}
					_, byHand := s.write.ExecContext(t.Context(), `UPDATE chains SET state = $1 WHERE id = $2`, to.String(), id)
					if legal := from.MayBecome(to) || from == to; (byHand == nil) != legal {
						t.Errorf("by hand, from %s to %s: error %v, legal: %t", from, to, byHand, legal)
					}
					if from == to || from.MayBecome(to) {
						continue
					}
					wantKind(t, s.explain(byHand, "by hand"), segue.Conflict)
					wantKind(t, s.SetChainState(t.Context(), id, from, to, ""), segue.Conflict)
				}
			}
		})
	}
}

func TestChainStateIsSetFromTheStateThatWasSeen(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			create(t, s, "a")
			if err := s.SetChainState(t.Context(), "a", segue.ChainActive, segue.ChainPaused, "paused by ada"); err != nil {
				t.Fatal(err)
			}
			wantKind(t, s.SetChainState(t.Context(), "a", segue.ChainActive, segue.ChainDone, "done"), segue.Conflict)
			wantKind(t, s.SetChainState(t.Context(), "b", segue.ChainActive, segue.ChainDone, "done"), segue.NotFound)
			c, err := s.Chain(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if c.State != segue.ChainPaused || c.Why != "paused by ada" {
				t.Errorf("chain is %s (%q), want paused", c.State, c.Why)
			}
		})
	}
}
