package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
)

func TestWhatIsNoStoreIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE cookies (name TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file := write("file", []byte("x"))
	for name, c := range map[string]struct {
		where string
		cfg   Config
		want  segue.Kind
		says  string
	}{
		"nothing":                   {"", Config{}, segue.Invalid, "neither a path nor a URL"},
		"another scheme":            {"mysql://host/db", Config{}, segue.Invalid, "mysql://: want postgres://"},
		"a wrong URL":               {"postgres://host:port/db", Config{}, segue.Invalid, "open store"},
		"a text":                    {write("text", bytes.Repeat([]byte("not a database. "), 100)), Config{}, segue.Corrupt, "not a database"},
		"another program's":         {foreign, Config{}, segue.Invalid, "another program"},
		"a folder":                  {dir, Config{}, segue.Invalid, "is a directory"},
		"below a file":              {filepath.Join(file, "segue.db"), Config{}, segue.Invalid, "not a directory"},
		"no server":                 {"postgres://127.0.0.1:1/db", Config{}, segue.Unavailable, "refused"},
		"one connection":            {filepath.Join(dir, "new"), Config{MaxConns: 1}, segue.Invalid, "MaxConns is 1"},
		"no patience":               {filepath.Join(dir, "new"), Config{Patience: -time.Second}, segue.Invalid, "Patience is -1s"},
		"a server without password": {"postgres://ada:secret@127.0.0.1:1/db", Config{}, segue.Unavailable, "postgres://ada@127.0.0.1:1/db"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(t.Context(), c.where, c.cfg)
			wantKind(t, err, c.want)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q in it, no password, and one line", err, c.says)
			}
		})
	}
}

func TestMissingDatabaseOfAServerIsNamed(t *testing.T) {
	t.Parallel()
	if !pgtest.Have(t) {
		return
	}
	if err := shared.Start(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), shared.URL("nowhere"), Config{})
	wantKind(t, err, segue.Invalid)
}

func TestDamagedDatabaseIsToldApart(t *testing.T) {
	t.Parallel()
	path := freshSQLite(t)
	s, err := Open(t.Context(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "c")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, overwritten(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = Open(t.Context(), path, Config{})
	if err == nil {
		_, err = s.Chain(t.Context(), "c")
		if closing := s.Close(); closing != nil {
			t.Error(closing)
		}
	}
	wantKind(t, err, segue.Corrupt)
}

// What a crash of the machine may leave of the WAL is cut off where it is damaged;
// what was before is there, and whole.
func TestTruncatedWALLosesTheLastChangesOnly(t *testing.T) {
	t.Parallel()
	path := freshSQLite(t)
	s := open(t, path)
	create(t, s, "first")
	wal, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	whole := len(wal)
	create(t, s, "second")
	if wal, err = os.ReadFile(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	db, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{whole, whole + 100, (whole + len(wal)) / 2, len(wal) - 1} {
		copied := freshSQLite(t)
		for name, content := range map[string][]byte{copied: db, copied + "-wal": wal[:cut]} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		after := open(t, copied)
		chains, err := after.Chains(t.Context(), ChainQuery{})
		if err != nil || len(chains) == 0 {
			t.Fatalf("cut at %d of %d: %d chains, %v", cut, len(wal), len(chains), err)
		}
		wantSound(t, after)
	}
}

func TestFullDiskIsUnavailableAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, freshSQLite(t))
	create(t, s, "c")
	var pages int
	if err := s.write.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)); err != nil {
		t.Fatal(err)
	}
	big := aChain("big")
	big.Submission.Script = bytes.Repeat([]byte("x"), 1<<20)
	wantKind(t, s.CreateChain(t.Context(), big, aLink("big", 1)), segue.Unavailable)
	if _, err := s.Chain(t.Context(), "c"); err != nil {
		t.Error(err)
	}
	_, err := s.Chain(t.Context(), "big")
	wantKind(t, err, segue.NotFound)
	wantSound(t, s)
	if _, err := s.write.ExecContext(t.Context(), `PRAGMA max_page_count = 1000000`); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateChain(t.Context(), big, aLink("big", 1)); err != nil {
		t.Errorf("after there is room again: %v", err)
	}
}

// In a child that may not write: root may everywhere, so it becomes somebody else.
func TestReadOnlyFileIsUnavailable(t *testing.T) {
	t.Parallel()
	if said := asNobody(t, "read-only", 0o444); !strings.HasPrefix(said, "unavailable: ") {
		t.Errorf("the child says %q, want unavailable", said)
	}
}

