package provisioner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// AgentConfig says how an agent works. Now and Holder are required.
type AgentConfig struct {
	Now    func() segue.Time
	Holder string // unique to the process: host, process ID, a random word
	// Lease is what agents of one store share, of which one works; default "agent".
	Lease string
	// Every is the time between rounds; default one minute. Collect is the time
	// between snapshots that are kept as history; default five. Account is the time
	// between two questions to the accounting, where there is one, for what has
	// ended; default one hour.
	Every, Collect, Account time.Duration
	// History says how far its answers go.
	History HistoryConfig
	// TakeOver, when not nil, is called at the beginning of every round: it brings
	// chains into the store that were submitted meanwhile.
	TakeOver func(ctx context.Context, s *store.Store) error
	// Shares, when not nil, are kept while a round takes its time, and given back at the
	// end: what ChainsConfig.Shares has taken.
	Shares *Shares
	// Sleep waits for d or until ctx ends; by default the system's.
	Sleep func(ctx context.Context, d time.Duration) error
	Log   *slog.Logger // default slog.Default()
}

func (c AgentConfig) withDefaults() AgentConfig {
	if c.Lease == "" {
		c.Lease = "agent"
	}
	if c.Every == 0 {
		c.Every = time.Minute
	}
	if c.Collect == 0 {
		c.Collect = 5 * time.Minute
	}
	if c.Account == 0 {
		c.Account = time.Hour
	}
	if c.Sleep == nil {
		c.Sleep = schedulers.Sleep
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c AgentConfig) validate() error {
	switch {
	case c.Now == nil || c.Holder == "":
		return segue.Errorf(segue.Invalid, "agent: Now and Holder are required")
	case c.Every < 0 || c.Collect < 0 || c.Account < 0:
		return segue.Errorf(segue.Invalid, "agent: a round every %s, a snapshot every %s, the accounting every %s: want more than 0", c.Every, c.Collect, c.Account)
	}
	return c.History.withDefaults().validate()
}

// leaseRounds is for how many rounds an agent holds its lease: so long others
// wait when it was killed.
const leaseRounds = 3

// Agent keeps the chains of a store going, round after round, and the history of
// its cluster. Of several agents on one store one works.
type Agent struct {
	cfg     AgentConfig
	store   *store.Store
	cluster *schedulers.Cluster
	chains  func(*store.Store) (*Chains, error)

	lease     store.Lease
	loop      *Chains
	name      string // of the cluster, in the store
	collected segue.Time
	accounted segue.Time // when the accounting has told all that it knew
}

// NewAgent returns an agent. chains makes the loop over the chains of a store: it
// is called with one that fails as soon as another agent has taken over.
func NewAgent(s *store.Store, cluster *schedulers.Cluster, chains func(*store.Store) (*Chains, error), cfg AgentConfig) (*Agent, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Agent{cfg: cfg, store: s, cluster: cluster, chains: chains, collected: segue.NoTime, accounted: segue.NoTime}, nil
}

// Run works until ctx ends, which is no error. What goes wrong in a round is
// logged, and the next round goes on.
func (a *Agent) Run(ctx context.Context) error {
	defer a.release(ctx)
	var trouble Repeated
	for {
		err := a.RunOnce(ctx)
		switch {
		case ctx.Err() != nil:
		case err == nil && trouble.Over():
			a.cfg.Log.Info("rounds are complete again")
		case err != nil && trouble.News(err, a.cfg.Now()):
			a.cfg.Log.Warn("round is incomplete", "error", err)
		}
		if a.cfg.Sleep(ctx, a.cfg.Every) != nil {
			return nil // it was told to end
		}
	}
}

// ErrOtherWorks says that nothing was done because another agent works.
var ErrOtherWorks = errors.New("another agent works")

// Once is one round, after which another agent may work at once.
func (a *Agent) Once(ctx context.Context) error {
	defer a.release(ctx)
	if err := a.RunOnce(ctx); err != nil {
		return err
	}
	if a.lease.Holder == "" {
		return ErrOtherWorks
	}
	return nil
}

// RunOnce is one round. While another agent works it does nothing.
func (a *Agent) RunOnce(ctx context.Context) error {
	working, err := a.hold(ctx)
	if err != nil || !working {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer a.keep(ctx, stop)()
	var all []error
	if a.cfg.TakeOver != nil {
		if err := a.cfg.TakeOver(ctx, a.store.Under(a.lease)); err != nil {
			all = append(all, err)
		}
	}
	if err := a.collect(ctx); err != nil {
		all = append(all, err)
	}
	if err := a.loop.RunOnce(ctx); err != nil {
		all = append(all, err)
	}
	if err := a.account(ctx); err != nil { // last: no chain waits for it
		all = append(all, err)
	}
	return errors.Join(all...)
}

// hold takes or keeps the lease, and reports whether this agent has it.
func (a *Agent) hold(ctx context.Context) (bool, error) {
	now, span := a.cfg.Now(), leaseRounds*a.cfg.Every
	if a.lease.Holder != "" {
		lease, err := a.store.Renew(ctx, a.lease, now, span)
		if err == nil {
			a.lease = lease
			return true, a.begin()
		}
		if segue.KindOf(err) != segue.Conflict {
			return false, err
		}
		a.cfg.Log.Warn("another agent has taken over", "error", err)
		a.end(ctx)
		a.lease = store.Lease{}
	}
	lease, err := a.store.Acquire(ctx, a.cfg.Lease, a.cfg.Holder, now, span)
	if segue.KindOf(err) == segue.Conflict {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a.lease = lease
	a.cfg.Log.Info("agent works", "holder", a.cfg.Holder, "fence", lease.Fence)
	return true, a.begin()
}

// begin makes the loop of the lease, unless it is there: the scheduler may not
// have answered when the lease was taken.
func (a *Agent) begin() (err error) {
	if a.loop == nil {
		a.loop, err = a.chains(a.store.Under(a.lease))
	}
	return err
}

// end ends the loop of the lease.
func (a *Agent) end(ctx context.Context) {
	if a.loop != nil {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second+closing)
		defer cancel()
		a.loop.Close(ctx)
		a.loop = nil
	}
}

// keep renews the lease while a round goes on, which may take longer than that
// lasts: sbatch alone tries again for two minutes. If it is lost all the same, the
// round ends. It returns what stops it.
func (a *Agent) keep(ctx context.Context, stop context.CancelFunc) (done func()) {
	lease := a.lease
	var work sync.WaitGroup
	work.Go(func() {
		for a.cfg.Sleep(ctx, a.cfg.Every) == nil {
			if _, err := a.store.Renew(ctx, lease, a.cfg.Now(), leaseRounds*a.cfg.Every); segue.KindOf(err) == segue.Conflict {
				stop()
			}
			if a.cfg.Shares != nil {
				a.cfg.Shares.Keep(ctx)
			}
		}
	})
	return func() {
		stop()
		work.Wait()
	}
}

// collect keeps what the scheduler shows as history, for learning and
// forecasting without an administrator's help.
func (a *Agent) collect(ctx context.Context) error {
	if now := a.cfg.Now(); a.collected.Known() && now.Sub(a.collected).Abs() < a.cfg.Collect {
		return nil
	}
	name, err := a.ClusterName(ctx)
	if err != nil {
		return err
	}
	state, err := a.cluster.State(ctx)
	if err != nil {
		return fmt.Errorf("collect history: %w", err)
	}
	a.collected = a.cfg.Now()
	if _, err := a.store.Under(a.lease).RecordSnapshot(ctx, name, state.Snapshot("")); err != nil && segue.KindOf(err) != segue.Conflict {
		return err
	}
	return nil
}

// account brings what the accounting knows into the history, a slice a round
// until it is up to date.
func (a *Agent) account(ctx context.Context) error {
	historian, ok := a.cluster.Driver().(schedulers.Historian)
	now := a.cfg.Now()
	if !ok || a.accounted.Known() && now.Sub(a.accounted).Abs() < a.cfg.Account {
		return nil
	}
	caps, err := a.cluster.Capabilities(ctx)
	if err != nil {
		return fmt.Errorf("collect history: %w", err)
	}
	if !caps.Accounting {
		a.accounted = now
		return nil
	}
	c, err := CollectHistory(ctx, a.store.Under(a.lease), historian, caps.Cluster, now, a.cfg.History)
	if err != nil {
		a.accounted = now.Add(a.cfg.Collect - a.cfg.Account) // it has trouble enough
		return err
	}
	if c.Until == now {
		a.accounted = now
	}
	if c.Rejected > 0 {
		a.cfg.Log.Warn("records of the accounting cannot be read", "records", c.Rejected, "first", c.Why)
	}
	return nil
}

// ClusterName returns the name under which the cluster's history is kept.
func (a *Agent) ClusterName(ctx context.Context) (string, error) {
	if a.name == "" {
		caps, err := a.cluster.Capabilities(ctx)
		if err != nil {
			return "", fmt.Errorf("name of the cluster: %w", err)
		}
		a.name = caps.Cluster
	}
	return a.name, nil
}

// release lets another agent work at once.
func (a *Agent) release(ctx context.Context) {
	if a.lease.Holder == "" {
		return
	}
	a.end(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	err := a.store.Release(ctx, a.lease)
	if a.cfg.Shares != nil {
		err = errors.Join(err, a.cfg.Shares.Release(ctx))
	}
	if err != nil {
		a.cfg.Log.Warn("lease is not released", "error", err)
	}
}
