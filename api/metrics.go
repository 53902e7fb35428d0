package api

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics count requests. What a server does besides is counted by whoever builds
// it, in the same registry.
type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	advice   prometheus.Histogram
	advices  *prometheus.CounterVec
	working  prometheus.Gauge
	streams  prometheus.Gauge
	shed     prometheus.Counter
}

func newMetrics(r *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "segue_http_requests_total", Help: "Requests that were answered, by operation and status."}, []string{"operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "segue_http_request_duration_seconds", Help: "Time until a request was answered.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		advice: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "segue_advice_duration_seconds", Help: "Time until an advice was known, from memory or not.",
			Buckets: []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}),
		advices: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "segue_advices_total", Help: "Advices that were given, by decision."}, []string{"decision"}),
		working: prometheus.NewGauge(prometheus.GaugeOpts{Name: "segue_http_requests_in_flight", Help: "Requests that are worked on."}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "segue_event_streams", Help: "Clients that follow the events."}),
		shed:    prometheus.NewCounter(prometheus.CounterOpts{Name: "segue_http_requests_shed_total", Help: "Requests that were refused since too many were worked on."}),
	}
	r.MustRegister(m.requests, m.duration, m.advice, m.advices, m.working, m.streams, m.shed)
	return m
}

// measure counts the requests for an operation.
func (a *API) measure(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	rec := &recorder{ResponseWriter: w}
	began := a.cfg.Now()
	a.metrics.working.Inc()
	defer func() {
		a.metrics.working.Dec()
		id := ctx.Operation().OperationID
		a.metrics.requests.WithLabelValues(id, strconv.Itoa(rec.code())).Inc()
		a.metrics.duration.WithLabelValues(id).Observe(a.cfg.Now().Sub(began).Seconds())
	}()
	next(humago.NewContext(ctx.Operation(), r, rec))
}

// recorder is a ResponseWriter that remembers its status, and its body too where
// keep says how much of it; cut says that there was more.
type recorder struct {
	http.ResponseWriter
	status int
	keep   int
	body   bytes.Buffer
	cut    bool
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	room := r.keep - r.body.Len()
	r.body.Write(p[:min(room, len(p))])
	r.cut = r.cut || len(p) > room
	return r.ResponseWriter.Write(p)
}

// SetReadDeadline does nothing: the limit in force counts (see bound), not the one that
// huma was told when the operation was registered.
func (r *recorder) SetReadDeadline(time.Time) error { return nil }

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) code() int {
	if r.status == 0 {
		return http.StatusOK
	}
	return r.status
}
