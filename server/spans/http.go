package spans

import (
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	metrics "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// quiet are paths that somebody asks for every few seconds.
var quiet = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// Handler records a span for each request, with the attributes of OpenTelemetry's
// conventions for HTTP servers. route returns the path of a request without what
// differs from one to the next: /v1/chains/{id}.
func (r *Recorder) Handler(next http.Handler, route func(path string) string) http.Handler {
	if r == nil {
		return next
	}
	routed := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		trace.SpanFromContext(req.Context()).SetAttributes(semconv.HTTPRoute(route(req.URL.Path)))
		next.ServeHTTP(w, req)
	})
	return otelhttp.NewHandler(routed, "",
		otelhttp.WithFilter(func(req *http.Request) bool { return !quiet[req.URL.Path] }),
		otelhttp.WithTracerProvider(r.provider),
		otelhttp.WithMeterProvider(metrics.NewMeterProvider()), // package api counts requests
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(_ string, req *http.Request) string { return req.Method + " " + route(req.URL.Path) }))
}
