package store

import (
	"context"
	"time"

	"github.com/segue-project/segue"
)

// Retention says how long things are kept. A zero span keeps for ever.
type Retention struct {
	Jobs      time.Duration // since their submission
	Snapshots time.Duration
	// Decisions that led to no submission, since they were made. Those that did
	// stay as long as their chain.
	Decisions time.Duration
}

// Pruned counts what was removed.
type Pruned struct{ Jobs, Snapshots, Decisions int64 }

// Prune removes, at the instant now, what is older than it is to be kept.
func (s *Store) Prune(ctx context.Context, keep Retention, now segue.Time) (n Pruned, err error) {
	defer s.wrap(&err, "prune")
	for _, p := range []struct {
		keep  time.Duration
		query string
		count *int64
	}{
		{keep.Jobs, `DELETE FROM jobs WHERE submit < $1`, &n.Jobs},
		{keep.Snapshots, `DELETE FROM snapshots WHERE at < $1`, &n.Snapshots},
		{keep.Decisions, `DELETE FROM decisions WHERE at < $1 AND submit = 0`, &n.Decisions},
	} {
		if p.keep <= 0 {
			continue
		}
		err := s.change(ctx, func(t tx) (err error) {
			*p.count, err = t.exec(p.query, int64(now.Add(-p.keep)))
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
