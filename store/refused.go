package store

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/segue-project/segue"
)

// refusals remember whether the engine takes changes. It is shared with the stores of
// leases: see Under.
type refusals struct {
	mu  sync.Mutex
	err error // that a change met; nil once one was taken
}

func (r *refusals) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *refusals) latest() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Refused returns why the engine took no change when one was last made: the disk is
// full, damaged or read-only. It is nil as soon as a change is taken. A store that
// answers questions may refuse changes all the same.
func (s *Store) Refused() error { return s.refusals.latest() }

// trial is how many bytes TryChange writes after a change was refused: a full disk has
// place for a few bytes for a while.
const trial = 64 << 10

// TryChange makes a change that nobody sees, so that Refused tells the truth where
// nobody else makes one. Where others write, so that it does not come to its turn
// before ctx ends, nothing is known and the error is nil.
func (s *Store) TryChange(ctx context.Context) (err error) {
	defer s.wrap(&err, "try to change store %s", s.engine.where())
	size := 1
	if s.Refused() != nil {
		size = trial
	}
	filler := make([]byte, size)
	_, _ = rand.Read(filler) // it does not fail; what can be compressed would need less place
	err = s.change(ctx, func(t tx) error {
		// The row is among those that no backup holds; nobody has no name.
		_, err := t.exec(`INSERT INTO idempotency (owner, key, fingerprint, at, status, kind, body) VALUES ('', '', '', $1, 0, '', $2)
			ON CONFLICT (owner, key) DO UPDATE SET body = excluded.body`, int64(segue.Never), filler)
		return err
	})
	if ctx.Err() != nil || s.engine.busy(err) {
		return nil
	}
	return err
}
