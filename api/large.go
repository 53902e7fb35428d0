package api

import (
	"io"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// A hand-over may wait for the scheduler, and one that is large takes some three times the
// bytes of its body while it is read. So few are worked on at once, fewer that are large,
// and fewer of one user: nobody keeps the others' out, or their questions.
const (
	largeHandOver = 256 << 10
	mostLarge     = 4
	mostLargeOf   = 2
	mostHanded    = 64
	mostHandedOf  = 8
)

// seats are for what is worked on at once: so many in all, and so many of a user.
type seats struct {
	most, mostOf int

	mu  sync.Mutex
	all int
	of  map[string]int // by user
}

func newSeats(most, mostOf int) *seats {
	return &seats{most: most, mostOf: mostOf, of: map[string]int{}}
}

// enter takes one for a user's if there is one; leave gives it back.
func (s *seats) enter(user string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.most || s.of[user] >= s.mostOf {
		return nil, false
	}
	s.all++
	s.of[user]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.of[user]--; s.of[user] == 0 {
			delete(s.of, user)
		}
	}, true
}

// fewHandOvers lets a hand-over through unless there are enough of them, or of large ones
// where it is large, or as large as it likes.
func (a *API) fewHandOvers(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	caller, _ := callerOf(r.Context())
	take := []*seats{a.handed}
	if r.ContentLength < 0 || r.ContentLength > largeHandOver {
		take = append(take, a.large)
	}
	for _, p := range take {
		leave, ok := p.enter(caller.User)
		if !ok {
			_, _ = io.Copy(io.Discard, r.Body) // who still sends does not listen
			a.metrics.shed.Inc()
			tooMany("too many chains are handed over at once").write(w)
			return
		}
		defer leave()
	}
	next(ctx)
}
