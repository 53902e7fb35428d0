package api

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

// described is the description that is checked in.
const described = "../docs/openapi.json"

func TestTheDescriptionIsWhatTheCodeSays(t *testing.T) {
	t.Parallel()
	got, err := indented(newHouse().serve(t, Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(described, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(described)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/openapi.json (-is +should be; go test ./api -update writes it):\n%s", diff)
	}
}

func TestAdviceIsAskedAndAnswered(t *testing.T) {
	t.Parallel()
	h := newHouse()
	body := `{"nodes":4,"gpus_per_node":2,"time_limit":"48:00:00","partition":"gpu","account":"physics","remaining":"9:00:00","prefer":"no-gap","max_lead":"12h"}`
	w := call{secret: adaReads, what: "POST /v1/advice", body: body}.answers(t, h.serve(t, Limits{}))
	if w.Code != 200 {
		t.Fatalf("status is %d: %s", w.Code, w.Body)
	}
	want := Question{
		Request: segue.Request{
			Shape: segue.Shape{Nodes: 4, GPUsPerNode: 2, Limit: 48 * time.Hour}, User: "ada", Account: "physics", Partition: "gpu",
		},
		Remaining: 9 * time.Hour, Prefer: segue.NoGap, MaxLead: 12 * time.Hour,
	}
	if diff := cmp.Diff([]Question{want}, h.asked); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	got := read[AdviceAnswer](t, w)
	wantAnswer := AdviceAnswer{
		Decision: "wait", SubmitAt: "2026-03-01T13:00:00Z", Reason: "Wait 1 h.", Policy: "planner", Prefer: "no-gap",
		Basis: Basis{
			Cluster: "ls6", Source: "scheduler", DataAt: "2026-03-01T11:59:56Z", DataAge: 4, Running: 3, Pending: 7, Forecaster: "recent",
			Wait: []Quantile{{0.1, 4320}, {0.25, 5400}, {0.5, 7200}, {0.75, 12600}, {0.9, 15840}, {0.95, 16920}},
		},
		Remaining: 32400, StartsBeforeEnd: 1, Overlap: 22800,
		Alternatives: []AlternativeAnswer{{"2026-03-01T12:00:00Z", 0, 3600, 1, 0.25, "recent"}},
	}
	if diff := cmp.Diff(wantAnswer, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestAQuestionThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want string // in the problem
	}{
		"no nodes":             {`{"nodes":0,"time_limit":"1h","remaining":"1h"}`, "body.nodes"},
		"no limit":             {`{"nodes":1,"remaining":"1h"}`, "time_limit"},
		"a limit that is none": {`{"nodes":1,"time_limit":"soon","remaining":"1h"}`, "time_limit"},
		"endless":              {`{"nodes":1,"time_limit":"1h","remaining":"UNLIMITED"}`, "never ends"},
		"no end":               {`{"nodes":1,"time_limit":"1h"}`, "either predecessor_job or remaining"},
		"two ends":             {`{"nodes":1,"time_limit":"1h","remaining":"1h","predecessor_job":"7"}`, "either predecessor_job or remaining"},
		"a job that is none":   {`{"nodes":1,"time_limit":"1h","predecessor_job":"seven"}`, "predecessor_job"},
		"a preference":         {`{"nodes":1,"time_limit":"1h","remaining":"1h","prefer":"speed"}`, "no-gap"},
		"no JSON":              {`nodes=1`, "body"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := call{secret: adaReads, what: "POST /v1/advice", body: tt.body}.answers(t, newHouse().serve(t, Limits{}))
			if w.Code/100 != 4 || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("%d %s, want what is wrong with %q", w.Code, w.Body, tt.want)
			}
		})
	}
}

