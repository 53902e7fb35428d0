package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"iter"
	"net"

	"github.com/pressly/goose/v3"

	"github.com/segue-project/segue"
)

// engine is what SQLite and PostgreSQL do differently. Queries are the same for
// both.
type engine interface {
	// where says for people where the database is.
	where() string
	// name is what a migration calls the engine, dialect what goose does.
	name() string
	dialect() goose.Dialect
	// alone runs do while no other process migrates the same database.
	alone(ctx context.Context, do func(...goose.ProviderOption) error) error
	// identify refuses a database that holds something else than a store.
	identify(ctx context.Context, s *Store) error
	// kindOf tells the kind of an error of the engine.
	kindOf(err error) segue.Kind
	// refuses tells errors that say that no change reaches the disk, and busy those that
	// say that others are writing.
	refuses(err error) bool
	busy(err error) bool
	// forUpdate and forShare end a SELECT in a change: others wait before they
	// change (or lock) its rows until the change is over.
	forUpdate() string
	forShare() string
	// turn is a statement in a change, with a name: whoever says it of the same name
	// waits until the change is over; "" where changes take turns anyway.
	turn() string
	// batch is how many jobs are imported in one transaction.
	batch() int
	// load calls do in one transaction, with a function that appends rows to a
	// table, as fast as the engine can, and one that runs a statement.
	load(ctx context.Context, s *Store, do func(loader) error) error
	// importJobs inserts jobs or updates those that are there, and returns how many
	// of them made a difference. No two have the same identity.
	importJobs(ctx context.Context, s *Store, rows [][]any) (changed int64, err error)
	// fillJobs calls all with a function that does what importJobs does, in the
	// quickest way for a store that holds no job yet, or reports that it holds some.
	fillJobs(ctx context.Context, s *Store, all func(write func(rows [][]any) (changed int64, err error)) error) (empty bool, err error)
	// analyze is a statement that lets the engine look at the jobs, so that it
	// chooses indexes well from now on; "" for none.
	analyze() string
	// size is a query of how many bytes the database takes.
	size() string
	// compact gives back to the disk what was removed, if it is much.
	compact(ctx context.Context, s *Store) error
}

// loader appends rows to tables.
type loader interface {
	rows(table string, columns []string, rows iter.Seq2[[]any, error]) (int64, error)
	// anyRow reports whether the table has a row.
	anyRow(table string) (bool, error)
}

// kindOfTransport tells the kind of errors that come from between the engine and
// us.
func kindOfTransport(err error) segue.Kind {
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return segue.Other
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return segue.Unavailable
	}
	return segue.Other
}
