package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
)

// site is a server on an empty store that answers.
func site(t *testing.T, cfg Config) (srv *Server, url string) {
	t.Helper()
	cfg.Now, cfg.Holder, cfg.User, cfg.Log = realNow, "one", "segue", slog.New(slog.DiscardHandler)
	srv, err := New(openStore(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	t.Cleanup(web.Close)
	return srv, web.URL
}

// clientOf returns a client for a user with a scope.
func clientOf(t *testing.T, srv *Server, url, user string, scope api.Scope) *client.Client {
	t.Helper()
	_, secret, err := CreateToken(t.Context(), srv.store, Grant{User: user, Scopes: []api.Scope{scope}}, "test", srv.cfg.Now())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{Server: url, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// swf is a history of jobs of one processor that come every ten minutes and run for two
// hours.
func swf(jobs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "; UnixStartTime: %d\n; MaxNodes: 16\n; MaxProcs: 16\n", 1_600_000_000)
	for i := range jobs {
		fmt.Fprintf(&b, "%d %d 60 7200 1 -1 -1 1 14400 -1 1 1 1 -1 -1 -1 -1 -1\n", i+1, i*600)
	}
	return b.String()
}

// A program in Go does what the interface offers, on a server as it is.
func TestAProgramUsesAServerByTheClient(t *testing.T) {
	t.Parallel()
	srv, url := site(t, Config{Advice: AdviceConfig{Replicas: 3}})
	c := clientOf(t, srv, url, "olga", api.ScopeOperator)
	ctx := t.Context()
	for when, want := range []int64{200, 200} { // the second time it is told again
		done, err := c.ImportHistory(ctx, "ls6", client.HistoryFile{Key: "k1", Content: io.MultiReader(strings.NewReader(swf(200)))}) // in chunks
		if err != nil || done.Read != want || done.Changed != want || done.Format != "swf" {
			t.Fatalf("import %d: %+v, %v; want %d jobs of swf", when+1, done, err, want)
		}
	}
	if _, err := c.ImportHistory(ctx, "ls6", client.HistoryFile{Key: "k1", Content: strings.NewReader(swf(100))}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("another history under the same key: %v, want an error of kind invalid", err)
	}
	histories, err := c.Histories(ctx)
	if err != nil || len(histories) != 1 || histories[0].Cluster != "ls6" || histories[0].Jobs != 200 {
		t.Errorf("histories %+v, %v", histories, err)
	}
	if s, err := c.Statistics(ctx, "ls6"); err != nil || s.Jobs != 200 || s.Started != 200 {
		t.Errorf("statistics %+v, %v", s, err)
	}
	if _, err := c.Statistics(ctx, "else/where"); segue.KindOf(err) != segue.NotFound {
		t.Errorf("statistics of no history: %v, want an error of kind not found", err)
	}
	f, err := c.Forecast(ctx, api.ForecastRequest{Nodes: 1, GPUsPerNode: 2, TimeLimit: "4h", Partition: "gpu", Cluster: "ls6"})
	if err != nil || f.Cluster != "ls6" || f.Source != "history" || len(f.Wait) == 0 || len(f.Notes) != 2 {
		t.Errorf("forecast %+v, %v; want one of the history, with notes about partition and GPUs", f, err)
	}
	models, err := c.Models(ctx)
	if err != nil || len(models) != 0 {
		t.Errorf("models %+v, %v; want none", models, err)
	}
	lines, err := c.Audit(ctx, 10)
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprint(l.User, " ", l.Action, " ", l.Object, " ", l.Status))
	}
	if diff := cmp.Diff([]string{"olga import-history ls6 200", "test create-token " + lastWord(lines) + " 200"}, got); err != nil || diff != "" {
		t.Errorf("audit log, %v (-want +got):\n%s", err, diff)
	}
	if chains, err := c.Chains(ctx, ""); err != nil || len(chains) != 0 {
		t.Errorf("chains %+v, %v; want none", chains, err)
	}
}

// A stream of changes ends when its reader says so, or the server.
func TestAProgramFollowsChanges(t *testing.T) {
	t.Parallel()
	srv, err := New(openStore(t), Config{Now: realNow, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	defer web.Close()
	_, secret, err := CreateToken(t.Context(), srv.store, Grant{User: "ada", Scopes: []api.Scope{api.ScopeRead}}, "ada", realNow())
	if err != nil {
		t.Fatal(err)
	}
	follow := func(token string, use func(client.Event) error) error {
		c, err := client.New(client.Config{Server: web.URL, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return c.Follow(t.Context(), use)
	}
	enough := errors.New("enough")
	var told []client.Event
	err = follow(secret, func(e client.Event) error {
		if told = append(told, e); len(told) == 1 {
			srv.feed.Publish(
				api.Event{At: realNow(), Chain: segue.Chain{ID: "bens", User: "ben", Created: realNow()}},
				api.Event{At: realNow(), Chain: segue.Chain{ID: "adas", User: "ada", Created: realNow()}},
				api.Event{At: realNow(), Chain: segue.Chain{ID: "adas", User: "ada"}, Link: &segue.Link{Chain: "adas", Number: 2}},
			)
		}
		if len(told) == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || len(told) != 3 {
		t.Fatalf("%d events, %v; want the beginning and two of ada's", len(told), err)
	}
	if told[0].Chain != nil || told[0].Link != nil || told[1].Chain == nil || told[1].Chain.Chain.ID != "adas" || told[2].Link == nil || told[2].Link.Link.Number != 2 {
		t.Errorf("events %+v", told)
	}
	if err := follow("nobody's", func(client.Event) error { return enough }); segue.KindOf(err) != segue.Other || errors.Is(err, enough) {
		t.Errorf("with a token that nobody knows: %v, want what the server answers", err)
	}
}

func lastWord(lines []api.AuditAnswer) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1].Object
}