func asNobody(t *testing.T, script string, mode os.FileMode) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "segue-readonly-") //nolint:usetesting // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "segue.db")
	s, err := Open(t.Context(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, "c")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{path: mode, dir: 0o755} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "child")
	copyProgram(t, program)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childVariable+"="+script, "WHERE="+path)
	cmd.SysProcAttr = anybodyElse()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestBusyStoreIsUnavailableAfterPatience(t *testing.T) {
	t.Parallel()
	path := freshSQLite(t)
	a := open(t, path)
	b, err := Open(t.Context(), path, Config{Patience: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // nothing was written
	err = a.change(t.Context(), func(tx) error {
		wantKind(t, b.CreateChain(t.Context(), aChain("c"), aLink("c", 1)), segue.Unavailable)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CreateChain(t.Context(), aChain("c"), aLink("c", 1)); err != nil {
		t.Errorf("when the other is done: %v", err)
	}
}

func TestCancelledCallChangesNothing(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			ctx, cancel := context.WithCancel(t.Context())
			s.step = func() error { cancel(); return nil }
			if err := s.CreateChain(ctx, aChain("c"), aLink("c", 1)); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want that of the context", err)
			}
			s.step = nil
			if err := s.CreateChain(t.Context(), aChain("c"), aLink("c", 1)); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestErrorsOfEnginesHaveKinds(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]segue.Kind{
		"08006": segue.Unavailable, "53100": segue.Unavailable, "57P01": segue.Unavailable, "40001": segue.Unavailable, "25006": segue.Unavailable,
		"23505": segue.Conflict, "SG001": segue.Conflict, "23503": segue.NotFound, "23514": segue.Invalid, "28P01": segue.Invalid, "3D000": segue.Invalid,
		"42501": segue.Invalid, "XX001": segue.Corrupt, "42601": segue.Other, "": segue.Other,
	} {
		if got := (postgresEngine{}).kindOf(fmt.Errorf("query: %w", &pgconn.PgError{Code: code})); got != want {
			t.Errorf("PostgreSQL's %s is %s, want %s", code, got, want)
		}
	}
	for code, want := range map[int]segue.Kind{
		5: segue.Unavailable, 13: segue.Unavailable, 10 | 3<<8: segue.Unavailable, 14: segue.Unavailable, 8: segue.Unavailable,
		11: segue.Corrupt, 26: segue.Corrupt, 19 | 8<<8: segue.Conflict, 19 | 3<<8: segue.NotFound, 19 | 1<<8: segue.Invalid, 1: segue.Other,
	} {
		if got := kindOfSQLite(code); got != want {
			t.Errorf("SQLite's %d is %s, want %s", code, got, want)
		}
	}
}

func TestStoreIsForItsUserOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "folder", "a?b#c%d.db") // no part of it means anything in a URL
	create(t, open(t, path), "c")
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has mode %o, want 600", filepath.Base(name), got)
		}
	}
}

func TestVolatileStoreIsAStore(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := fresh(t)
			s, err := Open(t.Context(), where, Config{Volatile: true})
			if err != nil {
				t.Fatal(err)
			}
			var got string
			setting := map[string]string{"sqlite": `SELECT synchronous FROM pragma_synchronous`, "postgres": `SHOW synchronous_commit`}[name]
			if err := s.write.QueryRowContext(t.Context(), setting).Scan(&got); err != nil || (got != "0" && got != "off") {
				t.Errorf("%s says %q, %v; want off", setting, got, err)
			}
			create(t, s, "c")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := open(t, where).Chain(t.Context(), "c"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNetworkDiskIsRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	path := freshSQLite(t)
	nfs := func(string) string { return "NFS" }
	cfg := Config{}.withDefaults()
	_, err := connectSQLite(t.Context(), path, cfg, nfs)
	wantKind(t, err, segue.Invalid)
	if err == nil || !strings.Contains(err.Error(), "is on NFS") {
		t.Errorf("error %v, want it to name NFS", err)
	}
	cfg.NetworkDisk = true
	s, err := connectSQLite(t.Context(), path, cfg, nfs)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the journal is what matters
	var journal string
	if err := s.write.QueryRowContext(t.Context(), `PRAGMA journal_mode`).Scan(&journal); err != nil || journal != "delete" {
		t.Errorf("the journal is %q, %v; want delete: a WAL's index is not shared by machines", journal, err)
	}
}
