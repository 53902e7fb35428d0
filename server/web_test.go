package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/web"
)

// looker is somebody who looks at the pages of a server.
type looker struct {
	tb     testing.TB
	client *http.Client
	site   *httptest.Server
}

// lookAt returns somebody who is logged in to a server without a scheduler.
func lookAt(tb testing.TB, s *store.Store, cfg Config, scopes ...api.Scope) (*looker, *Server) {
	tb.Helper()
	cfg.Holder, cfg.User, cfg.Log = "one", "segue", slog.New(slog.DiscardHandler)
	srv, err := New(s, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	_, secret, err := CreateToken(tb.Context(), s, Grant{User: "ada", Scopes: scopes}, "test", cfg.Now())
	if err != nil {
		tb.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		tb.Fatal(err)
	}
	l := &looker{tb: tb, client: &http.Client{Jar: jar}, site: httptest.NewServer(srv.Handler())}
	tb.Cleanup(l.site.Close)
	if status, page := l.post("/login", url.Values{"token": {secret}}); status != http.StatusOK {
		tb.Fatalf("login: %d\n%s", status, page)
	}
	return l, srv
}

func (l *looker) get(path string) (status int, page string) {
	l.tb.Helper()
	r, err := http.NewRequestWithContext(l.tb.Context(), http.MethodGet, l.site.URL+path, http.NoBody)
	if err != nil {
		l.tb.Fatal(err)
	}
	return l.do(r)
}

func (l *looker) post(path string, form url.Values) (status int, page string) {
	l.tb.Helper()
	r, err := http.NewRequestWithContext(l.tb.Context(), http.MethodPost, l.site.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		l.tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return l.do(r)
}

func (l *looker) do(r *http.Request) (status int, page string) {
	l.tb.Helper()
	answer, err := l.client.Do(r)
	if err != nil {
		l.tb.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	var b strings.Builder     // headers too, which say what sort of answer it is
	if err := answer.Write(&b); err != nil {
		l.tb.Fatal(err)
	}
	return answer.StatusCode, b.String()
}

var hidden = regexp.MustCompile(`name="([a-z]+)" value="([^"]*)"`)

// confirm answers a page that asks before something is done.
func (l *looker) confirm(path, action string, form url.Values) (status int, page string) {
	l.tb.Helper()
	_, page = l.get(path)
	for _, m := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], m[2])
	}
	return l.post(action, form)
}

// keepChain keeps a chain of ada's.
func keepChain(tb testing.TB, s *store.Store, id string, at segue.Time) {
	tb.Helper()
	first := segue.Link{
		Chain: id, Number: 1, Attempt: 1, State: segue.LinkRunning, Job: segue.JobID{Number: 7}, Planned: at, Submitted: at, Start: at, End: at.Add(48 * time.Hour), Ready: segue.NoTime,
	}
	chain := segue.Chain{ID: id, Name: "train", User: "ada", Created: at, Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: 4 * time.Hour}, User: "ada"}}
	if err := s.CreateChain(tb.Context(), chain, first); err != nil {
		tb.Fatal(err)
	}
}

func TestPagesStandBesideTheInterface(t *testing.T) {
	t.Parallel()
	l, _ := lookAt(t, openStore(t), Config{Now: realNow}, api.ScopeRead) // deadlines of a connection are real
	for path, want := range map[string]string{
		"/": "what to do first", "/v1/chains": "application/problem+json", "/metrics": "application/problem+json", "/healthz": "alive", "/readyz": `"ready":true`,
		"/v1x": "There is no such page", "/chains": "There is no such chain of yours",
	} {
		if status, page := l.get(path); !strings.Contains(page, want) {
			t.Errorf("%s: %d, want %q in\n%s", path, status, want, page)
		}
	}
}

// An operator is told to type what works on the store of this server.
func TestThePagesNameTheStore(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	l, _ := lookAt(t, s, Config{Now: realNow}, api.ScopeOperator)
	if _, page := l.get("/"); !strings.Contains(page, "--store "+s.Where()) {
		t.Errorf("the page lacks --store %s:\n%s", s.Where(), page)
	}
}

