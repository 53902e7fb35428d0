package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/segue-project/segue"
)

// applicationID marks an SQLite file as a store: "SEGW", set by the first
// migration.
const applicationID = 1397049175

// sqliteEngine is a store in a file. One connection writes, others read: in WAL
// mode neither waits for the other.
type sqliteEngine struct {
	path     string
	patience time.Duration
	volatile bool
	fresh    bool // the file was empty when it was opened
	// lockFile is what processes lock while they set the file up; the folder by
	// default.
	lockFile string
}

// connectSQLite opens a file. onNetwork tells which network file system holds a
// folder: networkDisk.
func connectSQLite(ctx context.Context, path string, cfg Config, onNetwork func(dir string) string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "open store: %w", err)
	}
	e := sqliteEngine{path: path, patience: cfg.Patience, volatile: cfg.Volatile}
	s := &Store{engine: e, refusals: new(refusals)}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, s.explain(err, "open store %s", path)
	}
	journal := "WAL"
	if system := onNetwork(filepath.Dir(path)); system != "" && !cfg.NetworkDisk {
		return nil, segue.Errorf(segue.Invalid, "open store: %s is on %s, where machines may damage an SQLite file for each other: "+
			"choose a local disk or PostgreSQL, or allow it where one machine at a time is sure to use the file", path, system)
	} else if system != "" {
		journal, e.lockFile = "DELETE", path+".lock" // NFS locks no folders
		s.engine = e
	}
	if e.fresh, err = prepareFile(path); err != nil {
		return nil, s.explain(err, "open store %s", path)
	}
	s.engine = e
	// Before the first use of a new file nobody else may switch it to WAL too:
	// SQLite refuses the second at once, without patience.
	err = e.locked(ctx, func() error {
		s.write, err = e.open(journal)
		if err != nil {
			return err
		}
		s.write.SetMaxOpenConns(1)
		return keepPlace(ctx, s.write)
	})
	if err == nil {
		s.read, err = e.open(journal)
	}
	if err != nil && s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	if err != nil {
		return nil, s.explain(err, "open store %s", path)
	}
	s.read.SetMaxOpenConns(cfg.MaxConns - 1)
	s.read.SetMaxIdleConns(2)
	return s, nil
}

// prepareFile makes the file, if need be, so that only its user can read it: it
// holds environments. fresh says that nothing is in it yet.
func prepareFile(path string) (fresh bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	info, err := f.Stat()
	return err == nil && info.Size() == 0, errors.Join(err, f.Close())
}

// keepPlace makes the first connection, which closes last, and lets it leave the WAL,
// empty, and its index: on a disk that is full there would be no place for them when
// the file is opened again.
func keepPlace(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	return conn.Raw(func(driver any) error {
		_, err := driver.(sqlite.FileControl).FileControlPersistWAL("main", 1)
		return err
	})
}

// open returns a pool of connections. Changes take the write lock when they
// begin, and wait for it; a commit is on the disk when it returns, unless the store
// is volatile.
func (e sqliteEngine) open(journal string) (*sql.DB, error) {
	settings := url.Values{
		"_txlock":       {"immediate"},
		"_busy_timeout": {strconv.FormatInt(e.patience.Milliseconds(), 10)},
		"_journal_mode": {journal},
		"_pragma":       {"journal_size_limit(67108864)"}, // without one, a WAL that is left is not emptied
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
	}
	if e.fresh { // for others see compact; it writes, for which a full disk has no place
		settings.Set("_auto_vacuum", "INCREMENTAL")
	}
	if e.volatile {
		settings.Set("_synchronous", "OFF")
	}
	file := url.URL{Scheme: "file", Path: e.path, RawQuery: settings.Encode()}
	return sql.Open("sqlite", file.String())
}

func (e sqliteEngine) where() string        { return e.path }
func (sqliteEngine) name() string           { return "sqlite" }
func (sqliteEngine) dialect() goose.Dialect { return goose.DialectSQLite3 }
func (sqliteEngine) forUpdate() string      { return "" } // a change has the only write lock
func (sqliteEngine) forShare() string       { return "" }
func (sqliteEngine) turn() string           { return "" }
func (sqliteEngine) batch() int             { return 25_000 }

// analyze is nothing: the statistics came with the second migration.
func (sqliteEngine) analyze() string { return "" }

