package store

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
)

func TestMain(m *testing.M) {
	if script := os.Getenv(childVariable); script != "" {
		runChild(script)
		return
	}
	code := m.Run()
	for _, end := range append(atEnd, shared.Stop, durable.Stop) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "clean up:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// atEnd is done after all tests.
var atEnd []func() error

// engines returns what makes a new, empty database of each engine, for Open.
func engines(tb testing.TB) map[string]func(testing.TB) string {
	tb.Helper()
	all := map[string]func(testing.TB) string{"sqlite": freshSQLite}
	if pgtest.Have(tb) {
		all["postgres"] = freshPostgres
	}
	return all
}

func open(tb testing.TB, where string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), where, Config{Patience: 2 * time.Minute, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func freshSQLite(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "segue.db")
}

// freshPostgres returns the URL of a clone of a database in which all migrations
// are made.
func freshPostgres(tb testing.TB) string {
	tb.Helper()
	if err := shared.Start(); err != nil {
		tb.Fatal(err)
	}
	return shared.URL(shared.Clone(tb, "TEMPLATE migrated"))
}

// wantKind fails the test unless err is of the kind.
func wantKind(t *testing.T, err error, want segue.Kind) {
	t.Helper()
	if err == nil || segue.KindOf(err) != want {
		t.Errorf("error %v (%s), want one of kind %s", err, segue.KindOf(err), want)
	}
}

// shared is the server of all tests but those that stop it.
var shared = pgtest.Server{Prepare: migrated}

// migrated makes the template of all databases.
func migrated(p *pgtest.Server) error {
	ctx := context.Background()
	if _, err := p.Admin().ExecContext(ctx, `CREATE DATABASE migrated`); err != nil {
		return err
	}
	s, err := Open(ctx, p.URL("migrated"), Config{})
	if err != nil {
		return err
	}
	return s.Close()
}
