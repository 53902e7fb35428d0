package server

import (
	"context"
	"sync"

	"github.com/segue-project/segue"
)

// turn lets one work at a time. Of those who wait, one who is urgent comes before
// all who are not, and otherwise the first comes first. Its zero value is free.
type turn struct {
	mu     sync.Mutex
	taken  bool
	urgent []chan struct{} // who wait; one is closed when it is its turn
	others []chan struct{}
}

// take waits for the turn. An error, of kind Unavailable, says that ctx ended
// before.
func (t *turn) take(ctx context.Context, urgent bool) error {
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	mine := make(chan struct{})
	if urgent {
		t.urgent = append(t.urgent, mine)
	} else {
		t.others = append(t.others, mine)
	}
	t.mu.Unlock()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	if !t.leave(mine) {
		t.give() // it came meanwhile
	}
	return segue.Errorf(segue.Unavailable, "advise: it was not its turn in time: %w", ctx.Err())
}

// leave ends a wait, and reports whether it did: it did not where the turn came
// before.
func (t *turn) leave(mine chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&t.urgent, &t.others} {
		for i, c := range *queue {
			if c == mine {
				*queue = append((*queue)[:i], (*queue)[i+1:]...)
				return true
			}
		}
	}
	return false
}

// give hands the turn on.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&t.urgent, &t.others} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = (*queue)[1:]
			return
		}
	}
	t.taken = false
}
