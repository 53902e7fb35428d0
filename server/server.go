package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/server/spans"
	"github.com/segue-project/segue/store"
)

// Config says how a server works. Now and Holder are required.
type Config struct {
	Now    func() segue.Time
	Holder string // unique to the process: host, process ID, a random word
	// Version is the program's.
	Version string
	// User is whose process this is. One that is not root keeps only its own chains
	// going, since it can submit for nobody else.
	User string
	Root bool
	// Operators are users who may do everything on the Unix socket, beside the
	// server's own and root.
	Operators []string
	Limits    api.Limits
	// Driver talks to the scheduler; nil where there is none: then nothing is
	// submitted, and advice is about the latest moment of the history.
	Driver schedulers.Driver
	// NoDriver says in a few words why there is none, where one was looked for; empty
	// where none is meant to be.
	NoDriver string
	// Every is the time between two rounds of the leader. Another server takes over
	// within four of them; default 3 seconds.
	Every time.Duration
	// MaxSubmissions is as in provisioner.ChainsConfig.
	MaxSubmissions int
	// Collect and Account are as in provisioner.AgentConfig.
	Collect, Account time.Duration
	// Retention says how long things are kept: zero fields are the defaults (5 years of
	// jobs, 180 days of snapshots, 90 days of decisions to wait, 2 years of chains that
	// are over and of the audit log), negative ones for ever.
	Retention store.Retention
	// Exists, ReadyDir and TakeOver are as in provisioner.ChainsConfig and
	// provisioner.AgentConfig. Exists is required with a Driver.
	Exists   func(user, path string) bool
	ReadyDir string
	TakeOver func(ctx context.Context, s *store.Store) error
	// Model is asked to decide; nil lets a planner. Registry is the folder of the
	// models that are listed; empty for none.
	Model    *provisioner.Trained
	Registry string
	// Champion returns the model that promotions have chosen; nil where they do not
	// change who decides. It may change while the server works (Reload).
	Champion func() (*provisioner.Trained, error)
	// Training is told of in health and metrics; nil where nothing is trained.
	Training *Training
	// Advice says how long an advice is remembered.
	Advice AdviceConfig
	// SessionKey seals the sessions of the dashboard: 32 bytes, the same at all servers
	// behind one name; nil for one of this process.
	SessionKey []byte
	// Tracing says which collector is told of requests and rounds; none without an
	// Endpoint. Version and Log are the server's.
	Tracing spans.Config
	// Grace is how long requests may take to end once the server is told to;
	// default 4 seconds.
	Grace time.Duration
	Log   *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Every == 0 {
		c.Every = 3 * time.Second
	}
	if c.Grace == 0 {
		c.Grace = 4 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Now == nil || c.Holder == "" || c.User == "":
		return segue.Errorf(segue.Invalid, "server: Now, Holder and User are required")
	case c.Driver != nil && c.Exists == nil:
		return segue.Errorf(segue.Invalid, "server: Exists is required with a Driver")
	case c.Every < time.Millisecond:
		return segue.Errorf(segue.Invalid, "server: a round every %s, want at least 1ms", c.Every)
	}
	return c.Advice.withDefaults().validate()
}

// Server is a server on a store, which its caller closes after it.
type Server struct {
	cfg     Config
	store   *store.Store
	cluster *schedulers.Cluster // nil where there is no scheduler
	api     *api.API
	feed    *api.Feed
	advisor *advisor
	models  *catalogue
	// deciding is held while it is changed who decides; champion is that of the
	// configuration in force.
	deciding  sync.Mutex
	champion  func() (*provisioner.Trained, error)
	following following
	loops     *loops  // nil without a scheduler
	mender    *mender // nil without an accounting
	keeper    *keeper
	peers     *peers
	health    *health
	spans     *spans.Recorder // nil where nobody is told
	// dashboard shows all of it to people.
	dashboard *dashboard
	handler   http.Handler
}

