package store

import (
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/segue-project/segue"
)

// tables are what a backup holds, in an order in which they can be filled. Leases
// are not among them: nobody holds one in a copy. Answers that a server keeps for a
// day are not either.
var tables = []string{
	"chains", "submissions", "links", "decisions", "outcomes",
	"clusters", "jobs", "snapshots", "sightings", "trainings", "tokens", "audit",
}

// Backup writes a copy of the store, as it is at one instant, to a new file: an
// SQLite database, compressed by gzip, whichever engine it comes from. Others go
// on reading and writing meanwhile. The copy is checked before the file appears
// under its name. Conflict says that there is a file of that name.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	defer s.wrap(&err, "back up store to %s", path)
	if path, err = filepath.Abs(path); err != nil { // an SQLite URL has no relative path
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return segue.Errorf(segue.Conflict, "the file exists")
	}
	work, err := os.MkdirTemp(filepath.Dir(path), ".segue-backup-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // an empty folder is left at worst
	plain := filepath.Join(work, "store.db")
	if err := s.copyTo(ctx, plain); err != nil {
		return err
	}
	if err := checkFile(ctx, plain); err != nil {
		return err
	}
	packed := filepath.Join(work, "store.db.gz")
	if err := pack(plain, packed); err != nil {
		return err
	}
	return os.Link(packed, path) // unlike Rename, never over another file
}

// copyTo writes the store into a new SQLite file.
func (s *Store) copyTo(ctx context.Context, file string) error {
	if s.engine.name() == "sqlite" {
		_, err := s.read.ExecContext(ctx, `VACUUM INTO $1`, file)
		return err
	}
	to, err := Open(ctx, file, Config{NetworkDisk: true})
	if err != nil {
		return err
	}
	from, err := s.read.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return closeAfter(err, to)
	}
	defer from.Rollback() //nolint:errcheck // it only read
	if err := to.fill(ctx, from); err != nil {
		return closeAfter(err, to)
	}
	return to.Close()
}

// Restore fills the store, which must be empty, with a backup of either engine. It
// is all there afterwards, or nothing is. Corrupt says that the backup is damaged.
func (s *Store) Restore(ctx context.Context, path string) (err error) {
	defer s.wrap(&err, "restore store from %s", path)
	work, err := os.MkdirTemp("", "segue-restore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // the system empties the folder at worst
	plain := filepath.Join(work, "store.db")
	if err := unpack(path, plain); err != nil {
		return err
	}
	if err := checkFile(ctx, plain); err != nil {
		return err
	}
	from, err := Open(ctx, plain, Config{NetworkDisk: true}) // an older backup is brought up to date
	if err != nil {
		return err
	}
	if err := s.fill(ctx, from.read); err != nil {
		return closeAfter(err, from)
	}
	return from.Close()
}

// fill copies all tables into s, which must be empty.
func (s *Store) fill(ctx context.Context, from querier) error {
	return s.engine.load(ctx, s, func(l loader) error {
		for _, table := range tables {
			full, err := l.anyRow(table)
			if err != nil {
				return err
			}
			if full {
				return segue.Errorf(segue.Conflict, "%s is not empty: there is something in %s", s.Where(), table)
			}
			columns, err := columnsOf(ctx, from, table)
			if err != nil {
				return err
			}
			if _, err := l.rows(table, columns, rowsOf(ctx, from, table, columns)); err != nil {
				return fmt.Errorf("copy %s: %w", table, err)
			}
		}
		return nil
	})
}

func columnsOf(ctx context.Context, from querier, table string) ([]string, error) {
	rows, err := from.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	return columns, rows.Err()
}

// rowsOf returns the rows of a table. A row is good until the next one.
func rowsOf(ctx context.Context, from querier, table string, columns []string) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := from.QueryContext(ctx, `SELECT `+strings.Join(columns, ", ")+` FROM `+table)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close() //nolint:errcheck // rows.Err says it
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				yield(nil, err)
				return
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// checkFile lets SQLite look at every page, index and reference of a file.
func checkFile(ctx context.Context, file string) error {
	db, err := sqliteEngine{path: file}.open("DELETE")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it only read
	for _, check := range []struct{ pragma, want string }{{"integrity_check", "ok"}, {"foreign_key_check", ""}} {
		var verdict, more any
		var says string
		row := db.QueryRowContext(ctx, `SELECT * FROM pragma_`+check.pragma)
		if check.pragma == "foreign_key_check" {
			err = row.Scan(&says, &verdict, &more, &verdict)
		} else {
			err = row.Scan(&says)
		}
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		if err != nil {
			return sqliteEngine{}.explainCheck(err)
		}
		if says != check.want {
			return segue.Errorf(segue.Corrupt, "%s of the copy: %s", check.pragma, says)
		}
	}
	return nil
}

// explainCheck gives the error of a check of a file the kind that SQLite means,
// whatever engine the store has.
func (e sqliteEngine) explainCheck(err error) error {
	return segue.Errorf(e.kindOf(err), "check the copy: %w", err)
}

func pack(plain, packed string) (err error) {
	in, err := os.Open(plain)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(packed, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(z, in); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Sync()
}

func unpack(packed, plain string) (err error) {
	in, err := os.Open(packed)
	if errors.Is(err, fs.ErrNotExist) {
		return segue.Errorf(segue.NotFound, "%w", err)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return segue.Errorf(segue.Corrupt, "it is no backup: %w", err)
	}
	out, err := os.OpenFile(plain, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, z); err != nil {
		if _, disk := errors.AsType[*fs.PathError](err); disk {
			return err
		}
		return segue.Errorf(segue.Corrupt, "the backup is damaged: %w", err)
	}
	return nil
}
