package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// stateFresh is how long one look at the queue serves everybody at most: four rounds.
const stateFresh = 10 * time.Second

// leaseRounds is for how many rounds a leader is trusted to live.
const leaseRounds = 3

// stalled is how long a round may take before it counts as one that hangs: sbatch
// alone tries again for two minutes.
const stalled = 5 * time.Minute

// loops keep the chains going while this server leads.
type loops struct {
	agent   *provisioner.Agent
	shares  *provisioner.Shares // of a server of root, which keeps everybody's chains going
	every   time.Duration
	log     *slog.Logger
	now     func() segue.Time
	watched *watched
	tracer  trace.Tracer
	rounds  prometheus.Counter // as the leader
	failed  prometheus.Counter

	mu    sync.Mutex
	began segue.Time // the latest round as the leader
	ended bool       // whether it has
}

func newLoops(s *store.Store, cluster *schedulers.Cluster, decider provisioner.Decider, cfg Config) (*loops, error) {
	l := &loops{
		every: cfg.Every, log: cfg.Log, now: cfg.Now, began: segue.NoTime, watched: &watched{at: segue.NoTime},
		rounds: prometheus.NewCounter(prometheus.CounterOpts{Name: "segue_rounds_total", Help: "Rounds that this server made as the leader."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "segue_incomplete_rounds_total", Help: "Rounds in which something went wrong."}),
	}
	user, lease := cfg.User, provisioner.LeaseOf(cfg.User)
	if cfg.Root {
		user, lease = "", "server"
		l.shares = provisioner.NewShares(provisioner.SharesConfig{Store: s, Now: cfg.Now, Holder: cfg.Holder, Span: leaseRounds * cfg.Every})
	}
	chains := func(under *store.Store) (*provisioner.Chains, error) {
		return provisioner.NewChains(under, cluster, provisioner.ChainsConfig{
			Now: cfg.Now, Decider: decider, Exists: cfg.Exists, ReadyDir: cfg.ReadyDir, User: user,
			Shares: l.shares, Every: cfg.Every, DecideEvery: max(cfg.Every, time.Minute), MaxSubmissions: cfg.MaxSubmissions, Log: cfg.Log,
		})
	}
	var err error
	l.agent, err = provisioner.NewAgent(s, cluster, chains, provisioner.AgentConfig{
		Now: cfg.Now, Holder: cfg.Holder, Lease: lease, Every: cfg.Every, Collect: cfg.Collect, Account: cfg.Account, Shares: l.shares, Log: cfg.Log,
		TakeOver: func(ctx context.Context, under *store.Store) error {
			l.begin(cfg.Now())
			l.rounds.Inc()
			l.watched.note(cluster.State(ctx))
			if cfg.TakeOver == nil {
				return nil
			}
			return cfg.TakeOver(ctx, under)
		},
	})
	return l, err
}

// run works round after round until ctx ends, and gives the lease back.
func (l *loops) run(ctx context.Context) {
	var trouble provisioner.Repeated
	for {
		err := l.round(ctx)
		if err != nil && ctx.Err() == nil {
			l.failed.Inc()
		}
		switch {
		case ctx.Err() != nil:
		case err == nil && trouble.Over():
			l.log.Info("rounds are complete again")
		case err != nil && trouble.News(err, l.now()):
			l.log.Warn("round is incomplete", "error", err)
		}
		if schedulers.Sleep(ctx, l.every) != nil {
			break
		}
	}
	_ = l.agent.Run(ctx) // which has ended: nothing is done but to give the lease back
}

// round is one round, of which only those of the leader are worth a span.
func (l *loops) round(ctx context.Context) error {
	ctx, span := l.tracer.Start(ctx, "round")
	err := l.agent.RunOnce(ctx)
	led := l.end()
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	if led || err != nil {
		span.End()
	}
	return err
}

func (l *loops) begin(now segue.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began, l.ended = now, false
}

// end notes that a round is over, and reports whether it was one of the leader.
func (l *loops) end() (led bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	led = l.began.Known() && !l.ended
	l.ended = true
	return led
}

// leads reports whether this server has led within the life of a lease.
func (l *loops) leads(now segue.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.began.Known() && (!l.ended || now.Sub(l.began).Abs() < leaseRounds*l.every)
}

// state says in a word what the loops do, and whether they do what they should.
func (l *loops) state(now segue.Time) (string, bool) {
	if !l.leads(now) {
		return "follows", true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended && now.Sub(l.began) > stalled {
		return "leads, and hangs", false
	}
	return "leads", true
}

// watched is what came of the latest look at the scheduler.
type watched struct {
	mu  sync.Mutex
	at  segue.Time // NoTime before the first
	err error
}

func (w *watched) note(state schedulers.State, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	if err == nil {
		w.at = state.At
	} else if !w.at.Known() {
		w.at = 0 // asked, and not answered yet
	}
}

func (w *watched) last() (at segue.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at, w.err
}
