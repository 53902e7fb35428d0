package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/segue-project/segue"
)

// Limits bound what requests may take. Zero fields are the defaults.
type Limits struct {
	// Body is how many bytes a request may have; default 1 MiB. Import is how many
	// a history may have; default 4 GiB.
	Body, Import int64
	// Time is how long an answer may take; default 30 seconds. ImportTime is how
	// long an import may; default an hour.
	Time, ImportTime time.Duration
	// Concurrent is how many requests are worked on at once, beside those for
	// metrics; default 256. Beyond them the answer is 503, to be tried again in a
	// second.
	Concurrent int
	// Rate is how many requests a second are worked on, over all callers; 0 is no
	// bound. Beyond it the answer is 503 as well. As many may come at once as come in
	// a tenth of a second.
	Rate int
	// Streams is how many clients may follow the events; default 100. Imports is
	// how many histories may come in at once; default 2.
	Streams, Imports int
}

// WithDefaults returns the limits with the defaults of what was not asked for.
func (l Limits) WithDefaults() Limits {
	if l.Body == 0 {
		l.Body = 1 << 20
	}
	if l.Import == 0 {
		l.Import = 4 << 30
	}
	if l.Time == 0 {
		l.Time = 30 * time.Second
	}
	if l.ImportTime == 0 {
		l.ImportTime = time.Hour
	}
	if l.Concurrent == 0 {
		l.Concurrent = 256
	}
	if l.Streams == 0 {
		l.Streams = 100
	}
	if l.Imports == 0 {
		l.Imports = 2
	}
	return l
}

// Validate refuses limits under which nothing could be done.
func (l Limits) Validate() error {
	switch {
	case l.Body < 0 || l.Import < 0:
		return segue.Errorf(segue.Invalid, "limits: %d bytes of a request, %d of a history; want more than 0", l.Body, l.Import)
	case l.Time < 0 || l.ImportTime < 0:
		return segue.Errorf(segue.Invalid, "limits: %s for an answer, %s for an import; want more than 0", l.Time, l.ImportTime)
	case l.Concurrent < 0 || l.Streams < 0 || l.Imports < 0:
		return segue.Errorf(segue.Invalid, "limits: %d requests, %d streams, %d imports at once; want more than 0", l.Concurrent, l.Streams, l.Imports)
	case l.Rate < 0:
		return segue.Errorf(segue.Invalid, "limits: %d requests a second; want more than 0, or 0 for no bound", l.Rate)
	}
	return nil
}

// places are how many may do something at once.
type places struct{ taken chan struct{} }

func newPlaces(n int) places { return places{make(chan struct{}, n)} }

// enter takes a place if there is one; leave gives it back.
func (p places) enter() (leave func(), ok bool) {
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken }, true
	default:
		return nil, false
	}
}

// tooMany is the answer where there is no place.
func tooMany(detail string) *Problem {
	p := overloaded.problem(detail)
	p.retryAfter = 1
	return p
}

// metricsPath is where metrics are, and scrapes is how many may ask for them at once.
const (
	metricsPath = "/metrics"
	scrapes     = 8
)

// bound lets as many requests through as may be worked on at once, for as long as
// an answer may take. What lasts, streams and imports, has places of its own, and so
// have metrics, which tell of a server that has too much to do.
func (a *API) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limits := a.limits.Load()
		places, rate, most, size, what := limits.requests, limits.rate, limits.Time, limits.Body, "requests"
		switch {
		case r.URL.Path == eventsPath:
			places, most, what = limits.streams, 0, "streams of events"
		case isImport(r):
			places, most, size, what = limits.imports, limits.ImportTime, limits.Import, "imports"
		case isHandOver(r):
			size = max(size, maxChain)
		case r.URL.Path == metricsPath:
			places, rate, what = limits.scrapes, newBucket(0), "scrapes"
		}
		leave, ok := places.enter()
		if !ok {
			a.metrics.shed.Inc()
			tooMany("too many " + what + " at once").write(w)
			return
		}
		if !rate.take(a.cfg.Now()) {
			leave()
			a.metrics.shed.Inc()
			tooMany("too many requests a second").write(w)
			return
		}
		defer leave()
		ctx := r.Context()
		if most > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, most)
			defer cancel()
			defer a.deadline(w, most)()
		}
		// The server's own request keeps its body: by it net/http knows whether somebody
		// who waits for 100 Continue is to send at all.
		bounded := r.WithContext(ctx)
		bounded.Body = http.MaxBytesReader(w, r.Body, size)
		next.ServeHTTP(w, bounded)
	})
}

// maxChain is how large a chain may be that is handed over, where Limits.Body is less:
// sbatch takes scripts of 4 MiB (max_script_size), which are in base64 here.
const maxChain = 8 << 20

// isHandOver reports whether a request hands a chain over.
func isHandOver(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/v1/chains/")
}

// isImport reports whether a request brings a history.
func isImport(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/v1/histories/") && strings.HasSuffix(r.URL.Path, "/import")
}

// deadline keeps a client that reads or writes no more from holding its place. lift
// ends it: the connection serves other requests afterwards.
func (a *API) deadline(w http.ResponseWriter, most time.Duration) (lift func()) {
	at := a.cfg.Now().Add(most).Std()
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(at) // a test's recorder has none
	_ = c.SetWriteDeadline(at.Add(settling))
	return func() {
		_ = c.SetReadDeadline(time.Time{})
		_ = c.SetWriteDeadline(time.Time{})
	}
}

// tooLarge returns the problem of a body that is larger than allowed, or the error
// as it is.
func tooLarge(err error) error {
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Problem{
			Type: "urn:segue:problem:too-large", Title: "The request is too large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("want at most %d bytes", over.Limit),
		}
	}
	return err
}

// inForce are limits with the places that they make.
type inForce struct {
	Limits
	requests, streams, imports, scrapes places
	rate                                *bucket
}

// bucket fills with time, and a request takes one from it.
type bucket struct {
	rate, size float64 // a second, and at most; 0 for no bound

	mu   sync.Mutex
	have float64
	at   segue.Time
}

func newBucket(rate int) *bucket {
	size := max(float64(rate)/10, 1)
	return &bucket{rate: float64(rate), size: size, have: size, at: segue.NoTime}
}

// take takes one if there is one.
func (b *bucket) take(now segue.Time) bool {
	if b.rate == 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.Sub(now) > time.Second { // the clock was set back: nothing would come in until it is as late again
		b.at = now
	}
	if b.at.Known() && now > b.at {
		b.have = min(b.size, b.have+b.rate*now.Sub(b.at).Seconds())
	}
	if !b.at.Known() || now > b.at {
		b.at = now
	}
	if b.have < 1 {
		return false
	}
	b.have--
	return true
}

func enforce(l Limits) *inForce {
	l = l.WithDefaults()
	return &inForce{
		Limits: l, requests: newPlaces(l.Concurrent), streams: newPlaces(l.Streams), imports: newPlaces(l.Imports), scrapes: newPlaces(scrapes),
		rate: newBucket(l.Rate),
	}
}

// SetLimits changes the limits for the requests to come.
func (a *API) SetLimits(l Limits) error {
	if err := l.Validate(); err != nil {
		return err
	}
	a.limits.Store(enforce(l))
	return nil
}
