package spans

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

var t0 = segue.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// collector is one that keeps what it is told.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	said   []request
	header http.Header
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{status: http.StatusOK}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		text, err := io.ReadAll(r.Body)
		var said request
		if err != nil || r.URL.Path != "/v1/traces" || json.Unmarshal(text, &said) != nil {
			t.Errorf("%s %s: %v: %s", r.Method, r.URL.Path, err, text)
		}
		c.said, c.header = append(c.said, said), r.Header
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) spans() []exported {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []exported
	for _, said := range c.said {
		all = append(all, said.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	return all
}

func newRecorder(t *testing.T, c *collector, ratio float64) *Recorder {
	t.Helper()
	now := t0
	r, err := New(Config{
		Endpoint: c.URL + "/", Headers: map[string]string{"Authorization": "Bearer x"}, Version: "1", Ratio: ratio, Log: slog.New(slog.DiscardHandler),
		Now: func() segue.Time { now = now.Add(time.Millisecond); return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// A request is a span of its caller's trace, and what is done for it a child.
func TestARequestIsASpanOfItsCaller(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	r := newRecorder(t, c, 1)
	handler := r.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/healthz" {
			return
		}
		_, span := r.Start(req.Context(), "work", Internal)
		span.Set("replicas", 100)
		span.Set("model", "m-1")
		span.Set("known", true)
		span.End()
		w.WriteHeader(http.StatusServiceUnavailable)
	}), func(string) string { return "/v1/chains/{id}" })
	for _, path := range []string{"/v1/chains/k3v9q2", "/healthz"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		req.Header.Set("traceparent", caller)
		handler.ServeHTTP(httptest.NewRecorder(), req)
	}
	r.tellAll(t.Context())
	got := c.spans()
	if len(got) != 2 || got[0].Parent != got[1].ID {
		t.Fatalf("told of %+v, want a request and what was done for it", got)
	}
	value := func(kind string, v any) map[string]any { return map[string]any{kind: v} }
	want := []exported{
		{
			Trace: "4bf92f3577b34da6a3ce929d0e0e4736", ID: got[0].ID, Parent: got[1].ID, Name: "work", Kind: Internal,
			Start: nanoseconds(t0.Add(2 * time.Millisecond)), End: nanoseconds(t0.Add(3 * time.Millisecond)),
			Attributes: []keyValue{{"replicas", value("intValue", "100")}, {"model", value("stringValue", "m-1")}, {"known", value("boolValue", true)}},
		},
		{
			Trace: "4bf92f3577b34da6a3ce929d0e0e4736", ID: got[1].ID, Parent: "00f067aa0ba902b7", Name: "GET /v1/chains/{id}", Kind: Server,
			Start: nanoseconds(t0.Add(time.Millisecond)), End: nanoseconds(t0.Add(4 * time.Millisecond)),
			Attributes: []keyValue{
				{"http.request.method", value("stringValue", "GET")},
				{"http.route", value("stringValue", "/v1/chains/{id}")},
				{"url.path", value("stringValue", "/v1/chains/k3v9q2")},
				{"http.response.status_code", value("intValue", "503")},
			},
			Status: &status{failed, "Service Unavailable"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	about := []keyValue{{"service.name", value("stringValue", "segue")}, {"service.version", value("stringValue", "1")}}
	if diff := cmp.Diff(about, c.said[0].ResourceSpans[0].Resource.Attributes); diff != "" || c.header.Get("Authorization") != "Bearer x" {
		t.Errorf("with %v, of (-want +got):\n%s", c.header, diff)
	}
}

// The caller decides whether its trace is recorded; where there is none, the ratio.
func TestWhatIsNotSampledIsNotTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header string
		ratio  float64
		want   int
	}{
		"recorded by the caller":  {caller, 1e-9, 1},
		"not by the caller":       {strings.TrimSuffix(caller, "1") + "0", 1, 0},
		"of nobody":               {"", 1, 1},
		"of nobody, hardly ever":  {"", 1e-9, 0},
		"of one who talks rot":    {"00-xyz", 1, 1},
		"of one in capitals":      {strings.ToUpper(caller), 1e-9, 0},
		"of one without a trace":  {"00-00000000000000000000000000000000-00f067aa0ba902b7-01", 1e-9, 0},
		"of one of a new version": {"01" + caller[2:] + "-more", 1e-9, 1},
		"of no version":           {"ff" + caller[2:], 1e-9, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			r := newRecorder(t, c, tt.ratio)
			ctx, span := r.Start(fromCaller(t.Context(), tt.header), "a", Server)
			_, child := r.Start(ctx, "b", Internal)
			child.End()
			span.End()
			r.tellAll(t.Context())
			if got := len(c.spans()); got != 2*tt.want {
				t.Errorf("%d spans are told, want %d", got, 2*tt.want)
			}
		})
	}
}

// A collector that takes nothing, and more spans than may wait, cost spans only.
func TestSpansThatNobodyTakesAreCounted(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	r := newRecorder(t, c, 1)
	for range mostWaiting + 3 {
		_, span := r.Start(t.Context(), "a", Internal)
		span.End()
	}
	if r.Lost() != 3 {
		t.Errorf("%d are lost, want 3", r.Lost())
	}
	c.status = http.StatusBadRequest
	r.tellAll(t.Context())
	if want := int64(mostWaiting + 3); r.Lost() != want || len(c.said) != 1 {
		t.Errorf("%d are lost after %d requests, want %d after one", r.Lost(), len(c.said), want)
	}
	c.status = http.StatusOK
	_, span := r.Start(t.Context(), "late", Internal)
	span.Fail("a test")
	span.End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Run(ctx) // tells what is left
	if got := c.spans(); got[len(got)-1].Name != "late" || got[len(got)-1].Status.Message != "a test" {
		t.Errorf("told of %+v last, want the late one", got[len(got)-1])
	}
}

func TestWithoutARecorderNothingIsRecorded(t *testing.T) {
	t.Parallel()
	var none *Recorder
	ctx, span := none.Start(t.Context(), "a", Internal)
	span.Set("b", 1)
	span.Fail("c")
	span.End()
	if ctx != t.Context() {
		t.Error("the context has changed")
	}
	if _, err := New(Config{}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("without an endpoint %v, want an error of kind invalid", err)
	}
}

func FuzzTraceparent(f *testing.F) {
	f.Add(caller)
	f.Add("00--01")
	f.Fuzz(func(t *testing.T, header string) {
		p, ok := fromCaller(t.Context(), header).Value(contextKey{}).(parent)
		if ok && (p.trace == [16]byte{} || p.id == [8]byte{}) {
			t.Errorf("%q is a trace without a number", header)
		}
	})
}