func TestListsComePageByPage(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	var got []string
	cursor := ""
	for range 4 {
		w := call{secret: operates, what: "GET /v1/chains?limit=1&cursor=" + cursor}.answers(t, a)
		page := read[struct {
			Chains []ChainAnswer
			Next   string
		}](t, w)
		for _, c := range page.Chains {
			got = append(got, c.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"ada1", "ada2", "bob1"}, got); diff != "" {
		t.Errorf("chains (-want +got):\n%s", diff)
	}
}

func TestDecisionsComePageByPage(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	var got []int
	for cursor := ""; len(got) < 4; {
		w := call{secret: adaReads, what: "GET /v1/chains/ada1/decisions?limit=1&cursor=" + cursor}.answers(t, a)
		page := read[struct {
			Decisions []DecisionAnswer
			Next      string
		}](t, w)
		for _, d := range page.Decisions {
			got = append(got, d.Attempt)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]int{3, 2, 1}, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	for _, cursor := range []string{"x", cursorOf(t0, "ada1")} {
		if w := (call{secret: adaReads, what: "GET /v1/chains/ada1/decisions?cursor=" + cursor}).answers(t, a); w.Code != 422 {
			t.Errorf("a cursor of something else: %d, want 422", w.Code)
		}
	}
}

func TestAWriteIsDoneOnceAndNoted(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	pause := call{secret: adaWrites, what: "POST /v1/chains/ada1/pause", header: []string{"Idempotency-Key: k1"}}
	first := pause.answers(t, a)
	second := pause.answers(t, a)
	if first.Code != 200 || second.Code != 200 || second.Body.String() != first.Body.String() || second.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("first %d %s\nthen %d %s\nwant the same twice", first.Code, first.Body, second.Code, second.Body)
	}
	other := pause
	other.what = "POST /v1/chains/ada2/pause"
	if w := other.answers(t, a); w.Code != 422 {
		t.Errorf("the key of another request: %d, want 422", w.Code)
	}
	long := pause
	long.header = []string{"Idempotency-Key: " + strings.Repeat("k", maxKey+1)}
	if w := long.answers(t, a); w.Code != 422 {
		t.Errorf("a key that is too long: %d, want 422", w.Code)
	}
	theirs := pause
	theirs.secret, theirs.what = bobWrites, "POST /v1/chains/bob1/pause"
	if w := theirs.answers(t, a); w.Code != 200 {
		t.Errorf("the same key of another user: %d, want 200", w.Code)
	}
	without := pause
	without.header = nil
	if w := without.answers(t, a); w.Code != 409 {
		t.Errorf("again without a key: %d, want 409", w.Code)
	}
	want := []AuditLine{
		{ID: "id001", At: t0, User: "ada", Via: "token t2", Action: "pause-chain", Object: "ada1", Status: 200},
		{ID: "id002", At: t0, User: "bob", Via: "token t3", Action: "pause-chain", Object: "bob1", Status: 200},
		{
			ID: "id003", At: t0, User: "ada", Via: "token t2", Action: "pause-chain", Object: "ada1", Status: 409,
			Detail: "chain ada1 is paused already. Paused by its user.",
		},
	}
	if diff := cmp.Diff(want, h.audit); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}

func TestAWriteThatFailedMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	imports := call{secret: operates, what: "POST /v1/histories/ls6/import", body: "jobs", header: []string{"Idempotency-Key: k1"}}
	h.broken = segue.Errorf(segue.Unavailable, "no answer")
	if w := imports.answers(t, a); w.Code != 503 {
		t.Fatalf("status is %d, want 503: without its line in the audit log nothing is changed", w.Code)
	}
	if len(h.imports) > 0 {
		t.Error("it is changed all the same")
	}
	h.broken = nil
	if w := imports.answers(t, a); w.Code != 200 {
		t.Errorf("status is %d, want 200: %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]string{"ls6 auto jobs"}, h.imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
}

func TestARequestThatIsWorkedOnIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/chains/ada1/pause", strings.NewReader(""))
	h.answers["adak1"] = Answer{Owner: "ada", Key: "k1", Fingerprint: fingerprint(r)}
	w := call{secret: adaWrites, what: "POST /v1/chains/ada1/pause", header: []string{"Idempotency-Key: k1"}}.answers(t, a)
	if w.Code != 409 || len(h.audit) > 0 {
		t.Errorf("%d with %d lines of the audit log, want 409 and none", w.Code, len(h.audit))
	}
}

// The store is gone when a write has been made, so that its answer cannot be kept:
// whoever asks again gets it all the same, once the store is back.
func TestAnAnswerThatTheStoreMissedIsGivenAgain(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	pause := call{secret: adaWrites, what: "POST /v1/chains/ada1/pause", header: []string{"Idempotency-Key: k1"}}
	h.deaf = segue.Errorf(segue.Unavailable, "no answer")
	first := pause.answers(t, a)
	if first.Code != 200 {
		t.Fatalf("status is %d, want 200: %s", first.Code, first.Body)
	}
	if w := pause.answers(t, a); w.Code != 503 {
		t.Errorf("while the store is gone %d, want 503: %s", w.Code, w.Body)
	}
	h.deaf = nil
	again := pause.answers(t, a)
	if again.Code != 200 || again.Body.String() != first.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("when it is back %d %s, want the first answer: %s", again.Code, again.Body, first.Body)
	}
	if len(h.audit) != 1 {
		t.Errorf("%d lines of the audit log, want 1", len(h.audit))
	}
}

func TestAKnownPathSaysWhichMethodsItAnswers(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	for what, want := range map[string]string{
		"DELETE /v1/chains/ada1":     "405 GET, HEAD, PUT",
		"GET /v1/chains/ada1/pause":  "405 POST",
		"GET /v1/advice":             "405 POST",
		"POST /metrics":              "405 GET, HEAD",
		"POST /healthz":              "405 GET, HEAD",
		"GET /v1/chains/ada1/resize": "404 ",
		"BREW /v1/nothing":           "404 ",
	} {
		w := call{secret: operates, what: what}.answers(t, a)
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("Allow")); got != want {
			t.Errorf("%s: %s, want %s: %s", what, got, want, w.Body)
		}
	}
	if w := (call{what: "DELETE /v1/chains/ada1"}).answers(t, a); w.Code != 401 {
		t.Errorf("of a stranger: %d, want 401", w.Code)
	}
}