// New builds a server, which does nothing before Run.
func New(s *store.Store, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	srv := &Server{cfg: cfg, champion: cfg.Champion, store: s, feed: api.NewFeed(), peers: newPeers(cfg), keeper: newKeeper(s, cfg)}
	if cfg.Tracing.Endpoint != "" {
		var err error
		t := cfg.Tracing
		t.Version, t.Log = cfg.Version, cfg.Log
		if srv.spans, err = spans.New(t); err != nil {
			return nil, err
		}
	}
	if cfg.Driver != nil {
		var err error
		srv.cluster, err = schedulers.New(cfg.Driver, patienceOf(cfg))
		if err != nil {
			return nil, err
		}
	}
	srv.advisor = newAdvisor(s, srv.cluster, cfg)
	srv.advisor.tracer = srv.spans.Tracer()
	srv.models = &catalogue{dir: cfg.Registry, now: cfg.Now}
	srv.models.use(cfg.Model)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if srv.cluster != nil {
		loops, err := newLoops(s, srv.cluster, srv.advisor, cfg)
		if err != nil {
			return nil, err
		}
		srv.loops, loops.tracer = loops, srv.spans.Tracer()
		srv.mender = newMender(s, srv.cluster, loops, cfg)
	}
	srv.health = &health{store: s, cluster: srv.cluster, loops: srv.loops, missing: cfg.NoDriver, model: srv.model, training: cfg.Training, now: cfg.Now, log: cfg.Log}
	registry.MustRegister(srv.gauges(cfg.Version)...)
	var err error
	srv.api, err = api.New(api.Services{
		Advisor: srv.advisor, Chains: newIntake(s, srv.cluster, cfg), Histories: newHistories(s, srv.advisor, cfg.Now), Models: servedModels{srv},
		Tokens: tokens{s}, Auditor: auditor{s}, Answers: answers{s, cfg.Now}, Health: srv.health, Feed: srv.feed,
	}, api.Config{
		Now: cfg.Now, NewID: func() string { return newID(cfg.Now()) }, Limits: cfg.Limits,
		Metrics: registry, Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	if srv.dashboard, err = newDashboard(srv); err != nil {
		return nil, err
	}
	srv.handler = srv.spans.Handler(divide(srv.dashboard.pages, srv.api), routeOf)
	return srv, nil
}

// patienceOf says how patient a server is with its scheduler. Confirmations that a
// job is gone are as far apart as a look at the queue serves: otherwise several
// would come from one look, and a job that was submitted after it would count as
// gone.
func patienceOf(cfg Config) schedulers.Config {
	fresh := min(stateFresh, 4*cfg.Every)
	return schedulers.Config{Now: cfg.Now, Fresh: fresh, Pause: fresh, Owners: cfg.Root, Log: cfg.Log}
}

// newID returns a name that nobody has, which sorts by time.
func newID(now segue.Time) string {
	return fmt.Sprintf("%016x%s", int64(now), strings.ToLower(rand.Text()[:8]))
}

// Handler returns what answers requests, for tests and other listeners.
func (s *Server) Handler() http.Handler { return s.handler }

// Run answers on the listeners, which it closes, and works, until ctx ends. Then it
// takes no more connections, ends the requests that there are, and gives the lease
// back, so that another server leads at once.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
	web := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ConnContext: s.peers.connContext, ErrorLog: slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelDebug),
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	for _, loop := range s.background() {
		work.Go(func() { loop(working) })
	}
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		work.Go(func() {
			if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("answer on %s: %w", l.Addr(), err)
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	s.feed.Close() // streams would not end by themselves
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Grace)
	defer cancel()
	if shutdown := web.Shutdown(ending); shutdown != nil {
		s.cfg.Log.Warn("requests did not end in time", "error", shutdown)
		_ = web.Close() // they are lost
	}
	stop()
	work.Wait()
	s.spans.Close(ctx)
	return err
}

// background are the loops of a server.
func (s *Server) background() []func(context.Context) {
	all := []func(context.Context){s.advisor.run, s.watch, s.follow, s.health.run, s.keeper.run, s.dashboard.outlooks.run}
	if s.loops != nil {
		all = append(all, s.loops.run)
	}
	if s.mender != nil {
		all = append(all, s.mender.run)
	}
	return all
}

// Reload changes what can be changed while the server works: all of it, or nothing
// where it returns an error. choose returns the model that decides from now on, nil
// for a planner; where follow is true it is asked again after each promotion.
func (s *Server) Reload(limits api.Limits, operators []string, choose func() (*provisioner.Trained, error), follow bool) error {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	model, err := choose()
	if err != nil {
		return err
	}
	if err := s.api.SetLimits(limits); err != nil {
		return err
	}
	s.peers.setOperators(operators)
	s.champion = nil
	if follow {
		s.champion = choose
	}
	s.use(model)
	return nil
}

func (s *Server) use(model *provisioner.Trained) {
	s.advisor.use(model)
	s.models.use(model)
}

// Alive reports whether a watchdog may let the process live.
func (s *Server) Alive(context.Context) bool { return s.health.alive() }
