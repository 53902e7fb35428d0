package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/segue-project/segue"
)

// postgresEngine is a store in a database of a PostgreSQL server.
type postgresEngine struct{ server string }

func connectPostgres(where string, cfg Config) (*Store, error) {
	parsed, err := pgx.ParseConfig(where)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "open store: %w", err) // without the password: pgx sees to it
	}
	if parsed.ConnectTimeout == 0 {
		parsed.ConnectTimeout = cfg.Patience
	}
	if parsed.RuntimeParams["application_name"] == "" {
		parsed.RuntimeParams["application_name"] = "segue"
	}
	parsed.DialFunc = dialer().DialContext
	if cfg.Volatile {
		parsed.RuntimeParams["synchronous_commit"] = "off"
	}
	db := stdlib.OpenDB(*parsed)
	db.SetMaxOpenConns(cfg.MaxConns)
	db.SetMaxIdleConns(cfg.MaxConns)
	e := postgresEngine{fmt.Sprintf("postgres://%s@%s:%d/%s", parsed.User, parsed.Host, parsed.Port, parsed.Database)}
	return &Store{engine: e, read: db, write: db, refusals: new(refusals)}, nil
}

func (e postgresEngine) where() string        { return e.server }
func (postgresEngine) name() string           { return "postgres" }
func (postgresEngine) dialect() goose.Dialect { return goose.DialectPostgres }
func (postgresEngine) forUpdate() string      { return " FOR UPDATE" }
func (postgresEngine) forShare() string       { return " FOR SHARE" }
func (postgresEngine) batch() int             { return 50_000 }

// turn locks the hash of a name: of two names with one hash each waits for nothing but
// a little longer. A statement after it sees what those before have committed.
func (postgresEngine) turn() string {
	return fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d, hashtext($1))`, applicationID)
}

func (postgresEngine) analyze() string { return `ANALYZE jobs` }
func (postgresEngine) size() string    { return `SELECT pg_database_size(current_database())` }

// compact is what autovacuum does by itself.
func (postgresEngine) compact(context.Context, *Store) error { return nil }

// identify is for migrations to find out: a database has room for the tables of
// others.
func (postgresEngine) identify(ctx context.Context, s *Store) error { return s.Ping(ctx) }

// alone takes a lock of the session, which ends with the connection.
func (postgresEngine) alone(_ context.Context, do func(...goose.ProviderOption) error) error {
	const everySecond, times = 1, 60
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(applicationID), lock.WithLockTimeout(everySecond, times))
	if err != nil {
		return err
	}
	return do(goose.WithSessionLocker(locker))
}

func (postgresEngine) kindOf(err error) segue.Kind {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return kindOfPostgres(e.Code)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return segue.Unavailable
	}
	return kindOfTransport(err)
}

func (postgresEngine) refuses(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	// disk_full, read_only_sql_transaction, io_error
	return ok && (e.Code == "53100" || e.Code == "25006" || e.Code == "58030")
}

func (postgresEngine) busy(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && strings.HasPrefix(e.Code, "55") // object_not_in_prerequisite_state, such as lock_not_available
}

// kindOfPostgres tells the kind by the SQLSTATE, whose first two digits are its
// class (PostgreSQL's manual, appendix A).
func kindOfPostgres(code string) segue.Kind {
	switch code {
	case "23505", "SG001": // unique_violation; refuse_state of the first migration
		return segue.Conflict
	case "23503": // foreign_key_violation
		return segue.NotFound
	case "25006": // read_only_sql_transaction: a standby after a fail-over
		return segue.Unavailable
	case "42501", "42P01", "42P07": // insufficient_privilege, undefined_table, duplicate_table
		return segue.Invalid
	}
	switch code[:min(len(code), 2)] {
	case "08", "40", "53", "55", "57", "58": // connection, rollback, resources, in use, operator, system
		return segue.Unavailable
	case "22", "23", "28", "3D", "3F": // data, constraints, authorization, database, schema
		return segue.Invalid
	case "XX": // internal error, data corrupted
		return segue.Corrupt
	}
	return segue.Other
}

// importJobs copies the jobs by COPY. Those after the latest one that is known (up
// to the last of them) can only be new and go straight into the table, which is
// several times as fast as a look at each. Whoever else writes jobs of the cluster
// waits at its row: taking turns at each job they would meet in a deadlock.
func (e postgresEngine) importJobs(ctx context.Context, s *Store, rows [][]any) (changed int64, err error) {
	err = e.load(ctx, s, func(l loader) error {
		p := l.(postgresLoader)
		if _, err := p.tx.Exec(ctx, `SELECT id FROM clusters WHERE id = $1`+e.forUpdate(), rows[0][0]); err != nil {
			return err
		}
		changed, err = p.importNew(rows)
		return err
	})
	return changed, err
}

// byJobs are the indexes of jobs besides its key, by which nothing is decided
// during an import.
var byJobs = []string{"jobs_by_start", "jobs_by_shape", "jobs_by_user"}

// fillJobs imports without those indexes and makes them at the end, all in one
// transaction: making them takes a fourth of the time of keeping them.
func (e postgresEngine) fillJobs(ctx context.Context, s *Store, all func(func([][]any) (int64, error)) error) (empty bool, err error) {
	var full bool
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM jobs)`).Scan(&full); err != nil || full {
		return false, err
	}
	err = e.load(ctx, s, func(l loader) error {
		p := l.(postgresLoader)
		// Nothing may look at jobs in this transaction before: of two that hold the
		// lock of a reader, none gets this one.
		if _, err := p.tx.Exec(ctx, `LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE`); err != nil {
			return err
		}
		if full, err := p.anyRow("jobs"); err != nil || full { // somebody was faster
			return err
		}
		empty = true
		indexes, err := p.withoutIndexes()
		if err != nil {
			return err
		}
		if err := all(p.importNew); err != nil {
			return err
		}
		for _, index := range indexes {
			if _, err := p.tx.Exec(ctx, index); err != nil {
				return err
			}
		}
		return nil
	})
	return empty, err
}