func TestReadinessTellsWhatIsMissing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		checks []Check
		want   int
	}{
		"all is well":            {[]Check{{"store", true, "answers", true}, {"loops", true, "leads", false}}, 200},
		"the store is gone":      {[]Check{{"store", false, "does not answer", true}}, 503},
		"what it can do without": {[]Check{{"store", true, "answers", true}, {"scheduler", false, "does not answer", false}}, 200},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			h.checks = tt.checks
			a := h.serve(t, Limits{})
			w := call{what: "GET /readyz"}.answers(t, a)
			got := read[struct {
				Ready  bool
				Checks []Check
			}](t, w)
			if diff := cmp.Diff(tt.checks, got.Checks); diff != "" || w.Code != tt.want || got.Ready != (tt.want == 200) {
				t.Errorf("%d, ready %t, want %d; checks (-want +got):\n%s", w.Code, got.Ready, tt.want, diff)
			}
			if w := (call{what: "GET /healthz"}).answers(t, a); w.Code != 200 {
				t.Errorf("the process lives: %d, want 200", w.Code)
			}
		})
	}
}

func TestChangesAreFollowed(t *testing.T) {
	t.Parallel()
	h := newHouse()
	server := httptest.NewServer(h.serve(t, Limits{}))
	defer server.Close()
	theirs, own := h.chains[2], h.chains[0]
	own.State = segue.ChainPaused
	link := segue.Link{Chain: own.ID, Number: 2, Attempt: 1, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime}
	lines, stop := follow(t, server, adaReads, "0")
	if got := next(t, lines); got != "heartbeat {\"at\":\"2026-03-01T12:00:00Z\"}" {
		t.Errorf("it begins with %q", got)
	}
	h.feed.Publish(Event{At: t0, Chain: theirs}, Event{At: t0, Chain: own}, Event{At: t0, Chain: own, Link: &link})
	if got := next(t, lines); !strings.HasPrefix(got, "2 chain ") || !strings.Contains(got, `"paused"`) {
		t.Errorf("then %q, want the second event: the first is another's", got)
	}
	if got := next(t, lines); !strings.HasPrefix(got, "3 link ") || !strings.Contains(got, `"chain":"ada1"`) {
		t.Errorf("then %q, want the third event", got)
	}
	stop()
	lines, stop = follow(t, server, adaReads, "2")
	defer stop()
	next(t, lines) // the heartbeat
	if got := next(t, lines); !strings.HasPrefix(got, "3 link ") {
		t.Errorf("after the second %q, want the third event", got)
	}
	h.feed.Close()
	if lines.Scan() {
		t.Errorf("after the end %q", lines.Text())
	}
}

func TestAFollowerWhoDoesNotReadIsLetGo(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	_, events, leave := f.follow(0)
	defer leave()
	for range behind + 1 {
		f.Publish(Event{At: t0})
	}
	n := 0
	for range events {
		n++
	}
	if n != behind {
		t.Errorf("%d events before the end, want %d", n, behind)
	}
	missed, _, _ := f.follow(behind)
	if len(missed) != 1 {
		t.Errorf("%d events were missed, want 1", len(missed))
	}
}

// follow follows the events of a server, until stop.
func follow(t *testing.T, server *httptest.Server, secret, last string) (lines *bufio.Scanner, stop context.CancelFunc) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r := httptest.NewRequestWithContext(ctx, "GET", server.URL+"/v1/events", nil)
	r.RequestURI = ""
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Last-Event-ID", last)
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	return bufio.NewScanner(answer.Body), stop
}

// next returns the next event: "ID kind data".
func next(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	var parts []string
	for lines.Scan() {
		if lines.Text() == "" {
			return strings.Join(parts, " ")
		}
		_, value, _ := strings.Cut(lines.Text(), ": ")
		parts = append(parts, value)
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
	return ""
}

func TestMetricsCountWhatIsAsked(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	for _, c := range []call{
		{secret: adaReads, what: "POST /v1/advice", body: anAdvice},
		{secret: adaReads, what: "GET /v1/chains/bob1"},
	} {
		c.answers(t, a)
	}
	text := call{secret: adaReads, what: "GET /metrics"}.answers(t, a).Body.String()
	for _, want := range []string{
		`segue_http_requests_total{code="200",operation="advise"} 1`,
		`segue_http_requests_total{code="404",operation="get-chain"} 1`,
		`segue_advices_total{decision="wait"} 1`,
		`segue_advice_duration_seconds_count 1`,
		`segue_http_requests_in_flight 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}
