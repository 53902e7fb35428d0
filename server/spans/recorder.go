package spans

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/segue-project/segue"
)

// Config says where spans go. Endpoint is required. The library reads more of the
// environment: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, and OTEL_EXPORTER_OTLP_
// HEADERS, TIMEOUT, COMPRESSION and CERTIFICATE.
type Config struct {
	// Endpoint is the base URL of the collector's OTLP over HTTP:
	// http://localhost:4318, to which /v1/traces is added.
	Endpoint string
	// Version is the program's.
	Version string
	// Ratio is which part of the traces is recorded that begin here: a caller that has
	// a trace decides itself. 0 leaves it to OTEL_TRACES_SAMPLER; default all.
	Ratio float64
	Log   *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return segue.Errorf(segue.Invalid, "tell a collector of spans: endpoint %q: want http://HOST:PORT or https://...", c.Endpoint)
	case !(c.Ratio >= 0 && c.Ratio <= 1):
		return segue.Errorf(segue.Invalid, "tell a collector of spans: ratio %g: want 0 to 1", c.Ratio)
	}
	return nil
}

// ending is how long the last spans may take once a server is told to end.
const ending = 3 * time.Second

// Recorder records spans and tells the collector of them. A nil one does neither.
type Recorder struct {
	provider *sdk.TracerProvider
	courier  *courier
	log      *slog.Logger
}

// New returns a recorder, which works in the background until Close.
func New(cfg Config) (*Recorder, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	ctx := context.Background()        // nothing is asked of the collector yet
	base, _ := url.Parse(cfg.Endpoint) // it is checked
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(base.JoinPath("v1/traces").String()))
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "tell a collector of spans: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("segue"), semconv.ServiceVersion(cfg.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil { // it has the rest
		cfg.Log.Warn("OTEL_RESOURCE_ATTRIBUTES is not understood", "error", err)
	}
	c := newCourier(exporter, cfg.Log)
	options := []sdk.TracerProviderOption{sdk.WithResource(about), sdk.WithSpanProcessor(c)}
	if cfg.Ratio > 0 {
		options = append(options, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.Ratio))))
	}
	return &Recorder{provider: sdk.NewTracerProvider(options...), courier: c, log: cfg.Log}, nil
}

// Tracer starts spans.
func (r *Recorder) Tracer() trace.Tracer {
	if r == nil {
		return noop.NewTracerProvider().Tracer("")
	}
	return r.provider.Tracer("github.com/segue-project/segue")
}

// Lost returns how many spans the collector will never hear of. A batch of which it
// took a part only counts as lost.
func (r *Recorder) Lost() int64 { return r.courier.lost.Load() }

// Close tells what is left, for three seconds at most, even where ctx has ended. What
// ends after it is not told.
func (r *Recorder) Close(ctx context.Context) {
	if r == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
	defer cancel()
	if err := r.provider.Shutdown(ctx); err != nil {
		r.log.Warn("the collector did not take the last spans in time", "error", err)
		_ = r.courier.exporter.Shutdown(ctx) // ends what is still being sent
	}
}
