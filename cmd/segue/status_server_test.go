package main

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// What a server tells of chains is printed as what the store tells of them.
func TestAServerTellsOfChainsWhatTheStoreTells(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "segue.db"), store.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	now := segue.TimeOf(time.Now().Truncate(time.Second))
	keepTwoChains(t, s, now)
	srv, err := server.New(s, server.Config{
		Now: func() segue.Time { return now }, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(srv.Handler())
	t.Cleanup(site.Close)
	_, secret, err := server.CreateToken(t.Context(), s, server.Grant{User: "olga", Scopes: []api.Scope{api.ScopeOperator}}, "olga", now)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{Server: site.URL, Token: secret})
	if err != nil {
		t.Fatal(err)
	}
	for name, show := range map[string]func(*cobra.Command, chainSource) error{
		"chains":               func(cmd *cobra.Command, from chainSource) error { return showChains(cmd, from, false, false, now) },
		"all chains, as JSON":  func(cmd *cobra.Command, from chainSource) error { return showChains(cmd, from, true, true, now) },
		"a chain":              func(cmd *cobra.Command, from chainSource) error { return showChain(cmd, from, "train", false, now) },
		"another one, as JSON": func(cmd *cobra.Command, from chainSource) error { return showChain(cmd, from, "done1", true, now) },
	} {
		var texts [2]string
		for i, from := range []chainSource{s, served{c}} {
			var out bytes.Buffer
			cmd := &cobra.Command{}
			cmd.SetOut(&out)
			cmd.SetContext(t.Context())
			if err := show(cmd, from); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			texts[i] = out.String()
		}
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" || !strings.Contains(texts[0], "train") && !strings.Contains(texts[0], "done1") {
			t.Errorf("%s (-of the store +of the server):\n%s", name, diff)
		}
	}
	if err := showChain(&cobra.Command{}, served{c}, "", false, now); segue.KindOf(err) != segue.Invalid {
		t.Errorf("of no name %v, want an error of kind invalid", err)
	}
}

// keepTwoChains keeps one that goes on, whose next link is to wait, and one that is
// done.
func keepTwoChains(t *testing.T, s *store.Store, now segue.Time) {
	t.Helper()
	for _, id := range []string{"live1", "done1"} {
		chain := segue.Chain{
			ID: id, Name: map[string]string{"live1": "train", "done1": "serve"}[id], User: "ada", Created: now.Add(-time.Hour),
			Request: segue.Request{Shape: segue.Shape{Nodes: 2, GPUsPerNode: 4, Limit: 36 * time.Hour}, User: "ada"},
			Terms:   segue.Terms{Prefer: segue.NoGap, MaxLinks: 5}.WithDefaults(),
		}
		link := segue.Link{
			Chain: id, Number: 1, Attempt: 1, Planned: now.Add(-time.Hour), Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
		}
		if err := s.CreateChain(t.Context(), chain, link); err != nil {
			t.Fatal(err)
		}
		link.State, link.Job, link.Submitted, link.Start, link.End = segue.LinkRunning, segue.JobID{Number: 7}, link.Planned, now.Add(-30*time.Minute), now.Add(35*time.Hour)
		if err := s.UpdateLink(t.Context(), segue.LinkSubmitting, link); err != nil {
			t.Fatal(err)
		}
		if id == "live1" {
			at := now.Add(20 * time.Hour)
			err := s.RecordDecision(t.Context(), store.Recorded{Chain: id, Number: 2, Attempt: 1, Decision: segue.Decision{
				At: now, Policy: "planner", Request: chain.Request, Remaining: 35 * time.Hour, Prefer: segue.NoGap, SubmitAt: at, Reason: "Later.",
				Forecast:     segue.NewForecast(now, "recent", []time.Duration{time.Hour, 2 * time.Hour}),
				Alternatives: []segue.Alternative{{SubmitAt: now, StartsBeforeEnd: 1}, {SubmitAt: at, StartsBeforeEnd: 0.75}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		ended := link
		ended.State, ended.End, ended.Ended, ended.ExitCode = segue.LinkEnded, now, segue.Failed, 3
		if err := s.UpdateLink(t.Context(), segue.LinkRunning, ended); err != nil {
			t.Fatal(err)
		}
		if err := s.SetChainState(t.Context(), id, segue.ChainActive, segue.ChainDone, "Exit code 3."); err != nil {
			t.Fatal(err)
		}
	}
}
