package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/store"
)

// shelf is a folder of models of the given names; one that is called strange is whole,
// and nothing that this program can ask.
func shelf(t *testing.T, ids ...string) (*models.Registry, string) {
	t.Helper()
	dir := t.TempDir()
	r := models.NewRegistry(dir, realNow)
	for _, id := range ids {
		files := toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))
		if id == "strange" {
			files[models.IndexFile] = []byte(`{"of another":"program"}`)
		}
		if err := r.Write(toymodel.Manifest(id), files); err != nil {
			t.Fatal(err)
		}
	}
	return r, dir
}

// followed makes a server follow the promotions of a folder.
func followed(r *models.Registry, dir string) Config {
	return Config{Now: realNow, Registry: dir, Champion: func() (*provisioner.Trained, error) {
		id, err := r.Champion()
		if segue.KindOf(err) == segue.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return OpenModel(filepath.Join(dir, id))
	}}
}

// Promoted over REST, a model decides, and the one before it after a rollback: the advice
// says so. What is noted is noted once.
func TestAPromotionOverRESTChangesWhoDecides(t *testing.T) {
	t.Parallel()
	r, dir := shelf(t, "m1", "m2")
	cfg := followed(r, dir)
	cfg.Advice = AdviceConfig{Replicas: 3}
	srv, url := site(t, cfg)
	c := clientOf(t, srv, url, "olga", api.ScopeOperator)
	ctx := t.Context()
	if _, err := c.ImportHistory(ctx, "ls6", client.HistoryFile{Content: strings.NewReader(swf(200))}); err != nil {
		t.Fatal(err)
	}
	promote := func(id, reason, key string) func() (api.Promotion, error) {
		return func() (api.Promotion, error) { return c.PromoteModel(ctx, id, reason, key) }
	}
	rollBack := func(expected, key string) func() (api.Promotion, error) {
		return func() (api.Promotion, error) { return c.RollBackModel(ctx, expected, "it costs more", key) }
	}
	nothing := func() (api.Promotion, error) { return api.Promotion{}, nil }
	for _, step := range []struct {
		name     string
		do       func() (api.Promotion, error)
		want     string // who decides then, empty for a planner
		wantKind segue.Kind
	}{
		{"at first", nothing, "", segue.Other},
		{"a rollback from none", rollBack("m1", ""), "", segue.NotFound},
		{"the first", promote("m1", "the first", "k1"), "m1", segue.Other},
		{"the first again, under its key", promote("m1", "the first", "k1"), "m1", segue.Other},
		{"the first again", promote("m1", "the first", ""), "m1", segue.Conflict},
		{"a rollback to none", rollBack("m1", ""), "m1", segue.NotFound},
		{"another", promote("m2", "it costs less", "k2"), "m2", segue.Other},
		{"a rollback from the one before", rollBack("m1", ""), "m2", segue.Conflict},
		{"rolled back", rollBack("m2", "k3"), "m1", segue.Other},
		{"rolled back again, under its key", rollBack("m2", "k3"), "m1", segue.Other},
		{"rolled back again", rollBack("m2", ""), "m1", segue.Conflict},
		{"what is not there", promote("m9", "why not", ""), "m1", segue.NotFound},
		{"what cannot be", promote("M 9", "why not", ""), "m1", segue.Invalid},
		{"for no reason", promote("m2", " ", ""), "m1", segue.Invalid},
	} {
		done, err := step.do()
		if segue.KindOf(err) != step.wantKind || err == nil && done != (api.Promotion{Champion: step.want, Decides: step.want}) {
			t.Errorf("%s: %+v, %v; want %q and kind %s", step.name, done, err, step.want, step.wantKind)
		}
		advice, err := c.Advise(ctx, api.AdviceRequest{Nodes: 2, TimeLimit: "12h", Remaining: "9h"})
		if err != nil || advice.Model != step.want {
			t.Errorf("%s: %q decides, %v; want %q", step.name, advice.Model, err, step.want)
		}
	}
	all, err := c.Models(ctx)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b api.Model) int { return strings.Compare(a.ID, b.ID) })
	want := []api.Model{
		{ID: "m1", State: "champion", Champion: true, InUse: true, Reason: "it costs more (olga, over REST)"},
		{ID: "m2", State: "former champion", Reason: "it costs less (olga, over REST)"},
	}
	if diff := cmp.Diff(want, all, cmpopts.IgnoreFields(api.Model{}, "Created", "TrainedFrom", "TrainedTo", "Nodes", "Policies", "Metrics")); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	wantAudit := []string{
		"promote-model M 9 422", "promote-model m1 200", "promote-model m1 409", "promote-model m2 200", "promote-model m2 422", "promote-model m9 404",
		"roll-back-model m1 404", "roll-back-model m1 404", "roll-back-model m1 409", "roll-back-model m2 200", "roll-back-model m2 409",
	}
	if diff := cmp.Diff(wantAudit, auditOfModels(t, srv.store)); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// auditOfModels returns what the audit log says of promotions, sorted.
