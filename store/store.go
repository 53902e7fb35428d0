package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// Config tunes a store. Its zero value will do.
type Config struct {
	// MaxConns bounds the connections that are open at once; default 8.
	MaxConns int
	// Patience is how long a change waits for another process that is writing
	// (SQLite), or for a connection to the server (PostgreSQL), before the error is
	// of kind Unavailable; default 10 seconds.
	Patience time.Duration
	// NetworkDisk allows an SQLite file on a network file system. It is slower
	// there: no WAL, whose index machines cannot share.
	NetworkDisk bool
	// Volatile lets a change be lost with the power, not with the process: for
	// replays and tests, which are faster by the time of a write to the disk.
	Volatile bool
	// Step, when not nil, is called before every statement of a change and before its
	// commit; an error is as if the process were killed there. It is for tests.
	Step func() error
	Log  *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.MaxConns == 0 {
		c.MaxConns = 8
	}
	if c.Patience == 0 {
		c.Patience = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.MaxConns < 2:
		return segue.Errorf(segue.Invalid, "MaxConns is %d, want at least 2, or 0 for the default", c.MaxConns)
	case c.Patience < time.Millisecond:
		return segue.Errorf(segue.Invalid, "Patience is %s, want at least 1ms, or 0 for the default", c.Patience)
	}
	return nil
}

// Store is an open store. Several goroutines may use it, and several processes
// the same database.
type Store struct {
	engine      engine
	read, write *sql.DB
	lease       *Lease       // under which changes are made; nil for none
	step        func() error // Config.Step
	refusals    *refusals
}

// Open opens the store at a PostgreSQL URL (postgres://user@host/database) or
// the path of an SQLite file, and brings its schema up to date. A missing file
// and its folders are made, for the user's eyes only; a missing database of a
// server is not.
//
// Errors are of kind Invalid for what is no store or comes from a newer program,
// Corrupt for a damaged file, and Unavailable when there is no answer now.
func Open(ctx context.Context, where string, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s, err := connect(ctx, where, cfg)
	if err != nil {
		return nil, err
	}
	s.step = cfg.Step
	if err := s.migrate(ctx, migrations, cfg.Log); err != nil {
		return nil, closeAfter(s.explain(err, "open store %s", s.engine.where()), s)
	}
	return s, nil
}

func connect(ctx context.Context, where string, cfg Config) (*Store, error) {
	scheme, rest, hasScheme := strings.Cut(where, "://")
	switch {
	case where == "":
		return nil, segue.Errorf(segue.Invalid, "open store: neither a path nor a URL")
	case hasScheme && (scheme == "postgres" || scheme == "postgresql"):
		return connectPostgres(where, cfg)
	case hasScheme && scheme == "sqlite":
		return connectSQLite(ctx, rest, cfg, networkDisk)
	case hasScheme:
		return nil, segue.Errorf(segue.Invalid, "open store: %s://: want postgres:// or the path of an SQLite file", scheme)
	}
	return connectSQLite(ctx, where, cfg, networkDisk)
}

// closeAfter closes a store that failed to open, and returns why it did.
func closeAfter(err error, s *Store) error {
	if closing := s.Close(); closing != nil {
		return fmt.Errorf("%w; then: %w", err, closing)
	}
	return err
}

// Close closes the store. Iterators that are not at their end must be left first.
func (s *Store) Close() error {
	err := s.read.Close()
	if s.write != s.read {
		if writing := s.write.Close(); err == nil {
			err = writing
		}
	}
	return s.explain(err, "close store")
}

// Where says for people where the store is: a path, or a server and database,
// without a password.
func (s *Store) Where() string { return s.engine.where() }

// File returns the absolute path of the store's file, "" for a store on a server.
func (s *Store) File() string {
	e, ok := s.engine.(sqliteEngine)
	if !ok {
		return ""
	}
	path, err := filepath.Abs(e.path)
	if err != nil { // there is no working directory
		return e.path
	}
	return path
}

// Ping reports whether the store answers.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer s.wrap(&err, "reach store %s", s.engine.where())
	var one int
	return s.read.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
}
