package web

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"github.com/segue-project/segue"
)

// Config says how the dashboard works. Now is required.
type Config struct {
	Now func() segue.Time
	// Key seals sessions: 32 bytes. Servers that stand behind one address need the
	// same; default a random one, so that a restart ends all sessions.
	Key []byte
	// Session is how long a login lasts; default 12 hours.
	Session time.Duration
	// Concurrent is how many pages are made at once; default 32. Beyond them the
	// answer is 503.
	Concurrent int
	// Time is how long a page may take; default 10 seconds.
	Time time.Duration
	// Store is the file of the server's store, which the commands that operators are
	// told to type need; "" says that it is on a server, where DATABASE_URL says so.
	Store string
	Log   *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Key == nil {
		c.Key = make([]byte, keySize)
		_, _ = rand.Read(c.Key) // it never fails
	}
	if c.Session == 0 {
		c.Session = 12 * time.Hour
	}
	if c.Concurrent == 0 {
		c.Concurrent = 32
	}
	if c.Time == 0 {
		c.Time = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Now == nil:
		return segue.Errorf(segue.Invalid, "web: Now is required")
	case len(c.Key) != keySize:
		return segue.Errorf(segue.Invalid, "web: the key has %d bytes, want %d", len(c.Key), keySize)
	case c.Session < time.Minute || c.Concurrent < 1 || c.Time < time.Millisecond:
		return segue.Errorf(segue.Invalid, "web: sessions of %s, %d pages at once, %s for each: want at least 1m, 1 and 1ms", c.Session, c.Concurrent, c.Time)
	}
	return nil
}

// Web is the dashboard. It is an http.Handler.
type Web struct {
	services Services
	cfg      Config
	seal     sealer
	handler  http.Handler
}

// New returns the dashboard on top of services.
func New(services Services, cfg Config) (*Web, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	w := &Web{services: services, cfg: cfg}
	var err error
	if w.seal, err = newSealer(cfg.Key); err != nil {
		return nil, err
	}
	w.handler = w.guard(w.pages())
	return w, nil
}

// ServeHTTP implements http.Handler.
func (w *Web) ServeHTTP(rw http.ResponseWriter, r *http.Request) { w.handler.ServeHTTP(rw, r) }

// pages are all addresses of the dashboard. What everybody may see comes first;
// of the rest, operators' pages say so.
func (w *Web) pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /login", w.loginPage)
	mux.HandleFunc("POST /login", w.login)
	mux.HandleFunc("POST /logout", w.logout)

	mux.Handle("GET /{$}", w.page(w.overview))
	mux.Handle("GET /chains", w.page(w.chainList))
	mux.Handle("GET /chains/{id}", w.page(w.chain))
	mux.Handle("GET /chains/{id}/{verb}", w.page(w.confirmChange))
	mux.Handle("POST /chains/{id}/{verb}", w.page(w.change))
	mux.Handle("GET /forecasts", w.page(w.forecasts))
	mux.Handle("GET /models", w.page(w.models))
	mux.Handle("GET /models/promote", w.page(operators(w.confirmPromote)))
	mux.Handle("POST /models/promote", w.page(operators(w.promote)))
	mux.Handle("GET /models/rollback", w.page(operators(w.confirmRollback)))
	mux.Handle("POST /models/rollback", w.page(operators(w.rollback)))
	mux.Handle("GET /history", w.page(w.history))
	mux.Handle("GET /trainings", w.page(w.trainings))
	mux.Handle("GET /trainings/{id}", w.page(operators(w.trainingLog)))
	mux.Handle("/", w.page(func(v visit) error {
		return segue.Errorf(segue.NotFound, "there is no page %s", v.r.URL.Path)
	}))
	return mux
}
