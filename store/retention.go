package store

import (
	"context"
	"fmt"
	"time"

	"github.com/segue-project/segue"
)

// Retention says how long things are kept. A zero span keeps for ever.
type Retention struct {
	// Jobs of a history, since their submission, counted from the latest one of the
	// same cluster: a history that was imported years later stays whole.
	Jobs      time.Duration
	Snapshots time.Duration
	// Decisions that led to no submission, since they were made. Those that did
	// stay as long as their chain.
	Decisions time.Duration
	// Chains that are over, with their links, decisions, outcomes and what was
	// captured at their submission, since their last link ended.
	Chains time.Duration
	Audit  time.Duration
}

// Pruned counts what was removed.
type Pruned struct{ Jobs, Snapshots, Decisions, Chains, Audit int64 }

// pruneBatch is how many rows are removed in one transaction, so that others who
// write do not wait for long.
const pruneBatch = 5000

// aged is a table of which rows are removed that are too old. An index has the
// group, if there is one, and then the instant.
type aged struct {
	table, instant string
	group, groups  string // a column, and a query of its values
	only           string // a further condition
}

// Prune removes, at the instant now, what is older than it is to be kept: batch
// after batch, each in a transaction of its own. After an error n counts what was
// removed before.
func (s *Store) Prune(ctx context.Context, keep Retention, now segue.Time) (n Pruned, err error) {
	defer s.wrap(&err, "prune")
	for _, p := range []struct {
		aged
		keep  time.Duration
		count *int64
	}{
		{aged{table: "jobs", instant: "submit", group: "cluster", groups: `SELECT id FROM clusters`}, keep.Jobs, &n.Jobs},
		{aged{table: "snapshots", instant: "at", group: "cluster", groups: `SELECT id FROM clusters`}, keep.Snapshots, &n.Snapshots},
		{aged{table: "decisions", instant: "at", group: "chain", groups: `SELECT id FROM chains`, only: ` AND submit = 0`}, keep.Decisions, &n.Decisions},
		{aged{table: "audit", instant: "at"}, keep.Audit, &n.Audit},
	} {
		if p.keep > 0 {
			if err := s.pruneAged(ctx, p.aged, now.Add(-p.keep), p.keep, p.count); err != nil {
				return n, err
			}
		}
	}
	if keep.Chains > 0 {
		err = s.pruneChains(ctx, now.Add(-keep.Chains), &n.Chains)
	}
	return n, err
}

func (s *Store) pruneAged(ctx context.Context, a aged, before segue.Time, keep time.Duration, count *int64) error {
	groups := []any{nil}
	if a.groups != "" {
		var err error
		groups, err = collect(ctx, s.read, func(row scanner) (g any, err error) {
			err = row.Scan(&g)
			return g, err
		}, a.groups)
		if err != nil {
			return err
		}
	}
	for _, group := range groups {
		until := before
		if a.table == "jobs" {
			last := segue.NoTime
			if err := s.read.QueryRowContext(ctx, `SELECT max(submit) FROM jobs WHERE cluster = $1`, group).Scan(toInstant{&last}); err != nil {
				return err
			}
			if last.Known() {
				until = min(before, last.Add(-keep))
			}
		}
		for {
			removed, err := s.pruneSome(ctx, a, group, until)
			if *count += removed; err != nil {
				return err
			}
			if removed < pruneBatch {
				break
			}
			if err := othersTurn(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// pruneSome removes the oldest rows of a group from before an instant: pruneBatch of
// them, and more only where several have one instant.
func (s *Store) pruneSome(ctx context.Context, a aged, group any, before segue.Time) (removed int64, err error) {
	condition, args := a.instant+` < $1`+a.only, []any{int64(before)}
	if a.group != "" {
		condition, args = condition+` AND `+a.group+` = $2`, append(args, group)
	}
	err = s.change(ctx, func(t tx) error {
		if a.group == "cluster" { // whoever writes jobs of it waits there
			if _, err := t.row([]any{new(any)}, `SELECT id FROM clusters WHERE id = $1`+s.engine.forUpdate(), group); err != nil {
				return err
			}
		}
		last := segue.NoTime
		found, err := t.row([]any{toInstant{&last}}, fmt.Sprintf(`SELECT max(%[1]s) FROM (SELECT %[1]s FROM %[2]s WHERE %[3]s ORDER BY %[1]s LIMIT %[4]d) AS oldest`,
			a.instant, a.table, condition, pruneBatch), args...)
		if err != nil || !found || !last.Known() {
			return err
		}
		args[0] = int64(last) + 1
		removed, err = t.exec(`DELETE FROM `+a.table+` WHERE `+condition, args...)
		return err
	})
	return removed, err
}

// pruneChains removes the chains that were over before an instant.
func (s *Store) pruneChains(ctx context.Context, before segue.Time, count *int64) error {
	old, err := collect(ctx, s.read, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, `SELECT id FROM chains c WHERE state NOT IN ('active', 'paused') AND created < $1 AND NOT EXISTS (
			SELECT 1 FROM links l WHERE l.chain = c.id AND (l.state IN ('submitting', 'queued', 'running') OR l.end_at >= $1))`, int64(before))
	if err != nil {
		return err
	}
	for _, id := range old {
		err := s.change(ctx, func(t tx) error {
			for _, table := range []string{"outcomes", "decisions", "links", "submissions"} {
				if _, err := t.exec(`DELETE FROM `+table+` WHERE chain = $1`, id); err != nil {
					return err
				}
			}
			n, err := t.exec(`DELETE FROM chains WHERE id = $1`, id)
			*count += n
			return err
		})
		if err != nil {
			return fmt.Errorf("chain %s: %w", id, err)
		}
	}
	return nil
}

// Size returns how many bytes the store takes on the disk.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	defer s.wrap(&err, "measure the store")
	err = s.read.QueryRowContext(ctx, s.engine.size()).Scan(&bytes)
	return bytes, err
}

// Compact gives back to the disk what was removed, where that is worth it, and
// returns how many bytes. SQLite's file shrinks a piece at a time, between which
// others write; one that an older program made cannot, and is written anew once, if
// it is small. PostgreSQL's autovacuum needs no help: nothing is done.
func (s *Store) Compact(ctx context.Context) (freed int64, err error) {
	defer s.wrap(&err, "compact the store")
	before, err := s.Size(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.engine.compact(ctx, s); err != nil {
		return 0, err
	}
	after, err := s.Size(ctx)
	return before - after, err
}
