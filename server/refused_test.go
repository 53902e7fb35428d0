package server

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/store"
)

// A server that leads nothing, so that nobody changes its store, which answers and takes
// no changes: as on a full disk, here since it is read-only.
func TestAServerWhoseStoreTakesNoChangesIsNotReady(t *testing.T) {
	t.Parallel()
	if !pgtest.Have(t) {
		return
	}
	if err := postgres.Start(); err != nil {
		t.Fatal(err)
	}
	name := postgres.Clone(t, "")
	s, err := store.Open(t.Context(), postgres.URL(name), store.Config{MaxConns: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some of its connections were ended
	clock := &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "two", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := CreateToken(t.Context(), s, Grant{User: "ada", Scopes: []api.Scope{api.ScopeRead}}, "ada", t0)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(when, path string, want int, says string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r)
		if w.Code != want || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s, %s answers %d, want %d with %s: %s", when, path, w.Code, want, says, strings.TrimSpace(w.Body.String()))
		}
	}
	readOnly := func(value string) {
		t.Helper()
		for _, statement := range []string{
			`ALTER DATABASE "` + name + `" SET default_transaction_read_only = ` + value,
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '` + name + `'`,
		} {
			if _, err := postgres.Admin().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		clock.advance(time.Minute)
		for range 3 { // each connection finds out for itself that it was ended
			srv.health.tryStore(t.Context())
		}
	}
	ask("at first", "/readyz", 200, "answers")
	readOnly("on")
	ask("while it is read-only", "/readyz", 503, "takes no changes")
	ask("while it is read-only", "/metrics", 200, "\nsegue_store_up 0\n")
	ask("while it is read-only", "/v1/chains", 200, "chains")
	readOnly("off")
	ask("afterwards", "/readyz", 200, "answers")
	ask("afterwards", "/metrics", 200, "\nsegue_store_up 1\n")
}
