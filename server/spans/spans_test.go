package spans

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/segue-project/segue"
)

// collector is one that keeps what it is told.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	said   []*tracepb.ResourceSpans
	header http.Header
	wait   chan struct{} // it answers once this is closed
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{status: http.StatusOK, wait: make(chan struct{})}
	close(c.wait)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var said collectorpb.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(text, &said) != nil {
			t.Errorf("%s %s: %v: %q", r.Method, r.URL.Path, err, text)
		}
		c.mu.Lock()
		c.said, c.header = append(c.said, said.GetResourceSpans()...), r.Header
		status, wait := c.status, c.wait
		c.mu.Unlock()
		<-wait
		w.WriteHeader(status)
	}))
	t.Cleanup(c.Close)
	return c
}

// answer changes what it answers from now on.
func (c *collector) answer(status int, wait chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status, c.wait = status, wait
}

// told is what matters of a span.
type told struct {
	Trace, ID, Parent string
	Kind              tracepb.Span_SpanKind
	Failed            bool
	Why               string
	Attributes        map[string]string
}

// spans returns the spans by name, with the attributes that documents name.
func (c *collector) spans(t *testing.T) map[string]told {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]told{}
	for _, said := range c.said {
		for _, scope := range said.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				if s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() || len(s.GetSpanId()) != 8 {
					t.Errorf("%s has the number %x and ends before it starts: %v", s.GetName(), s.GetSpanId(), s)
				}
				all[s.GetName()] = told{
					Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()), Kind: s.GetKind(),
					Failed: s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, Why: s.GetStatus().GetMessage(),
					Attributes: texts(s.GetAttributes(), "http.request.method", "http.route", "url.path", "http.response.status_code"),
				}
			}
		}
	}
	return all
}

// texts returns the values of some attributes as texts.
func texts(all []*commonpb.KeyValue, names ...string) map[string]string {
	some := map[string]string{}
	for _, a := range all {
		for _, name := range names {
			if a.GetKey() != name {
				continue
			}
			some[name] = a.GetValue().GetStringValue()
			if n, ok := a.GetValue().GetValue().(*commonpb.AnyValue_IntValue); ok {
				some[name] = http.StatusText(int(n.IntValue))
			}
		}
	}
	return some
}

func newRecorder(t *testing.T, c *collector, ratio float64) *Recorder {
	t.Helper()
	r, err := New(Config{Endpoint: c.URL + "/", Version: "1", Ratio: ratio, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	return r
}

const (
	tracedBefore = "4bf92f3577b34da6a3ce929d0e0e4736"
	caller       = "00-" + tracedBefore + "-00f067aa0ba902b7-01"
)

// A request is a span of its caller's trace, and what is done for it a child.
func TestARequestIsASpanOfItsCaller(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	r := newRecorder(t, c, 1)
	handler := r.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/healthz" {
			return
		}
		_, span := r.Tracer().Start(req.Context(), "work")
		span.SetStatus(codes.Error, "a test")
		span.End()
		w.WriteHeader(http.StatusServiceUnavailable)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("a stream: %v", err)
		}
	}), func(string) string { return "/v1/chains/{id}" })
	for _, path := range []string{"/v1/chains/k3v9q2", "/healthz"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		req.Header.Set("traceparent", caller)
		handler.ServeHTTP(httptest.NewRecorder(), req)
	}
	r.Close(t.Context())
	got := c.spans(t)
	const request = "GET /v1/chains/{id}"
	want := map[string]told{
		"work": {
			Trace: tracedBefore, ID: got["work"].ID, Parent: got[request].ID, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
			Failed: true, Why: "a test", Attributes: map[string]string{},
		},
		request: {
			Trace: tracedBefore, ID: got[request].ID, Parent: "00f067aa0ba902b7", Kind: tracepb.Span_SPAN_KIND_SERVER, Failed: true,
			Attributes: map[string]string{
				"http.request.method": "GET", "http.route": "/v1/chains/{id}", "url.path": "/v1/chains/k3v9q2", "http.response.status_code": "Service Unavailable",
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
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
		"recorded by the caller": {caller, 1e-9, 2},
		"not by the caller":      {strings.TrimSuffix(caller, "1") + "0", 1, 0},
		"of nobody":              {"", 1, 2},
		"of nobody, by default":  {"", 0, 2},
		"of nobody, hardly ever": {"", 1e-9, 0},
		"of one who talks rot":   {"00-xyz", 1, 2},
		"of one in capitals":     {strings.ToUpper(caller), 1e-9, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			r := newRecorder(t, c, tt.ratio)
			ctx := propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{"traceparent": tt.header})
			ctx, span := r.Tracer().Start(ctx, "a")
			_, child := r.Tracer().Start(ctx, "b")
			child.End()
			span.End()
			r.Close(t.Context())
			if got := len(c.spans(t)); got != tt.want {
				t.Errorf("%d spans are told, want %d", got, tt.want)
			}
		})
	}
}

