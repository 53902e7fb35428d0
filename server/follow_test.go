package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/provisioner"
)

// Whoever promotes a model or rolls back, here another process, the server follows
// and says so. A model that cannot be read leaves the one before it.
func TestPromotionsOfOthersAreFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := &clock{at: t0}
	others := models.NewRegistry(dir, clock.now)
	for _, id := range []string{"m1", "m2", "m3"} {
		if err := others.Write(toymodel.Manifest(id), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
			t.Fatal(err)
		}
	}
	srv, err := New(openStore(t), Config{
		Now: clock.now, Holder: "one", User: "segue", Registry: dir, Log: slog.New(slog.DiscardHandler),
		Champion: func() (*provisioner.Trained, error) {
			id, err := others.Champion()
			if err != nil {
				return nil, err
			}
			return OpenModel(filepath.Join(dir, id))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	promote := func(id string) func() error { return func() error { return others.Promote(id, "it is better") } }
	for _, step := range []struct {
		name   string
		do     func() error
		want   api.Check
		metric string
	}{
		{"at first", func() error { return nil }, api.Check{Name: "model", OK: true, State: "a planner decides"}, ""},
		{"after a promotion", promote("m1"), api.Check{Name: "model", OK: true, State: "m1 decides"}, "m1"},
		{"after another", promote("m2"), api.Check{Name: "model", OK: true, State: "m2 decides"}, "m2"},
		{"rolled back", func() error { _, err := others.RollbackFrom("", "it was worse"); return err }, api.Check{Name: "model", OK: true, State: "m1 decides"}, "m1"},
		{"after the promotion of one that is damaged then", func() error {
			if err := others.Promote("m3", "it is better"); err != nil {
				return err
			}
			return os.RemoveAll(filepath.Join(dir, "m3"))
		}, api.Check{Name: "model", State: "m1 decides, since m3 cannot be read"}, "m1"},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		srv.followOnce()
		clock.advance(healthFresh)
		checks := srv.health.Checks(t.Context())
		if diff := cmp.Diff(step.want, checks[len(checks)-1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		text := metricsOf(t, srv)
		if want := `segue_model_info{model="` + step.metric + `"} 1`; !strings.Contains(text, want) {
			t.Errorf("%s: the metrics lack %s", step.name, want)
		}
	}
	if known := srv.advisor.model.Load(); known == nil || known.ID != "m1" {
		t.Errorf("%v is asked, want m1", known)
	}
}

// One whose configuration names a model follows nobody.
func TestAServerWithAModelOfItsOwnFollowsNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	clock := &clock{at: t0}
	others := models.NewRegistry(dir, clock.now)
	if err := others.Write(toymodel.Manifest("m1"), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
		t.Fatal(err)
	}
	srv, err := New(openStore(t), Config{Now: clock.now, Holder: "one", User: "segue", Registry: dir, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := others.Promote("m1", "it is better"); err != nil {
		t.Fatal(err)
	}
	srv.followOnce()
	if got := srv.models.decides(); got != "" {
		t.Errorf("%s decides, want a planner", got)
	}
}

// metricsOf returns what a server tells Prometheus.
func metricsOf(t *testing.T, srv *Server) string {
	t.Helper()
	ctx := api.WithCaller(t.Context(), api.Caller{User: "olga", Scopes: []api.Scope{api.ScopeRead}})
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", http.NoBody))
	return w.Body.String()
}
