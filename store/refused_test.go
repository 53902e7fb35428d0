package store

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/segue-project/segue"
)

// A store that answers, and whose disk is full: what is small has a place for a while,
// so a small change that is taken is no news.
func TestAStoreSaysThatItsDiskIsFullUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	s := open(t, freshSQLite(t))
	if err := s.TryChange(t.Context()); err != nil || s.Refused() != nil {
		t.Fatalf("at first %v, %v; want no error", err, s.Refused())
	}
	var pages int
	if err := s.write.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.ExecContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+2)); err != nil {
		t.Fatal(err)
	}
	if err := s.TryChange(t.Context()); err != nil {
		t.Errorf("a small change where there is room for it: %v", err)
	}
	big := aChain("big")
	big.Submission.Script = bytes.Repeat([]byte("x"), 1<<20)
	under := s.Under(Lease{})
	under.lease = nil // whose refusals are the store's
	wantKind(t, under.CreateChain(t.Context(), big, aLink("big", 1)), segue.Unavailable)
	wantKind(t, s.TryChange(t.Context()), segue.Unavailable)
	if err := s.Ping(t.Context()); err != nil || s.Refused() == nil {
		t.Errorf("it answers (%v) and says %v; want that it answers and takes no change", err, s.Refused())
	}
	if _, err := s.write.ExecContext(t.Context(), `PRAGMA max_page_count = 1000000`); err != nil {
		t.Fatal(err)
	}
	if err := s.TryChange(t.Context()); err != nil || s.Refused() != nil {
		t.Errorf("with room again %v, %v; want no error", err, s.Refused())
	}
}

// A standby that answers after a fail-over, and takes no change.
func TestAReadOnlyDatabaseIsSaidToTakeNoChange(t *testing.T) {
	t.Parallel()
	where, ok := engines(t)["postgres"]
	if !ok {
		return
	}
	url := where(t)
	s := open(t, url)
	setting := func(value string) *Store {
		if _, err := s.write.ExecContext(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = `+value+`', current_database()); END $$`); err != nil {
			t.Fatal(err)
		}
		return open(t, url)
	}
	standby := setting("on")
	wantKind(t, standby.TryChange(t.Context()), segue.Unavailable)
	if standby.Refused() == nil || standby.Ping(t.Context()) != nil {
		t.Errorf("it says %v, want that it answers and takes no change", standby.Refused())
	}
	if s.Refused() != nil {
		t.Errorf("another connection says %v, want no error", s.Refused())
	}
	if err := s.TryChange(t.Context()); err != nil {
		t.Errorf("the other one takes changes: %v", err)
	}
}

// Who waits for its turn knows nothing, and says nothing.
func TestAStoreThatIsBusyIsNotSaidToBeFull(t *testing.T) {
	t.Parallel()
	path := freshSQLite(t)
	a := open(t, path)
	b, err := Open(t.Context(), path, Config{Patience: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close() //nolint:errcheck // nothing was written
	err = a.change(t.Context(), func(tx) error {
		if err := b.TryChange(t.Context()); err != nil || b.Refused() != nil {
			t.Errorf("another one writes: %v, %v; want no error", err, b.Refused())
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.TryChange(ended); err != nil || a.Refused() != nil {
			t.Errorf("its time is over: %v, %v; want no error", err, a.Refused())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnEngineSaysOfARefusalIsKnown(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][2]bool{"53100": {true, false}, "25006": {true, false}, "58030": {true, false}, "55P03": {false, true}, "23505": {}, "08006": {}} {
		err := fmt.Errorf("query: %w", &pgconn.PgError{Code: code})
		if got := [2]bool{postgresEngine{}.refuses(err), postgresEngine{}.busy(err)}; got != want {
			t.Errorf("PostgreSQL's %s: refused, busy %v, want %v", code, got, want)
		}
	}
	if (sqliteEngine{}).refuses(context.Canceled) || (sqliteEngine{}).busy(nil) {
		t.Error("what SQLite never said counts as its word")
	}
}
