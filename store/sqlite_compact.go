package store

import (
	"context"
	"fmt"
)

const (
	// compactFrom is which part of the file must be free before it shrinks: what is
	// free is used for what comes.
	compactFrom = 1.0 / 8
	// compactPages is by how many pages it shrinks in one transaction: 4 MiB.
	compactPages = 1024
	// rewriteMost is the largest file that is written anew, in bytes: nobody else
	// writes meanwhile, for about a second.
	rewriteMost = 64 << 20
)

func (sqliteEngine) size() string {
	return `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
}

// compact shrinks the file piece by piece. One that cannot (auto_vacuum was not
// incremental when it was made) is written anew, if that does not take long; from
// then on it can.
func (e sqliteEngine) compact(ctx context.Context, s *Store) error {
	var pages, free, pageSize, mode int64
	err := s.read.QueryRowContext(ctx, `SELECT page_count, freelist_count, page_size, auto_vacuum
		FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size(), pragma_auto_vacuum()`).Scan(&pages, &free, &pageSize, &mode)
	if err != nil || free < compactPages || float64(free) < compactFrom*float64(pages) {
		return err
	}
	const incremental = 2
	if mode != incremental {
		if pages*pageSize <= rewriteMost {
			_, err = s.write.ExecContext(ctx, `VACUUM`)
		}
		return err
	}
	for left := free; left > 0; {
		if err := e.shrink(ctx, s); err != nil {
			return err
		}
		was := left
		if err := s.read.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&left); err != nil {
			return err
		}
		if left >= was { // somebody removes faster than this gives back
			return nil
		}
		if err := othersTurn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shrink gives some free pages back. The statement answers with a row for each.
func (sqliteEngine) shrink(ctx context.Context, s *Store) error {
	rows, err := s.write.QueryContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, compactPages))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	for rows.Next() {
	}
	return rows.Err()
}
