package client

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

// script is a server that answers what a test says, and notes what it was asked.
type script struct {
	asked   []string
	answers map[string]string // by method and path
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := r.Method + " " + r.URL.RequestURI()
	s.asked = append(s.asked, fmt.Sprintf("%s %s %s", what, r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key")))
	answer, ok := s.answers[what]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"type":"urn:segue:problem:not-found","title":"There is no such thing","status":404,"detail":"no ` + r.URL.Path + `"}`
	}
	fmt.Fprint(w, answer)
}

func TestAClientAsksAndReads(t *testing.T) {
	t.Parallel()
	s := &script{answers: map[string]string{
		"POST /v1/advice":                             `{"decision":"wait","reason":"Wait 1 h."}`,
		"GET /v1/chains?limit=500&user=ada":           `{"chains":[{"id":"a"}],"next":"n1"}`,
		"GET /v1/chains?cursor=n1&limit=500&user=ada": `{"chains":[{"id":"b"}]}`,
		"POST /v1/chains/a/pause":                     `{"id":"a","state":"paused","links":[{"number":1}]}`,
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := New(Config{Server: server.URL + "/", Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := c.Advise(t.Context(), api.AdviceRequest{Nodes: 1, TimeLimit: "1h", Remaining: "9h"})
	if err != nil || advice.Reason != "Wait 1 h." {
		t.Errorf("advice %+v, %v", advice, err)
	}
	chains, err := c.Chains(t.Context(), "ada")
	if err != nil || len(chains) != 2 || chains[1].ID != "b" {
		t.Errorf("chains %+v, %v", chains, err)
	}
	paused, err := c.Change(t.Context(), "a", "pause", "k1")
	if err != nil || paused.State != "paused" || len(paused.Links) != 1 {
		t.Errorf("paused %+v, %v", paused, err)
	}
	if _, err := c.Chain(t.Context(), "../admin"); segue.KindOf(err) != segue.NotFound {
		t.Errorf("error %v, want one of kind not found", err)
	}
	want := []string{
		"POST /v1/advice Bearer t ", "GET /v1/chains?limit=500&user=ada Bearer t ", "GET /v1/chains?cursor=n1&limit=500&user=ada Bearer t ",
		"POST /v1/chains/a/pause Bearer t k1", "GET /v1/chains/..%2Fadmin Bearer t ",
	}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// Names go into an address as they are, and a history in its format.
func TestModelsAndHistoriesAreAskedForByTheirNames(t *testing.T) {
	t.Parallel()
	s := &script{answers: map[string]string{
		"POST /v1/models/a%2Fb/promote":                      `{"champion":"a/b","decides":"c"}`,
		"POST /v1/models/rollback":                           `{"champion":"a"}`,
		"POST /v1/histories/a%20b%2Fc/import":                `{"read":1}`,
		"POST /v1/histories/a%20b%2Fc/import?format=parquet": `{"read":2}`,
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := New(Config{Server: server.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := c.PromoteModel(t.Context(), "a/b", "why", "k1"); err != nil || done != (api.Promotion{Champion: "a/b", Decides: "c"}) {
		t.Errorf("promoted %+v, %v", done, err)
	}
	if done, err := c.RollBackModel(t.Context(), "a/b", "why", "k2"); err != nil || done != (api.Promotion{Champion: "a"}) {
		t.Errorf("rolled back %+v, %v", done, err)
	}
	for want, f := range map[int64]HistoryFile{
		1: {Content: strings.NewReader("x"), Format: "auto"}, 2: {Content: strings.NewReader("x"), Format: "parquet"},
	} {
		if done, err := c.ImportHistory(t.Context(), "a b/c", f); err != nil || done.Read != want {
			t.Errorf("imported %+v, %v; want %d jobs", done, err, want)
		}
	}
	if got := s.asked[:2]; got[0] != "POST /v1/models/a%2Fb/promote Bearer t k1" || got[1] != "POST /v1/models/rollback Bearer t k2" {
		t.Errorf("asked %q, want the token and the keys", got)
	}
}

func TestMoreThanAPageIsAskedForPageByPage(t *testing.T) {
	t.Parallel()
	full := strings.TrimSuffix(strings.Repeat(`{"link":2},`, mostAtOnce), ",")
	s := &script{answers: map[string]string{
		"GET /v1/chains/a/decisions?limit=500":           `{"decisions":[` + full + `],"next":"n1"}`,
		"GET /v1/chains/a/decisions?cursor=n1&limit=1":   `{"decisions":[{"link":1}],"next":"n2"}`,
		"GET /v1/chains/a/decisions?cursor=n1&limit=500": `{"decisions":{}}`,
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := New(Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Decisions(t.Context(), "a", mostAtOnce+1)
	if err != nil || len(all) != mostAtOnce+1 || all[mostAtOnce].Link != 1 {
		t.Errorf("%d decisions, %v; want %d with the one of the second page", len(all), err, mostAtOnce+1)
	}
	if _, err := c.Decisions(t.Context(), "a", 2*mostAtOnce); segue.KindOf(err) != segue.Corrupt {
		t.Errorf("a page that is none: error %v, want one of kind corrupt", err)
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		problem string
		want    segue.Kind
	}{
		"invalid":    {"invalid", segue.Invalid},
		"overloaded": {"overloaded", segue.Unavailable},
		"forbidden":  {"forbidden", segue.Other},
		"corrupt":    {"corrupt", segue.Corrupt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusTeapot)
				fmt.Fprintf(w, `{"type":"urn:segue:problem:%s","title":"A problem"}`, tt.problem)
			}))
			defer server.Close()
			c, err := New(Config{Server: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Chain(t.Context(), "a"); err == nil || segue.KindOf(err) != tt.want {
				t.Errorf("error %v (%s), want one of kind %s", err, segue.KindOf(err), tt.want)
			}
		})
	}
}

func TestASocketIsAServerToo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(&script{answers: map[string]string{"GET /v1/chains/a": `{"id":"a"}`}})
	server.Listener = l
	server.Start()
	defer server.Close()
	c, err := New(Config{Server: "unix://" + path})
	if err != nil {
		t.Fatal(err)
	}
	if chain, err := c.Chain(t.Context(), "a"); err != nil || chain.ID != "a" {
		t.Errorf("chain %+v, %v", chain, err)
	}
}

func TestWhatIsNoServerIsRefused(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"", "segue:7411", "ftp://segue", "http://", "unix://segue.sock", "http://a\x00"} {
		if _, err := New(Config{Server: server}); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%q: %v, want an error of kind invalid", server, err)
		}
	}
	c, err := New(Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Chain(t.Context(), "a"); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("nobody answers: %v, want an error of kind unavailable", err)
	}
}
