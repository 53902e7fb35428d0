package server

import (
	"context"
	"sync"
	"time"

	"github.com/segue-project/segue"
)

// fresh are answers that cost a look at every job, by what they are about: each
// serves everybody for a while, and one is worked out at a time.
type fresh[T any] struct {
	now func() segue.Time
	// span is how long an answer serves.
	span time.Duration

	mu  sync.Mutex
	all map[string]answered[T]
}

type answered[T any] struct {
	answer T
	at     segue.Time
}

// get returns the answer about a name, which work works out where it is not known.
func (f *fresh[T]) get(ctx context.Context, name string, work func(context.Context) (T, error)) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if known, ok := f.all[name]; ok && now.Sub(known.at).Abs() < f.span {
		return known.answer, nil
	}
	for other, known := range f.all {
		if now.Sub(known.at).Abs() >= f.span {
			delete(f.all, other)
		}
	}
	if err := ctx.Err(); err != nil { // it had to wait for too long
		var none T
		return none, segue.Errorf(segue.Unavailable, "read the history: %w", err)
	}
	answer, err := work(ctx)
	if err != nil {
		return answer, err
	}
	if f.all == nil {
		f.all = map[string]answered[T]{}
	}
	f.all[name] = answered[T]{answer, now}
	return answer, nil
}

// forget drops all answers: what they are about has changed.
func (f *fresh[T]) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.all)
}