func auditOfModels(t *testing.T, s *store.Store) []string {
	t.Helper()
	lines, err := s.AuditLog(t.Context(), store.AuditQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		if strings.HasSuffix(l.Action, "-model") {
			got = append(got, fmt.Sprint(l.Action, " ", l.Object, " ", l.Status))
		}
	}
	slices.Sort(got)
	return got
}

// A model that could not decide is not made the champion: over REST a conflict, which
// says why, and everything is as before.
func TestAModelThatCouldNotDecideIsNotPromoted(t *testing.T) {
	t.Parallel()
	r, dir := shelf(t, "m1", "m2", "flipped", "strange")
	for _, id := range []string{"m1", "m2"} {
		if err := r.Promote(id, "by hand"); err != nil {
			t.Fatal(err)
		}
	}
	cfg := followed(r, dir)
	srv, url := site(t, cfg)
	srv.followOnce()
	c := clientOf(t, srv, url, "olga", api.ScopeOperator)
	if err := os.WriteFile(filepath.Join(dir, "flipped", models.IndexFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m1", models.IndexFile), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		do   func() (api.Promotion, error)
		want string
	}{
		"a damaged one": {
			func() (api.Promotion, error) { return c.PromoteModel(t.Context(), "flipped", "why not", "") }, "promote model flipped: learned.json has 2 bytes",
		},
		"one that this program cannot ask": {
			func() (api.Promotion, error) { return c.PromoteModel(t.Context(), "strange", "why not", "") }, "promote model strange cannot be asked: learned.json: ",
		},
		"back to a damaged one": {
			func() (api.Promotion, error) { return c.RollBackModel(t.Context(), "m2", "why not", "") }, "roll back: model m1: learned.json has 2 bytes",
		},
	} {
		if done, err := tt.do(); segue.KindOf(err) != segue.Conflict || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %+v, %v; want a conflict with %q", name, done, err, tt.want)
		}
	}
	if id, err := r.Champion(); id != "m2" || err != nil || srv.models.decides() != "m2" {
		t.Errorf("the champion is %q, %v, and %q decides; want m2", id, err, srv.models.decides())
	}
	events, err := r.Log()
	if err != nil || len(events) != 2 {
		t.Errorf("the log has %v, %v; want the two promotions by hand", events, err)
	}
}

