package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/segue-project/segue"
)

// tx is a change: all of its statements take effect, or none.
type tx struct {
	*sql.Tx
	ctx context.Context // a tx lives as long as one call
	s   *Store
}

// change runs do in a transaction, which ends with it. Where the store acts under
// a lease, the lease holds until then.
func (s *Store) change(ctx context.Context, do func(tx) error) error {
	sqlTx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer sqlTx.Rollback() //nolint:errcheck // after Commit it does nothing; before, err says more
	t := tx{sqlTx, ctx, s}
	if s.lease != nil {
		if err := t.holds(*s.lease); err != nil {
			return err
		}
	}
	if err := do(t); err != nil {
		return err
	}
	if err := t.step(); err != nil {
		return err
	}
	err = sqlTx.Commit()
	if err == nil {
		s.refusals.note(nil)
	}
	return err
}

// exec runs a statement and returns how many rows it changed.
func (t tx) exec(query string, args ...any) (int64, error) {
	if err := t.step(); err != nil {
		return 0, err
	}
	result, err := t.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row runs a query of at most one row; ok is false when there is none.
func (t tx) row(into []any, query string, args ...any) (ok bool, err error) {
	if err := t.step(); err != nil {
		return false, err
	}
	err = t.QueryRowContext(t.ctx, query, args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func (t tx) step() error {
	if t.s.step != nil {
		return t.s.step()
	}
	return nil
}

// scanner is a row that can be read once.
type scanner interface{ Scan(into ...any) error }

// collect returns what scan makes of each row of a query.
func collect[T any](ctx context.Context, db querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// wrap gives an error that a method returns its kind, and says what was being
// done: defer s.wrap(&err, "create chain %s", id).
func (s *Store) wrap(err *error, doing string, args ...any) { *err = s.explain(*err, doing, args...) }

func (s *Store) explain(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	if s.engine.refuses(err) {
		s.refusals.note(err)
	}
	kind := segue.KindOf(err)
	if kind == segue.Other {
		kind = s.engine.kindOf(err)
	}
	return segue.Errorf(kind, "%s: %w", fmt.Sprintf(doing, args...), oneLineError{err})
}

// oneLineError is an error that is told on one line: pgx tells of each address that it
// tried on a line of its own.
type oneLineError struct{ error }

func (e oneLineError) Error() string {
	text := e.error.Error()
	if !strings.Contains(text, "\n") {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

func (e oneLineError) Unwrap() error { return e.error }