// withoutIndexes drops the indexes of byJobs and returns the statements that make
// them again.
func (l postgresLoader) withoutIndexes() (remake []string, err error) {
	for _, index := range byJobs {
		var definition string
		if err := l.tx.QueryRow(l.ctx, `SELECT pg_get_indexdef($1::regclass)`, index).Scan(&definition); err != nil {
			return nil, err
		}
		if _, err := l.tx.Exec(l.ctx, `DROP INDEX `+index); err != nil {
			return nil, err
		}
		remake = append(remake, definition)
	}
	return remake, nil
}

func (l postgresLoader) importNew(rows [][]any) (changed int64, err error) {
	first := rows[0]
	last := first[jobSubmit].(int64)
	for _, row := range rows {
		last = max(last, row[jobSubmit].(int64))
	}
	known := int64(math.MinInt64)
	err = l.tx.QueryRow(l.ctx, `SELECT COALESCE(max(submit), $3) FROM jobs WHERE cluster = $1 AND submit <= $2`, first[0], last, known).Scan(&known)
	if err != nil {
		return 0, err
	}
	var perhaps, added [][]any
	for _, row := range rows {
		if row[jobSubmit].(int64) <= known {
			perhaps = append(perhaps, row)
		} else {
			added = append(added, row)
		}
	}
	if changed, err = l.mergeJobs(perhaps); err != nil {
		return 0, err
	}
	n, err := l.tx.CopyFrom(l.ctx, pgx.Identifier{"jobs"}, strings.Split(jobColumns, ", "), pgx.CopyFromRows(added))
	return changed + n, err
}

// mergeJobs copies the jobs into a temporary table, and from there into jobs.
func (l postgresLoader) mergeJobs(rows [][]any) (changed int64, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	if _, err := l.tx.Exec(l.ctx, `CREATE TEMPORARY TABLE IF NOT EXISTS incoming_jobs (LIKE jobs) ON COMMIT DROP; TRUNCATE incoming_jobs`); err != nil {
		return 0, err
	}
	_, err = l.tx.CopyFrom(l.ctx, pgx.Identifier{"incoming_jobs"}, strings.Split(jobColumns, ", "), pgx.CopyFromRows(rows))
	if err != nil {
		return 0, err
	}
	tag, err := l.tx.Exec(l.ctx, `INSERT INTO jobs (`+jobColumns+`) SELECT `+jobColumns+` FROM incoming_jobs`+jobConflict)
	return tag.RowsAffected(), err
}

// load works below database/sql, which knows no COPY.
func (postgresEngine) load(ctx context.Context, s *Store, do func(loader) error) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool, or is gone
	err = conn.Raw(func(driver any) error {
		return pgx.BeginFunc(ctx, driver.(*stdlib.Conn).Conn(), func(t pgx.Tx) error {
			if s.step != nil {
				if err := s.step(); err != nil {
					return err
				}
			}
			if s.lease != nil {
				var held bool
				if err := t.QueryRow(ctx, leaseHeld+` FOR SHARE`, s.lease.Name, s.lease.Holder, s.lease.Fence).Scan(&held); errors.Is(err, pgx.ErrNoRows) {
					return s.lease.lost()
				} else if err != nil {
					return err
				}
			}
			return do(postgresLoader{ctx, t})
		})
	})
	if err == nil {
		s.refusals.note(nil)
	}
	return err
}

type postgresLoader struct {
	ctx context.Context // a loader lives as long as one call
	tx  pgx.Tx
}

func (l postgresLoader) rows(table string, columns []string, rows iter.Seq2[[]any, error]) (int64, error) {
	next, stop := iter.Pull2(rows)
	defer stop()
	return l.tx.CopyFrom(l.ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, err, ok := next()
		if !ok {
			return nil, nil
		}
		return row, err
	}))
}

func (l postgresLoader) anyRow(table string) (found bool, err error) {
	err = l.tx.QueryRow(l.ctx, `SELECT EXISTS (SELECT 1 FROM `+table+`)`).Scan(&found)
	return found, err
}
