package store

import (
	"fmt"
	"sync"
	"testing"

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
				errs := atOnce(t, where, func(i int) (segue.Chain, segue.Link) { return claim(fmt.Sprintf("c%d", i), "ada", tt.job(i)) }, Most{Chains: 5, Open: 2})
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
			most := Most{Chains: 5, Open: 2}
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
