package server

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/server/spans"
)

func TestBeyondTheMachineThereMustBeTLS(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"all addresses": "0.0.0.0:0", "no address": ":0", "a name": "segue.example.org:0", "no port": "127.0.0.1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := ListenTCP(t.Context(), address, nil)
			if segue.KindOf(err) != segue.Invalid {
				t.Errorf("%v, %v; want an error of kind invalid", l, err)
			}
		})
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := ListenTCP(t.Context(), address, nil)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// On the socket the system says who asks: here the user of the test, whoever that
// is said to be.
func TestThePeerOfTheSocketIsTheCaller(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		user string
		uid  uint32
		want int // of the audit log, which is for operators
	}{
		"a user":               {"ada", 1000, 403},
		"a user who operates":  {"olga", 1001, 200},
		"the server's own":     {"segue", 1002, 200},
		"root":                 {"root", 0, 200},
		"nobody that is known": {"", 1003, 401},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, err := New(openStore(t), Config{Now: realNow, Holder: "one", User: "segue", Operators: []string{"olga"}, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			of := srv.peers.of
			srv.peers.of = func(c *net.UnixConn) (string, uint32, error) {
				if _, uid, err := of(c); err != nil || int(uid) != os.Getuid() {
					t.Errorf("the system says %d, %v; want %d", uid, err, os.Getuid())
				}
				if tt.user == "" {
					return "", 0, fs.ErrNotExist
				}
				return tt.user, tt.uid, nil
			}
			path := filepath.Join(t.TempDir(), "s")
			l, err := ListenUnix(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ListenUnix(t.Context(), path); segue.KindOf(err) != segue.Conflict {
				t.Errorf("beside a server that answers: %v, want an error of kind conflict", err)
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- srv.Run(ctx, l) }()
			client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", path)
			}}}
			if got := status(t, &client, "http://segue/v1/audit"); got != tt.want {
				t.Errorf("status is %d, want %d", got, tt.want)
			}
			client.CloseIdleConnections()
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func status(t *testing.T, client *http.Client, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode
}

func TestASocketThatWasLeftBehindIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l, err = ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(t.Context(), path); segue.KindOf(err) != segue.Conflict {
		t.Errorf("over a file: %v, want an error of kind conflict", err)
	}
}

func TestSystemdIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	l, err := new(net.ListenConfig).ListenPacket(t.Context(), "unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	n := Notifier{Address: path}
	if err := n.Tell(t.Context(), "READY=1"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	looks := 0
	go n.Watchdog(ctx, time.Millisecond, func(context.Context) bool {
		if looks++; looks > 1 { // then it hangs
			stop()
		}
		return looks == 1
	})
	buf := make([]byte, 100)
	for _, want := range []string{"READY=1", "WATCHDOG=1"} {
		size, _, err := l.ReadFrom(buf)
		if got := string(buf[:size]); got != want || err != nil {
			t.Errorf("told %q, %v; want %q", got, err, want)
		}
	}
	if err := (Notifier{}).Tell(t.Context(), "READY=1"); err != nil {
		t.Errorf("without systemd: %v", err)
	}
}

func TestChangesAreSeenOnce(t *testing.T) {
	t.Parallel()
	s, feed := openStore(t), api.NewFeed()
	var seen seenChains
	look := func() []api.Event {
		t.Helper()
		if err := seen.look(t.Context(), s, t0, feed); err != nil {
			t.Fatal(err)
		}
		return feed.Past()
	}
	chain := segue.Chain{ID: "c1", User: "ada", Created: t0, Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}}}
	link := segue.Link{Chain: "c1", Number: 1, Attempt: 1, Planned: t0, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime}
	if n := len(look()); n != 0 {
		t.Fatalf("%d events of an empty store", n)
	}
	if err := s.CreateChain(t.Context(), chain, link); err != nil {
		t.Fatal(err)
	}
	look()
	if n := len(look()); n != 2 {
		t.Errorf("%d events of a chain with a link, want 2", n)
	}
	link.State, link.Job = segue.LinkRunning, segue.JobID{Number: 7}
	if err := s.UpdateLink(t.Context(), segue.LinkSubmitting, link); err != nil {
		t.Fatal(err)
	}
	if all := look(); len(all) != 3 || all[2].Link == nil || all[2].Link.State != segue.LinkRunning {
		t.Errorf("events %+v, want the third of a link that runs", all)
	}
	if err := s.SetChainState(t.Context(), "c1", segue.ChainActive, segue.ChainStopped, "Stopped by its user."); err != nil {
		t.Fatal(err)
	}
	if all := look(); len(all) != 4 || all[3].Link != nil || all[3].Chain.State != segue.ChainStopped {
		t.Errorf("events %+v, want the fourth of a chain that is stopped", all)
	}
	if n := len(look()); n != 4 {
		t.Errorf("%d events where nothing changes, want 4", n)
	}
}

