package api

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// One request is worked on and takes its time: the next ones are shed, until it is
// done.
func TestTooManyRequestsAreShedUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	h := newHouse()
	begun, goOn := make(chan bool), make(chan bool)
	h.advise = func(context.Context, Question) (Advice, error) {
		begun <- true
		<-goOn
		return Advice{}, nil
	}
	a := h.serve(t, Limits{Concurrent: 1})
	ended := make(chan int)
	go func() { ended <- call{secret: adaReads, what: "POST /v1/advice", body: anAdvice}.answers(t, a).Code }()
	<-begun
	w := call{secret: adaReads, what: "GET /v1/chains"}.answers(t, a)
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("%d, again after %q; want 503 and 1", w.Code, w.Header().Get("Retry-After"))
	}
	if p := read[Problem](t, w); p.Type != "urn:segue:problem:overloaded" {
		t.Errorf("type is %s", p.Type)
	}
	if w := (call{what: "GET /healthz"}).answers(t, a); w.Code != 200 {
		t.Errorf("the process lives: %d, want 200", w.Code)
	}
	goOn <- true
	if code := <-ended; code != 200 {
		t.Errorf("the one that was worked on: %d, want 200", code)
	}
	if w := (call{secret: adaReads, what: "GET /v1/chains"}).answers(t, a); w.Code != 200 {
		t.Errorf("afterwards: %d, want 200", w.Code)
	}
}

// deadlines is an answer on a connection that remembers its deadlines.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error  { d.read = append(d.read, t); return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.write = append(d.write, t); return nil }

func TestADeadlineIsOfOneRequestOnly(t *testing.T) {
	t.Parallel()
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/chains", nil)
	r.Header.Set("Authorization", "Bearer "+adaReads)
	newHouse().serve(t, Limits{Time: time.Minute}).ServeHTTP(w, r)
	at := t0.Std().Add(time.Minute)
	if diff := cmp.Diff([]time.Time{at, {}}, w.read); diff != "" {
		t.Errorf("of reading (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Time{at.Add(settling), {}}, w.write); diff != "" {
		t.Errorf("of writing (-want +got):\n%s", diff)
	}
}

// Where the clock is set back requests are let through as before.
func TestARateGoesOnWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	b := newBucket(20)
	now := segue.Time(0).Add(time.Hour)
	for b.take(now) { // all that there is
	}
	now = now.Add(-30 * time.Minute)
	b.take(now) // by which it hears of that
	if now = now.Add(time.Second); !b.take(now) {
		t.Error("a second after the clock was set back none is let through")
	}
}

func TestRequestsBeyondTheRateAreShed(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{Rate: 20}) // two at once
	var got []int
	ask := func() {
		got = append(got, call{secret: adaReads, what: "GET /v1/chains"}.answers(t, a).Code)
	}
	for range 3 {
		ask()
	}
	h.mu.Lock()
	h.now = h.now.Add(50 * time.Millisecond) // room for one more
	h.mu.Unlock()
	ask()
	ask()
	if diff := cmp.Diff([]int{200, 200, 503, 200, 503}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// Metrics tell of a server that has too much to do, so they have places of their own.
func TestScrapesAreNotShedWithOtherRequests(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{Concurrent: 1, Rate: 1})
	ask := func(what string) int { return call{secret: adaReads, what: what}.answers(t, a).Code }
	got := []int{ask("GET /v1/chains"), ask("GET /v1/chains"), ask("GET /metrics"), ask("GET /metrics")}
	if diff := cmp.Diff([]int{200, 503, 200, 200}, got); diff != "" {
		t.Errorf("beyond the rate (-want +got):\n%s", diff)
	}
	limits := a.limits.Load()
	limits.requests.enter()
	if code := ask("GET /metrics"); code != 200 {
		t.Errorf("while all places are taken: %d, want 200", code)
	}
	for range scrapes {
		limits.scrapes.enter()
	}
	if code := ask("GET /metrics"); code != 503 {
		t.Errorf("beyond their own: %d, want 503", code)
	}
}

func TestLimitsMayChangeWhileItWorks(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	ask := call{secret: adaReads, what: "POST /v1/advice", body: anAdvice}
	if w := ask.answers(t, a); w.Code != 200 {
		t.Fatalf("at first: %d, want 200", w.Code)
	}
	if err := a.SetLimits(Limits{Body: 10}); err != nil {
		t.Fatal(err)
	}
	w := ask.answers(t, a)
	if p := read[Problem](t, w); w.Code != 413 || p.Type != "urn:segue:problem:too-large" || p.Detail != "want at most 10 bytes" {
		t.Errorf("then: %d %+v, want 413", w.Code, p)
	}
	if err := a.SetLimits(Limits{Body: -1}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("a limit below 0: %v, want an error of kind invalid", err)
	}
}

// What a question names is bounded, each by what the description says: otherwise
// 10,000 questions of a mebibyte would be remembered.
func TestWhatAQuestionNamesIsBounded(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	const names = 200
	for _, field := range []string{"account", "partition", "cluster", "predecessor_job", "prefer", "max_lead", "time_limit"} {
		question := map[string]any{"nodes": 2, "time_limit": "48h", "remaining": "9h", field: strings.Repeat("x", names+1)}
		if field == "predecessor_job" {
			delete(question, "remaining")
		}
		body, err := json.Marshal(question)
		if err != nil {
			t.Fatal(err)
		}
		w := call{secret: adaReads, what: "POST /v1/advice", body: string(body)}.answers(t, a)
		p := read[Problem](t, w)
		if w.Code != 422 || len(p.Errors) != 1 || p.Errors[0].Location != "body."+field {
			t.Errorf("%s of %d letters: %d, %+v; want 422 at body.%s", field, names+1, w.Code, p, field)
		}
	}
	body := `{"nodes": 2, "time_limit": "48h", "remaining": "9h", "account": "` + strings.Repeat("x", names) + `"}`
	if w := (call{secret: adaReads, what: "POST /v1/advice", body: body}).answers(t, a); w.Code != 200 {
		t.Errorf("an account of %d letters: %d: %s", names, w.Code, w.Body)
	}
	long := strings.Repeat("x", names+1)
	for _, path := range []string{
		"/v1/forecasts?nodes=1&time_limit=1h&account=" + long, "/v1/forecasts?nodes=1&time_limit=1h&partition=" + long,
		"/v1/chains?user=" + long, "/v1/chains/" + long,
	} {
		if w := (call{secret: adaReads, what: "GET " + path}).answers(t, a); w.Code != 422 {
			t.Errorf("%.40s...: %d, want 422", path, w.Code)
		}
	}
}
