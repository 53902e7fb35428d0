package server

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/store"
)

// While its database is gone a server says so, and goes on when it is back.
func TestAServerOutlivesItsDatabase(t *testing.T) {
	t.Parallel()
	if !pgtest.Have(t) {
		return
	}
	database := pgtest.Server{Keep: true}
	if err := errors.Join(database.Init(), database.Run()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(database.Stop(), os.RemoveAll(database.Dir())); err != nil {
			t.Error(err)
		}
	})
	if _, err := database.Admin().ExecContext(t.Context(), `CREATE DATABASE segue`); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), database.URL("segue"), store.Config{Patience: time.Second, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // its connections may be broken
	clock := &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := CreateToken(t.Context(), s, Grant{User: "ada", Scopes: []api.Scope{api.ScopeRead}}, "ada", t0)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(when, path string, want int) {
		t.Helper()
		clock.advance(time.Minute)
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s, %s answers %d, want %d: %s", when, path, w.Code, want, strings.TrimSpace(w.Body.String()))
		}
	}
	ask("at first", "/readyz", 200)
	ask("at first", "/v1/chains", 200)
	if err := database.Stop(); err != nil {
		t.Fatal(err)
	}
	ask("without a database", "/healthz", 200)
	ask("without a database", "/readyz", 503)
	ask("without a database", "/v1/chains", 503)
	if err := database.Run(); err != nil {
		t.Fatal(err)
	}
	ask("when it is back", "/readyz", 200)
	ask("when it is back", "/v1/chains", 200)
}
