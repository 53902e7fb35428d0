package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

const day = 24 * time.Hour

// kept returns how long things are kept, of which zero is the default and less than
// zero for ever, as the store takes it.
func kept(r store.Retention) store.Retention {
	for span, otherwise := range map[*time.Duration]time.Duration{
		&r.Jobs: 5 * 365 * day, &r.Snapshots: 180 * day, &r.Decisions: 90 * day, &r.Chains: 730 * day, &r.Audit: 730 * day,
	} {
		if *span == 0 {
			*span = otherwise
		}
		*span = max(*span, 0)
	}
	return r
}

// tidyEvery is the time between two looks for what is too old, and tidyMost the
// longest that one may take: so long another server waits when one dies over it.
const (
	tidyEvery = time.Hour
	tidyMost  = 50 * time.Minute
)

// tidyLease is held by the one server that removes what is too old.
const tidyLease = "retention"

// keeper removes what is older than it is to be kept, and gives the room back. Of
// several servers one does it at a time.
type keeper struct {
	store  *store.Store
	keep   store.Retention
	now    func() segue.Time
	holder string
	user   string
	log    *slog.Logger

	removed *prometheus.CounterVec
	size    prometheus.Gauge
}

func newKeeper(s *store.Store, cfg Config) *keeper {
	return &keeper{
		store: s, keep: kept(cfg.Retention), now: cfg.Now, holder: cfg.Holder, user: cfg.User, log: cfg.Log,
		removed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "segue_store_removed_total", Help: "Records that this server removed because they were older than they are to be kept.",
		}, []string{"kind"}),
		size: prometheus.NewGauge(prometheus.GaugeOpts{Name: "segue_store_size_bytes", Help: "What the store takes on the disk, looked at once an hour."}),
	}
}

func (k *keeper) run(ctx context.Context) {
	for {
		if err := k.runOnce(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("old records are not removed", "error", err)
		}
		if schedulers.Sleep(ctx, tidyEvery) != nil {
			return
		}
	}
}

// runOnce removes what is too old, unless another server does.
func (k *keeper) runOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tidyMost)
	defer cancel()
	if err := k.store.ForgetAnswers(ctx, k.now().Add(-answersKept)); err != nil {
		return err
	}
	lease, err := k.store.Acquire(ctx, tidyLease, k.holder, k.now(), tidyMost)
	if segue.KindOf(err) == segue.Conflict {
		return nil // another does
	}
	if err != nil {
		return err
	}
	err = k.tidy(ctx, k.store.Under(lease))
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	return errors.Join(err, k.store.Release(ending, lease))
}

func (k *keeper) tidy(ctx context.Context, s *store.Store) error {
	n, err := s.Prune(ctx, k.keep, k.now())
	for kind, count := range map[string]int64{"jobs": n.Jobs, "snapshots": n.Snapshots, "decisions": n.Decisions, "chains": n.Chains, "audit": n.Audit} {
		k.removed.WithLabelValues(kind).Add(float64(count))
	}
	if n != (store.Pruned{}) {
		k.log.Info("old records are removed", "jobs", n.Jobs, "snapshots", n.Snapshots, "decisions", n.Decisions, "chains", n.Chains, "audit_lines", n.Audit)
	}
	if n != (store.Pruned{}) {
		what := fmt.Sprintf("%d jobs, %d snapshots, %d decisions, %d chains, %d lines of this log", n.Jobs, n.Snapshots, n.Decisions, n.Chains, n.Audit)
		err = errors.Join(err, Audited(ctx, s, Deed{k.user, byItself, "remove-old", what}, k.now(), func() error { return nil }))
	}
	if err != nil {
		return err
	}
	freed, err := s.Compact(ctx)
	if err != nil {
		return err
	}
	if freed > 0 {
		k.log.Info("store is compacted", "freed_bytes", freed)
	}
	size, err := s.Size(ctx)
	k.size.Set(float64(size))
	return err
}