// The variables that docs/operator.md names.
func TestTheEnvironmentNamesTheServiceAndLetsIn(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20x,a=b")
	t.Setenv("OTEL_SERVICE_NAME", "segue-north")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off") // the ratio counts before it
	c := newCollector(t)
	r := newRecorder(t, c, 1)
	_, span := r.Tracer().Start(t.Context(), "a")
	span.End()
	r.Close(t.Context())
	if len(c.said) != 1 {
		t.Fatalf("told %d times, want once", len(c.said))
	}
	got := texts(c.said[0].GetResource().GetAttributes(), "service.name", "service.version", "deployment.environment.name")
	want := map[string]string{"service.name": "segue-north", "service.version": "1", "deployment.environment.name": "test"}
	if diff := cmp.Diff(want, got); diff != "" || c.header.Get("Authorization") != "Bearer x" || c.header.Get("A") != "b" {
		t.Errorf("with %v, of (-want +got):\n%s", c.header, diff)
	}
}

// Spans that the collector does not take, or that are too many for it, are counted;
// what is recorded waits for nobody.
func TestSpansThatNobodyTakesAreCounted(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	hanging := make(chan struct{})
	c.answer(http.StatusBadRequest, hanging)
	r := newRecorder(t, c, 1)
	for range mostWaiting + 3 {
		_, span := r.Tracer().Start(t.Context(), "a")
		span.End()
	}
	if r.Lost() != 3 {
		t.Errorf("%d are lost while the collector hangs, want 3", r.Lost())
	}
	close(hanging)
	r.Close(t.Context())
	if want := int64(mostWaiting + 3); r.Lost() != want {
		t.Errorf("%d are lost in the end, want %d", r.Lost(), want)
	}
}

// The log has a line when an outage begins and one when it ends.
func TestAnOutageIsLoggedOnce(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	var text bytes.Buffer
	r, err := New(Config{Endpoint: c.URL, Log: slog.New(slog.NewTextHandler(&text, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusOK, http.StatusOK} {
		c.answer(status, c.wait)
		_, span := r.Tracer().Start(t.Context(), "a")
		span.End()
		if err := r.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.Close(t.Context())
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "400 Bad Request") || !strings.Contains(lines[1], "lost=2") {
		t.Errorf("the log is %q, want that spans are lost (400), and then that two were", lines)
	}
}

// deaf is an exporter that hangs until it is shut down.
type deaf struct {
	once sync.Once
	over chan struct{}
}

func (d *deaf) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	<-d.over
	return context.Canceled
}

func (d *deaf) Shutdown(context.Context) error {
	d.once.Do(func() { close(d.over) })
	return nil
}

// A collector that hangs makes the end of a server later by a few seconds only.
func TestTheEndWaitsSecondsOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCourier(&deaf{over: make(chan struct{})}, slog.New(slog.DiscardHandler))
		r := &Recorder{provider: sdk.NewTracerProvider(sdk.WithSpanProcessor(c)), courier: c, log: slog.New(slog.DiscardHandler)}
		_, span := r.Tracer().Start(t.Context(), "a")
		span.End()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		r.Close(ctx)
		if took := time.Since(start); took != ending {
			t.Errorf("it takes %s, want %s", took, ending)
		}
		synctest.Wait()
		if r.Lost() != 1 {
			t.Errorf("%d are lost, want the one", r.Lost())
		}
	})
}

func TestWithoutARecorderNothingIsRecorded(t *testing.T) {
	t.Parallel()
	var none *Recorder
	_, span := none.Tracer().Start(t.Context(), "a")
	if span.IsRecording() {
		t.Error("it is recorded")
	}
	span.End()
	none.Close(t.Context())
}

func TestWhatIsNoCollectorIsRefused(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"no address":     {},
		"no scheme":      {Endpoint: "localhost:4318"},
		"another scheme": {Endpoint: "grpc://localhost:4317"},
		"too much":       {Endpoint: "http://localhost:4318", Ratio: 1.1},
		"too little":     {Endpoint: "http://localhost:4318", Ratio: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(cfg); segue.KindOf(err) != segue.Invalid {
				t.Errorf("the error is %v, want one of kind invalid", err)
			}
		})
	}
}
