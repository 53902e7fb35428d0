package store

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// claim is a chain of a user whose first link is said to be a job; 0 is one of which
// nobody knows whether it has one.
func claim(id, user string, job int64) (segue.Chain, segue.Link) {
	c, first := aChain(id), aLink(id, 1)
	c.User = user
	if job != 0 {
		first.State, first.Job, first.Submitted = segue.LinkQueued, segue.JobID{Number: job}, t0
	}
	return c, first
}

// atOnce has many servers of one store claim chains, and returns what each is told.
func atOnce(t *testing.T, where string, chain func(i int) (segue.Chain, segue.Link), most Most) []error {
	t.Helper()
	errs := make([]error, 12)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range errs {
		s := open(t, where)
		c, first := chain(i)
		all.Go(func() {
			<-begin
			errs[i] = s.ClaimChain(t.Context(), c, first, most)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

func wantTaken(t *testing.T, errs []error, want int, refusal segue.Kind) {
	t.Helper()
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
			continue
		}
		wantKind(t, err, refusal)
	}
	if taken != want {
		t.Errorf("%d chains are taken, want %d", taken, want)
	}
}

func TestOfManyClaimsAtOnceAsManyAreTakenAsMayBe(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		for what, tt := range map[string]struct {
			job     func(i int) int64
			want    int
			refusal segue.Kind
		}{
			"chains of one job": {func(int) int64 { return 4711 }, 1, segue.Conflict},
			"chains":            {func(i int) int64 { return int64(i + 1) }, 5, segue.Invalid},
			"open links":        {func(int) int64 { return 0 }, 2, segue.Unavailable},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				where := fresh(t)
				open(t, where)
				errs := atOnce(t, where, func(i int) (segue.Chain, segue.Link) { return claim(fmt.Sprintf("c%d", i), "ada", tt.job(i)) }, Most{Chains: 5, Recent: 100, Open: 2, Bytes: 1 << 20})
				wantTaken(t, errs, tt.want, tt.refusal)
			})
		}
	}
}

func TestAClaimIsAmongTheUsersOwn(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			most := Most{Chains: 5, Recent: 100, Open: 2, Bytes: 1 << 20}
			for _, c := range []struct {
				id, user string
				job      int64
				want     segue.Kind
			}{
				{"a", "ada", 7, segue.Other},
				{"b", "ada", 7, segue.Conflict},
				{"c", "bob", 7, segue.Other}, // what a user says of a job holds up nobody else
				{"a", "bob", 8, segue.Conflict},
			} {
				chain, first := claim(c.id, c.user, c.job)
				if err := s.ClaimChain(t.Context(), chain, first, most); segue.KindOf(err) != c.want || (err == nil) != (c.want == segue.Other) {
					t.Errorf("chain %s of %s: %v", c.id, c.user, err)
				}
			}
			must(t, s.SetChainState(t.Context(), "a", segue.ChainActive, segue.ChainStopped, "Stopped."))
			chain, first := claim("d", "ada", 7)
			wantKind(t, s.ClaimChain(t.Context(), chain, first, most), segue.Conflict) // its job goes on all the same
			_, ended := claim("a", "ada", 7)
			was := ended.State
			ended.State = segue.LinkEnded
			must(t, s.UpdateLink(t.Context(), was, ended))
			must(t, s.ClaimChain(t.Context(), chain, first, most))
		})
	}
}

// A user who stops chain after chain fills no disk with what was captured of them.
func TestWhatWasCapturedOfChainsThatAreOverMakesRoom(t *testing.T) {
	t.Parallel()
	const large = 10_000
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			most := Most{Chains: 100, Recent: 6, Open: 100, Bytes: 3 * large}
			hand := func(id, user string, after time.Duration) error {
				chain, first := claim(id, user, 0)
				chain.Created = t0.Add(after)
				chain.Submission.Script = bytes.Repeat([]byte{'#'}, large)
				return s.ClaimChain(t.Context(), chain, first, most)
			}
			stop := func(id string) {
				must(t, s.SetChainState(t.Context(), id, segue.ChainActive, segue.ChainStopped, "Stopped."))
			}
			must(t, hand("bobs", "bob", 0))
			stop("bobs")
			for i, id := range []string{"a1", "a2", "a3"} {
				must(t, hand(id, "ada", time.Duration(i)*time.Hour))
			}
			wantKind(t, hand("a4", "ada", 3*time.Hour), segue.Invalid) // all of them go on
			stop("a2")
			stop("a1")
			must(t, hand("a4", "ada", 3*time.Hour))
			scripts := map[string]int{}
			for _, id := range []string{"a1", "a2", "a3", "a4", "bobs"} {
				chain, err := s.Chain(t.Context(), id)
				must(t, err)
				scripts[id] = len(chain.Submission.Script)
			}
			if diff := cmp.Diff(map[string]int{"a1": 0, "a2": large, "a3": large, "a4": large, "bobs": large}, scripts); diff != "" {
				t.Errorf("bytes of scripts (-want +got):\n%s", diff)
			}
			stop("a3")
			must(t, hand("a5", "ada", 4*time.Hour))
			stop("a4")
			must(t, hand("a6", "ada", 5*time.Hour))
			stop("a5")
			wantKind(t, hand("a7", "ada", 6*time.Hour), segue.Invalid) // within 30 days of six others
			must(t, hand("a7", "ada", recent+6*time.Hour))
		})
	}
}