// The end of a link is told though its successor waits already, or its chain was
// stopped before.
func TestTheEndOfALinkIsToldWhateverFollowsIt(t *testing.T) {
	t.Parallel()
	s, feed := openStore(t), api.NewFeed()
	var seen seenChains
	told := 0
	look := func() (states []string) {
		t.Helper()
		if err := seen.look(t.Context(), s, t0, feed); err != nil {
			t.Fatal(err)
		}
		all := feed.Past()
		for _, e := range all[told:] {
			if e.Link != nil {
				states = append(states, fmt.Sprintf("%d %s", e.Link.Number, e.Link.State))
			} else {
				states = append(states, e.Chain.State.String())
			}
		}
		told = len(all)
		return states
	}
	update := func(l *segue.Link, to segue.LinkState) {
		t.Helper()
		was := l.State
		l.State = to
		if err := s.UpdateLink(t.Context(), was, *l); err != nil {
			t.Fatal(err)
		}
	}
	chain := segue.Chain{ID: "c1", User: "ada", Created: t0, Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}}}
	link := segue.Link{Chain: "c1", Number: 1, Attempt: 1, Planned: t0, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime}
	if err := s.CreateChain(t.Context(), chain, link); err != nil {
		t.Fatal(err)
	}
	link.Job = segue.JobID{Number: 7}
	update(&link, segue.LinkRunning)
	look()
	next, err := s.NextLink(t.Context(), link, segue.Decision{At: t0, Submit: true, SubmitAt: t0, Prefer: segue.Balanced})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"2 submitting"}, look()); diff != "" {
		t.Errorf("of a successor (-want +got):\n%s", diff)
	}
	update(&link, segue.LinkEnded)
	if diff := cmp.Diff([]string{"1 ended"}, look()); diff != "" {
		t.Errorf("of the end of the one before (-want +got):\n%s", diff)
	}
	next.Job = segue.JobID{Number: 8}
	update(&next, segue.LinkRunning)
	if err := s.SetChainState(t.Context(), "c1", segue.ChainActive, segue.ChainStopped, "Stopped by its user."); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"stopped", "2 running"}, look()); diff != "" {
		t.Errorf("of a chain that is stopped (-want +got):\n%s", diff)
	}
	update(&next, segue.LinkEnded)
	if diff := cmp.Diff([]string{"2 ended"}, look()); diff != "" {
		t.Errorf("of the end of its last link (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string(nil), look()); diff != "" {
		t.Errorf("where nothing changes (-want +got):\n%s", diff)
	}
}

// A server whose database is gone lives, and says that it is not ready.
func TestAStoreThatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	clock := &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	want := []api.Check{{Name: "store", OK: true, State: "answers", Needed: true}, {Name: "scheduler", OK: true, State: "none"}, {Name: "loops", OK: true, State: "none: there is no scheduler"}, {Name: "model", OK: true, State: "a planner decides"}}
	if diff := cmp.Diff(want, srv.health.Checks(t.Context())); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.advance(healthFresh)
	want[0].OK, want[0].State = false, "does not answer"
	if diff := cmp.Diff(want, srv.health.Checks(t.Context())); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// A server that finds no scheduler says so, and that it leads nothing; one that is to
// have none leads nothing by intent.
func TestASchedulerThatIsNotFoundIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		missing string
		want    api.Check
		gauge   bool
	}{
		"not found": {"no sbatch on PATH", api.Check{Name: "scheduler", State: "none: no sbatch on PATH"}, true},
		"not meant": {"", api.Check{Name: "scheduler", OK: true, State: "none"}, false},
	} {
		clock := &clock{at: t0}
		srv, err := New(openStore(t), Config{Now: clock.now, Holder: "one", User: "segue", NoDriver: tt.missing, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, srv.health.Checks(t.Context())[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := strings.Contains(metricsOf(t, srv), "\nsegue_lease_held 0\n"); got != tt.gauge {
			t.Errorf("%s: that it leads nothing is told: %t, want %t", name, got, tt.gauge)
		}
	}
}

// Metrics say that the store is away to who was known while it was there.
func TestMetricsSayThatTheStoreIsAway(t *testing.T) {
	t.Parallel()
	s, clock := openStore(t), &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := CreateToken(t.Context(), s, Grant{User: "prometheus", Scopes: []api.Scope{api.ScopeRead}}, "ada", t0)
	if err != nil {
		t.Fatal(err)
	}
	scrape := func(want string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("a scrape answers %d without %s", w.Code, want)
		}
	}
	scrape("segue_store_up 1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Minute)
	scrape("segue_store_up 0")
}

// A server tells a collector of requests, by their sort and not by what they name.
func TestACollectorIsToldOfRequests(t *testing.T) {
	t.Parallel()
	told := make(chan *collectorpb.ExportTraceServiceRequest, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body) // what is cut off lacks what is wanted
		var said collectorpb.ExportTraceServiceRequest
		if err := proto.Unmarshal(text, &said); err != nil {
			t.Errorf("the collector is told %q: %v", text, err)
		}
		told <- &said
	}))
	t.Cleanup(collector.Close)
	srv, err := New(openStore(t), Config{
		Now: realNow, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler), Tracing: spans.Config{Endpoint: collector.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/chains/k3v9q2/decisions", "/chains/k3v9q2"} {
		srv.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := srv.Run(ctx); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, span := range (<-told).GetResourceSpans()[0].GetScopeSpans()[0].GetSpans() {
		for _, a := range span.GetAttributes() {
			if a.GetKey() == "http.response.status_code" {
				got[span.GetName()] = a.GetValue().GetIntValue()
			}
		}
	}
	want := map[string]int64{"GET /v1/chains/{id}/decisions": http.StatusUnauthorized, "GET /chains/{id}": http.StatusSeeOther}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the collector is told (-want +got):\n%s", diff)
	}
}
