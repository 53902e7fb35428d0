package spans

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/segue-project/segue"
)

// Config says where spans go. Endpoint and Now are required.
type Config struct {
	// Endpoint is the base URL of the collector's OTLP over HTTP:
	// http://localhost:4318, to which /v1/traces is added.
	Endpoint string
	// Headers are sent along, such as one that lets in.
	Headers map[string]string
	// Service names the server; default "segue". Version is the program's.
	Service, Version string
	// Ratio is which part of the requests is recorded that come without a trace of
	// their caller, which decides otherwise; default 1.
	Ratio float64
	// Every is how long spans wait for others at most; default 5 seconds.
	Every time.Duration
	Now   func() segue.Time
	// HTTP sends the spans; default a client with a limit of 10 seconds.
	HTTP *http.Client
	Log  *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Service == "" {
		c.Service = "segue"
	}
	if c.Ratio == 0 {
		c.Ratio = 1
	}
	if c.Every == 0 {
		c.Every = 5 * time.Second
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Endpoint == "" || c.Now == nil:
		return segue.Errorf(segue.Invalid, "spans: Endpoint and Now are required")
	case c.Ratio < 0 || c.Ratio > 1:
		return segue.Errorf(segue.Invalid, "spans: a ratio of %g, want 0 to 1", c.Ratio)
	case c.Every < 0:
		return segue.Errorf(segue.Invalid, "spans: told every %s, want more than 0", c.Every)
	}
	return nil
}

// mostWaiting bounds how many spans wait to be told.
const mostWaiting = 4096

// Recorder records spans until Run tells them. A nil one records nothing.
type Recorder struct {
	cfg Config

	mu      sync.Mutex
	waiting []*Span
	lost    int64
}

// New returns a recorder, which tells nothing before Run.
func New(cfg Config) (*Recorder, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Recorder{cfg: cfg}, nil
}

// Kind is what a span is about; the numbers are OTLP's.
type Kind int

// The kinds that there are.
const (
	Internal Kind = 1
	Server   Kind = 2
)

// Span is a piece of work. It is for one goroutine, until it ends.
type Span struct {
	recorder   *Recorder
	trace      [16]byte
	id, parent [8]byte
	name       string
	kind       Kind
	start, end segue.Time
	attributes []attribute
	failed     string
}

type attribute struct {
	key   string
	value any // string, int or bool
}

type contextKey struct{}

// parent is what a context knows of the span that it belongs to.
type parent struct {
	trace   [16]byte
	id      [8]byte
	sampled bool
}

// Start begins a span, as a child of the context's if it has one. It may be nil,
// which does nothing: that of a trace which is not recorded.
func (r *Recorder) Start(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	if r == nil {
		return ctx, nil
	}
	p, ok := ctx.Value(contextKey{}).(parent)
	if !ok {
		p.sampled = r.lucky()
		fill(p.trace[:])
	}
	if !p.sampled {
		return context.WithValue(ctx, contextKey{}, p), nil // its children are not either
	}
	s := &Span{recorder: r, trace: p.trace, parent: p.id, name: name, kind: kind, start: r.cfg.Now()}
	fill(s.id[:])
	return context.WithValue(ctx, contextKey{}, parent{s.trace, s.id, true}), s
}

// lucky reports whether a trace that begins here is recorded.
func (r *Recorder) lucky() bool {
	const parts = 1 << 30
	n, err := rand.Int(rand.Reader, big.NewInt(parts))
	return err == nil && float64(n.Int64()) < r.cfg.Ratio*parts
}

func fill(id []byte) { _, _ = rand.Read(id) } // it never fails

// Set notes something about the work: a text, a whole number or a truth.
func (s *Span) Set(key string, value any) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{key, value})
	}
}

// Fail notes that the work failed.
func (s *Span) Fail(why string) {
	if s != nil {
		s.failed = why
	}
}

// End ends the span, which is told soon.
func (s *Span) End() {
	if s == nil {
		return
	}
	r := s.recorder
	s.end = max(s.start, r.cfg.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) >= mostWaiting {
		r.lost++
		return
	}
	r.waiting = append(r.waiting, s)
}

// Lost returns how many spans the collector will never hear of.
func (r *Recorder) Lost() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}