// A champion that is damaged or gone is told as such, and can be rolled back from.
func TestOneRollsBackFromADamagedChampion(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(folder string) error{
		"damaged": func(folder string) error { return os.WriteFile(filepath.Join(folder, models.IndexFile), nil, 0o600) },
		"gone":    os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := shelf(t, "m1", "m2")
			for _, id := range []string{"m1", "m2"} {
				if err := r.Promote(id, "by hand"); err != nil {
					t.Fatal(err)
				}
			}
			srv, url := site(t, followed(r, dir))
			c := clientOf(t, srv, url, "olga", api.ScopeOperator)
			if err := spoil(filepath.Join(dir, "m2")); err != nil {
				t.Fatal(err)
			}
			all, err := c.Models(t.Context())
			if err != nil || len(all) != 2 || all[1].ID != "m2" || all[1].State != "damaged" || !all[1].Champion || all[1].Error == "" {
				t.Errorf("models %+v, %v; want m2 as a damaged champion", all, err)
			}
			l, _ := lookAt(t, srv.store, followed(r, dir), api.ScopeOperator)
			if _, page := l.get("/models"); !strings.Contains(page, "The champion is <strong>m2</strong>") || !strings.Contains(page, "It cannot be used: ") {
				t.Errorf("the page does not say that m2 cannot be used:\n%s", page)
			}
			if status, page := l.get("/models/rollback"); status != http.StatusOK || !strings.Contains(page, "Roll back from model m2?") {
				t.Errorf("the page does not offer to roll back: %d\n%s", status, page)
			}
			if done, err := c.RollBackModel(t.Context(), "m2", "it is damaged", ""); err != nil || done.Champion != "m1" || done.Decides != "m1" {
				t.Errorf("rolled back: %+v, %v; want m1", done, err)
			}
		})
	}
}

// A server whose configuration names no champion promotes for others, and says who
// decides here. One without a folder of models has none to promote.
func TestPromotionsOfAServerThatFollowsNobody(t *testing.T) {
	t.Parallel()
	_, dir := shelf(t, "m1")
	srv, url := site(t, Config{Registry: dir, Model: &provisioner.Trained{ID: "own"}})
	done, err := clientOf(t, srv, url, "olga", api.ScopeOperator).PromoteModel(t.Context(), "m1", "for the agents", "")
	if err != nil || done != (api.Promotion{Champion: "m1", Decides: "own"}) {
		t.Errorf("%+v, %v; want the champion m1, and that the own one decides", done, err)
	}
	srv, url = site(t, Config{})
	c := clientOf(t, srv, url, "olga", api.ScopeOperator)
	if _, err := c.PromoteModel(t.Context(), "m1", "why not", ""); segue.KindOf(err) != segue.NotFound || !strings.Contains(err.Error(), "no folder of models") {
		t.Errorf("without a folder: %v, want that there is none", err)
	}
	if _, err := c.RollBackModel(t.Context(), "m1", "why not", ""); segue.KindOf(err) != segue.NotFound {
		t.Errorf("without a folder: %v, want that there is none", err)
	}
}

// Nobody but an operator promotes on a server as it is.
func TestOnlyAnOperatorPromotes(t *testing.T) {
	t.Parallel()
	r, dir := shelf(t, "m1", "m2")
	if err := r.Promote("m1", "by hand"); err != nil {
		t.Fatal(err)
	}
	srv, url := site(t, followed(r, dir))
	for _, scope := range []api.Scope{api.ScopeRead, api.ScopeChains, api.ScopeSubmit} {
		c := clientOf(t, srv, url, "ada", scope)
		for _, err := range []error{
			second(c.PromoteModel(t.Context(), "m2", "mine", "")), second(c.RollBackModel(t.Context(), "m1", "mine", "")),
		} {
			if err == nil || !strings.Contains(err.Error(), "this takes the scope operator") {
				t.Errorf("with the scope %s: %v, want that it is not allowed", scope, err)
			}
		}
	}
	for path, want := range map[string]string{api.RollbackPath: api.RollbackPath, "/v1/models/m1/promote": "/v1/models/{id}/promote", "/v1/models": "/v1/models"} {
		if got := routeOf(path); got != want {
			t.Errorf("the route of %s %s is %s, want %s", http.MethodPost, path, got, want)
		}
	}
	if got := auditOfModels(t, srv.store); len(got) > 0 {
		t.Errorf("the audit log has %q, want nothing: nothing was begun", got)
	}
	if id, err := r.Champion(); id != "m1" || err != nil {
		t.Errorf("the champion is %q, %v; want m1", id, err)
	}
}

func second[T any](_ T, err error) error { return err }