// What a viewer changes is changed, once, and noted.
func TestChangesOnThePagesAreNoted(t *testing.T) {
	t.Parallel()
	s, clock, folder := openStore(t), &clock{at: t0}, t.TempDir()
	keepChain(t, s, "c1", t0)
	registry := models.NewRegistry(folder, clock.now)
	for _, id := range []string{"m1", "m2"} {
		if err := registry.Write(toymodel.Manifest(id), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := registry.Promote("m1", "the first"); err != nil {
		t.Fatal(err)
	}
	follow := func() (*provisioner.Trained, error) {
		id, err := registry.Champion()
		if err != nil {
			return nil, err
		}
		return OpenModel(filepath.Join(folder, id))
	}
	l, srv := lookAt(t, s, Config{Now: clock.now, Registry: folder, Champion: follow}, api.ScopeOperator)
	for _, step := range []struct {
		ask, action string
		want        string
	}{
		{"/chains/c1/pause", "/chains/c1/pause", "Paused by its user."},
		{"/models/promote?id=m2", "/models/promote", "The champion is <strong>m2</strong>"},
		{"/models/rollback", "/models/rollback", "The champion is <strong>m1</strong>"},
	} {
		if status, page := l.confirm(step.ask, step.action, url.Values{"reason": {"a test"}}); status != http.StatusOK || !strings.Contains(page, step.want) {
			t.Errorf("%s: %d, want %q in\n%s", step.action, status, step.want, page)
		}
	}
	if used := srv.models.inUse.Load(); used == nil || used.ID != "m1" || srv.advisor.model.Load() != used {
		t.Errorf("model in use %+v, want the champion, m1", used)
	}
	if _, err := (webModels{srv.dashboard}).Rollback(t.Context(), web.Viewer{User: "ada", Via: "dashboard, token none"}, "m2", "too late"); segue.KindOf(err) != segue.Conflict {
		t.Errorf("a rollback from what is no longer the champion: %v, want a conflict", err)
	}
	lines, err := s.AuditLog(t.Context(), store.AuditQuery{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range lines {
		if strings.HasPrefix(line.Via, "dashboard, token ") {
			got = append(got, fmt.Sprint(line.User, " ", line.Action, " ", line.Object, " ", line.Status))
		}
	}
	slices.Sort(got) // they are of one instant
	if diff := cmp.Diff([]string{"ada pause-chain c1 200", "ada promote-model m2 200", "ada roll-back-model m2 200", "ada roll-back-model m2 409"}, got); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

// A token that ends takes its sessions with it, within seconds.
func TestASessionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s, clock := openStore(t), &clock{at: t0}
	l, srv := lookAt(t, s, Config{Now: clock.now}, api.ScopeRead)
	all, err := s.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := RevokeToken(t.Context(), s, all[0].ID, "test", clock.now()); err != nil {
		t.Fatal(err)
	}
	clock.advance(visitorFresh)
	if _, page := l.get("/chains"); !strings.Contains(page, "<h1>Log in</h1>") {
		t.Errorf("a token that was revoked still opens\n%s", page)
	}
	_, secret, err := CreateToken(t.Context(), s, Grant{User: "ada", Scopes: []api.Scope{api.ScopeRead}, For: time.Second}, "test", clock.now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.dashboard.Viewer(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Second)
	if _, err := srv.dashboard.Viewer(t.Context(), secret); segue.KindOf(err) != segue.NotFound {
		t.Errorf("a token that expired: %v, want not found", err)
	}
}

// When the store is gone, who was known is told so.
func TestPagesWithoutAStore(t *testing.T) {
	t.Parallel()
	s, clock := openStore(t), &clock{at: t0}
	l, _ := lookAt(t, s, Config{Now: clock.now}, api.ScopeRead)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Minute)
	if status, page := l.get("/"); status != http.StatusOK || !strings.Contains(page, "store: does not answer") || !strings.Contains(page, "cannot be shown") {
		t.Errorf("the overview: %d\n%s", status, page)
	}
	clock.advance(visitorStale)
	if status, _ := l.get("/"); status < http.StatusInternalServerError {
		t.Errorf("much later: %d", status)
	}
}

// Without a scheduler the queue and the forecast are of the end of the history.
func TestForecastOfTheNextDay(t *testing.T) {
	t.Parallel()
	s, clock := openStore(t), &clock{at: t0}
	end := keepHistory(t, s, "ls6", t0.Add(-30*24*time.Hour), 1000)
	keepChain(t, s, "c1", t0)
	_, srv := lookAt(t, s, Config{Now: clock.now, Advice: AdviceConfig{Replicas: 3}}, api.ScopeRead)
	d := srv.dashboard
	if all, err := d.Outlooks(t.Context()); len(all) > 0 || err != nil {
		t.Errorf("before it is worked out: %v, %v", all, err)
	}
	<-d.outlooks.wake // it was asked for
	d.outlooks.work(t.Context())
	all, err := d.Outlooks(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%d outlooks, %v; want one, of the only shape", len(all), err)
	}
	if f := all[0].Forecasts; len(f) != len(delays) || f[0].Empty() || f[8].At.Sub(f[0].At) != 24*time.Hour {
		t.Errorf("the forecasts are %v", f)
	}
	queue, err := d.Queue(t.Context())
	if err != nil || queue.Cluster != "ls6" || queue.Live || queue.Nodes < 10 || len(queue.Shapes) != 1 || queue.Shapes[0].Running < 10 {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
	recent, err := d.Recent(t.Context(), segue.Shape{Nodes: 1, Limit: 4 * time.Hour})
	if err != nil || recent.Until != end || len(recent.Waits.Waits) < 900 || recent.Waits.Quantile(0.5) != 10*time.Minute {
		t.Errorf("recent waits up to %s: %d of %s, %v", recent.Until, len(recent.Waits.Waits), recent.Waits.Quantile(0.5), err)
	}
}

func TestQueueOfAScheduler(t *testing.T) {
	t.Parallel()
	job := func(n int, state segue.JobState, submitted time.Duration) schedulers.Job {
		j := schedulers.Job{QueuedJob: segue.QueuedJob{ID: segue.JobID{Number: int64(n)}, Request: segue.Request{Shape: segue.Shape{Nodes: 2, Limit: time.Hour}}, Submit: t0.Add(-submitted), Start: segue.NoTime}, State: state}
		if state == segue.Running {
			j.Start = t0
		}
		return j
	}
	got := liveQueue("ls6", schedulers.State{
		At:    t0,
		Nodes: []schedulers.Node{{Name: "a", InService: true, Idle: true}, {Name: "b", InService: true}, {Name: "c"}},
		Jobs:  []schedulers.Job{job(1, segue.Running, 0), job(2, segue.Pending, time.Hour), job(3, segue.Pending, 3*time.Hour), job(4, segue.Completed, 0)},
	})
	want := web.Queue{
		Cluster: "ls6", Live: true, At: t0, Nodes: 2, IdleNodes: 1,
		Shapes: []web.ShapeCount{{Shape: segue.Shape{Nodes: 2, Limit: time.Hour}, Running: 1, Pending: 2, Longest: 3 * time.Hour}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
}

func TestLogOfATraining(t *testing.T) {
	t.Parallel()
	s, clock, dir := openStore(t), &clock{at: t0}, t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte("collect\ntrain\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := store.Training{ID: "20260301-120000", Cluster: "ls6", Cause: "hand", Scheduled: segue.NoTime, Started: t0, Ended: segue.NoTime, State: store.TrainingRunning, Step: "train", Folder: dir}
	if err := s.BeginTraining(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	l, srv := lookAt(t, s, Config{Now: clock.now}, api.ScopeOperator)
	if _, page := l.get("/trainings/20260301-120000"); !strings.Contains(page, "collect\ntrain") {
		t.Errorf("the page lacks the log:\n%s", page)
	}
	tail, size, err := (webTrainings{srv.dashboard}).Log(t.Context(), run.ID, 6)
	if string(tail) != "train\n" || size != 14 || err != nil {
		t.Errorf("%q of %d bytes, %v", tail, size, err)
	}
	for _, id := range []string{"../../etc/passwd", "", "none"} {
		if _, _, err := (webTrainings{srv.dashboard}).Log(t.Context(), id, 6); segue.KindOf(err) != segue.NotFound {
			t.Errorf("the log of %q: %v, want not found", id, err)
		}
	}
}

// BenchmarkPages measures pages of a server with 5,000 chains, each with a decision
// about its next link.
func BenchmarkPages(b *testing.B) {
	s := openStore(b)
	for i := range 5000 {
		id := fmt.Sprintf("c%04d", i)
		keepChain(b, s, id, t0.Add(-time.Duration(i)*time.Minute))
		d := segue.Decision{
			At: t0, Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}, User: "ada"}, Remaining: time.Hour, Prefer: segue.Balanced, Submit: true, SubmitAt: t0,
			Forecast: segue.NewForecast(t0, "montecarlo", []time.Duration{time.Minute, time.Hour, 2 * time.Hour}),
		}
		for h := range 24 {
			d.Alternatives = append(d.Alternatives, segue.Alternative{SubmitAt: t0.Add(time.Duration(h) * time.Hour), StartsBeforeEnd: 0.5, Interruption: time.Hour})
		}
		if err := s.RecordDecision(b.Context(), store.Recorded{Chain: id, Number: 2, Attempt: 1, Decision: d}); err != nil {
			b.Fatal(err)
		}
	}
	l, _ := lookAt(b, s, Config{Now: func() segue.Time { return t0 }}, api.ScopeOperator)
	for _, path := range []string{"/", "/chains", "/chains?state=active", "/chains/c0000", "/forecasts"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				l.tb = b
				if status, page := l.get(path); status != http.StatusOK {
					b.Fatalf("%d\n%s", status, page)
				}
			}
		})
	}
}

// With a scheduler they are of its queue, for the shapes of the chains that go on.
func TestForecastOfTheNextDayByAScheduler(t *testing.T) {
	t.Parallel()
	srv, clock, cluster := newAsked(t, AdviceConfig{})
	keepChain(t, srv.store, "c1", t0)
	d := srv.dashboard
	cluster.err = segue.Errorf(segue.Unavailable, "slurmctld is away")
	d.outlooks.work(t.Context())
	if _, err := d.Outlooks(t.Context()); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("while the scheduler is away: %v, want unavailable", err)
	}
	cluster.err = nil
	clock.advance(outlooksPause)
	d.outlooks.work(t.Context())
	all, err := d.Outlooks(t.Context())
	if err != nil || len(all) != 1 || all[0].Shape != (segue.Shape{Nodes: 1, Limit: 4 * time.Hour}) || len(all[0].Forecasts) != len(delays) {
		t.Errorf("outlooks are %+v, %v", all, err)
	}
	queue, err := d.Queue(t.Context())
	if err != nil || !queue.Live || queue.Nodes == 0 || queue.Cluster == "" {
		t.Errorf("the queue is %+v, %v", queue, err)
	}
	standing, err := d.Standing(t.Context())
	if err != nil || len(standing.Checks) != 4 || !slices.Contains(standing.Checks, web.Check{Name: "model", OK: true, State: "a planner decides"}) {
		t.Errorf("the server's standing is %+v, %v", standing, err)
	}
}

// Servers behind one name that have one key know each other's sessions, others do
// not; and a form of a page of one is taken by the other.
func TestALoginAtOneServerCountsAtAnother(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keys [2][]byte
		want bool
	}{
		"one key":  {[2][]byte{[]byte(strings.Repeat("k", 32)), []byte(strings.Repeat("k", 32))}, true},
		"two keys": {[2][]byte{[]byte(strings.Repeat("k", 32)), []byte(strings.Repeat("l", 32))}, false},
		"none":     {[2][]byte{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := openStore(t), &clock{at: t0}
			keepChain(t, s, "k3v9q2", t0)
			l, _ := lookAt(t, s, Config{Now: clock.now, SessionKey: tt.keys[0]}, api.ScopeChains)
			other, err := New(s, Config{Now: clock.now, Holder: "two", User: "segue", SessionKey: tt.keys[1], Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			_, here := l.get("/chains/k3v9q2/pause")
			form := url.Values{}
			for _, m := range hidden.FindAllStringSubmatch(here, -1) {
				form.Set(m[1], m[2])
			}
			l.site = httptest.NewServer(other.Handler()) // the jar sends the cookie to any port
			t.Cleanup(l.site.Close)
			_, page := l.get("/chains/k3v9q2")
			if got := strings.Contains(page, "k3v9q2") && !strings.Contains(page, `name="token"`); got != tt.want {
				t.Errorf("the other server knows the session: %t, want %t\n%s", got, tt.want, page)
			}
			_, page = l.post("/chains/k3v9q2/pause", form)
			c, err := s.Chain(t.Context(), "k3v9q2")
			if err != nil || (c.State == segue.ChainPaused) != tt.want {
				t.Errorf("by a form of the first server the chain is %s, %v; want it paused: %t\n%s", c.State, err, tt.want, page)
			}
		})
	}
}
