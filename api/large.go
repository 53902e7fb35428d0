package api

import (
	"io"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// A chain that is handed over takes some three times the bytes of its body while it is
// read. Scripts and environments are seldom large, so few that are may come in at once,
// and fewer of one user: nobody keeps the others' out by sending slowly.
const (
	largeHandOver = 256 << 10
	mostLarge     = 4
	mostLargeOf   = 2
)

// largeOnes are the large hand-overs that are worked on.
type largeOnes struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by user
}

// enter takes a place for a user's if there is one; leave gives it back.
func (l *largeOnes) enter(user string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= mostLarge || l.of[user] >= mostLargeOf {
		return nil, false
	}
	if l.of == nil {
		l.of = map[string]int{}
	}
	l.all++
	l.of[user]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all--
		if l.of[user]--; l.of[user] == 0 {
			delete(l.of, user)
		}
	}, true
}

// fewLarge lets a hand-over through unless it is large, or as large as it likes, and
// there are enough of those.
func (a *API) fewLarge(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if r.ContentLength >= 0 && r.ContentLength <= largeHandOver {
		next(ctx)
		return
	}
	caller, _ := callerOf(r.Context())
	leave, ok := a.large.enter(caller.User)
	if !ok {
		_, _ = io.Copy(io.Discard, r.Body) // who still sends does not listen
		a.metrics.shed.Inc()
		tooMany("too many large chains are handed over at once").write(w)
		return
	}
	defer leave()
	next(ctx)
}
