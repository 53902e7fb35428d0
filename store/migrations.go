package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/segue-project/segue"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are all steps from an empty database to the schema of this program.
var migrations = readMigrations(migrationFiles, "migrations")

// versionTable holds the steps that were made; goose keeps it.
const versionTable = "segue_schema"

// migration is one step of the schema, in a transaction with the note that it was
// made.
type migration struct {
	version int64
	name    string
	text    string // for both engines: see textFor
}

// readMigrations reads the files of a folder, whose names begin with the version:
// "00001_chains.sql". They are part of the program, so a wrong one panics.
func readMigrations(fsys fs.FS, dir string) []migration {
	names, err := fs.Glob(fsys, dir+"/*.sql")
	if err != nil {
		panic(err)
	}
	var all []migration
	for i, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			panic(err)
		}
		number, _, _ := strings.Cut(path.Base(name), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i+1) {
			panic(fmt.Sprintf("%s: want version %d", name, i+1))
		}
		all = append(all, migration{version, path.Base(name), string(text)})
	}
	return all
}

// textFor returns the text without what stands between "-- only X" and "-- end"
// for another engine X.
func (m migration) textFor(engine string) string {
	var b strings.Builder
	skip := false
	for line := range strings.Lines(m.text) {
		if only, ok := strings.CutPrefix(strings.TrimSpace(line), "-- only "); ok {
			skip = only != engine
		}
		if !skip {
			b.WriteString(line)
		}
		if strings.TrimSpace(line) == "-- end" {
			skip = false
		}
	}
	return b.String()
}

// migrate brings the schema up to date. Of several processes at once one does it
// and the others wait. A step is whole or was not made, so that after a crash the
// next one goes on from there.
func (s *Store) migrate(ctx context.Context, steps []migration, log *slog.Logger) error {
	if err := s.engine.identify(ctx, s); err != nil {
		return err
	}
	want := steps[len(steps)-1].version
	if have, err := s.version(ctx); err == nil && have == want {
		return nil
	}
	return s.engine.alone(ctx, func(options ...goose.ProviderOption) error {
		for _, m := range steps {
			text := m.textFor(s.engine.name())
			options = append(options, goose.WithGoMigrations(goose.NewGoMigration(m.version, &goose.GoFunc{
				RunTx: func(ctx context.Context, tx *sql.Tx) error {
					if s.step != nil {
						if err := s.step(); err != nil {
							return err
						}
					}
					_, err := tx.ExecContext(ctx, text)
					return err
				},
			}, nil)))
		}
		options = append(options, goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
		p, err := goose.NewProvider(s.engine.dialect(), s.write, nil, options...)
		if err != nil {
			return fmt.Errorf("prepare migrations: %w", err)
		}
		have, err := p.GetDBVersion(ctx)
		if err != nil {
			return fmt.Errorf("read schema version: %w", err)
		}
		if have > want {
			return segue.Errorf(segue.Invalid, "its schema has version %d, and this program knows up to %d: "+
				"a newer segue has been here; install that one", have, want)
		}
		return up(ctx, p, have, want, log)
	})
}

func up(ctx context.Context, p *goose.Provider, have, want int64, log *slog.Logger) error {
	results, err := p.Up(ctx)
	if partial, ok := errors.AsType[*goose.PartialError](err); ok {
		return fmt.Errorf("migrate schema from version %d to %d: step %d: %w", have, want, partial.Failed.Source.Version, partial.Err)
	}
	if err != nil {
		return fmt.Errorf("migrate schema from version %d to %d: %w", have, want, err)
	}
	if len(results) > 0 && have > 0 {
		log.Info("store migrated", "from_version", have, "to_version", want)
	}
	return nil
}

// version returns the version of the schema; an error if there is none yet.
func (s *Store) version(ctx context.Context) (v int64, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT max(version_id) FROM `+versionTable+` WHERE is_applied`).Scan(&v)
	return v, err
}