// identify refuses the databases of other programs, and damaged ones.
func (sqliteEngine) identify(ctx context.Context, s *Store) error {
	var id, tables int
	if err := s.read.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id); err != nil {
		return err
	}
	if id == applicationID {
		return nil
	}
	err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name <> $1 AND name NOT LIKE 'sqlite_%'`, versionTable).Scan(&tables)
	if err == nil && (id != 0 || tables > 0) {
		err = segue.Errorf(segue.Invalid, "it is the SQLite database of another program")
	}
	return err
}

func (e sqliteEngine) alone(ctx context.Context, do func(...goose.ProviderOption) error) error {
	return e.locked(ctx, func() error { return do() })
}

// locked runs do under an advisory lock on the folder of the file, which leaves
// nothing behind and ends with the process.
func (e sqliteEngine) locked(ctx context.Context, do func() error) error {
	name, flag := filepath.Dir(e.path), os.O_RDONLY
	if e.lockFile != "" {
		name, flag = e.lockFile, os.O_RDWR|os.O_CREATE
	}
	lock, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, cancel := context.WithTimeout(ctx, e.patience)
	defer cancel()
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return do()
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return segue.Errorf(segue.Unavailable, "another process has locked %s: %w", name, ctx.Err())
		case <-retry.C:
		}
	}
}

func (sqliteEngine) kindOf(err error) segue.Kind {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return kindOfSQLite(e.Code())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) {
		return segue.Unavailable
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return segue.Invalid
	}
	return kindOfTransport(err)
}

func (sqliteEngine) refuses(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR:
		return true
	}
	return false
}

func (sqliteEngine) busy(err error) bool {
	code := primaryCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// primaryCode returns the code of an error of SQLite without its details, 0 for others.
func primaryCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xFF
	}
	return 0
}

func kindOfSQLite(code int) segue.Kind {
	switch code {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_TRIGGER:
		return segue.Conflict
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return segue.NotFound
	}
	switch code & 0xFF { // the primary code
	case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
		return segue.Invalid
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return segue.Corrupt
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL:
		return segue.Unavailable
	}
	return segue.Other
}

func (e sqliteEngine) importJobs(ctx context.Context, s *Store, rows [][]any) (changed int64, err error) {
	err = s.change(ctx, func(t tx) error {
		insert, err := t.PrepareContext(t.ctx, `INSERT INTO jobs (`+jobColumns+`) VALUES (`+placeholders(jobWidth)+`)`+jobConflict)
		if err != nil {
			return err
		}
		defer insert.Close() //nolint:errcheck // the transaction's end says it
		for _, row := range rows {
			result, err := insert.ExecContext(t.ctx, row...)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if err != nil {
				return err
			}
			changed += n
		}
		return nil
	})
	if err == nil && len(rows) == e.batch() {
		err = othersTurn(ctx)
	}
	return changed, err
}

// fillJobs is for an engine that has a quicker way.
func (sqliteEngine) fillJobs(context.Context, *Store, func(func([][]any) (int64, error)) error) (bool, error) {
	return false, nil
}

// othersTurn lets other processes write between two batches: SQLite's waiters look
// for the lock every 100 ms and would hardly ever meet the gap.
func othersTurn(ctx context.Context) error {
	gap := time.NewTimer(110 * time.Millisecond)
	defer gap.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-gap.C:
		return nil
	}
}

func (sqliteEngine) load(ctx context.Context, s *Store, do func(loader) error) error {
	return s.change(ctx, func(t tx) error { return do(sqliteLoader{t}) })
}

type sqliteLoader struct{ t tx }

func (l sqliteLoader) rows(table string, columns []string, rows iter.Seq2[[]any, error]) (n int64, err error) {
	insert, err := l.t.PrepareContext(l.t.ctx, `INSERT INTO `+table+` (`+strings.Join(columns, ", ")+`) VALUES (`+placeholders(len(columns))+`)`)
	if err != nil {
		return 0, err
	}
	defer insert.Close() //nolint:errcheck // the transaction's end says it
	for row, err := range rows {
		if err != nil {
			return n, err
		}
		if _, err := insert.ExecContext(l.t.ctx, row...); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (l sqliteLoader) anyRow(table string) (found bool, err error) {
	_, err = l.t.row([]any{&found}, `SELECT EXISTS (SELECT 1 FROM `+table+`)`)
	return found, err
}
