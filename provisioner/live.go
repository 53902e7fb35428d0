package provisioner

import (
	"context"
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
)

// LiveConfig says by what to decide on a real cluster. Its zero value is a
// planner.
type LiveConfig struct {
	By       *Trained // a trained model; nil lets a planner decide
	Monte    predictor.MonteCarloConfig
	Backfill simulator.Backfill // default EASY
	// Window is how far back the history is read; default 30 days. It is read
	// again when it is older than Refresh; default 15 minutes.
	Window, Refresh time.Duration
}

func (c LiveConfig) withDefaults() LiveConfig {
	if c.Monte.Replicas == 0 {
		c.Monte.Replicas = 100
	}
	if c.Monte.Seed == 0 {
		c.Monte.Seed = 1
	}
	if c.Backfill == simulator.NoBackfill {
		c.Backfill = simulator.EASY
	}
	if c.Window == 0 {
		c.Window = 30 * 24 * time.Hour
	}
	if c.Refresh == 0 {
		c.Refresh = 15 * time.Minute
	}
	return c
}

// Live decides on a real cluster: from its state, and from its history in the
// store. It is not for several goroutines.
type Live struct {
	store   *store.Store
	cluster string // its name in the store
	cfg     LiveConfig

	jobs []segue.Job // of the window, up to read; never changed
	read segue.Time
	past predictor.Present // by jobs, at the instant of its snapshot

	hindsights map[lookFor]*looking
}

// NewLive returns the decider for the cluster of that name.
func NewLive(s *store.Store, cluster string, cfg LiveConfig) *Live {
	return &Live{store: s, cluster: cluster, cfg: cfg.withDefaults(), read: segue.NoTime, hindsights: map[lookFor]*looking{}}
}

// Decide forecasts the wait of the next link, if it was submitted now to the
// partition that it asks for, and decides by that.
func (l *Live) Decide(ctx context.Context, state schedulers.State, q Question) (segue.Decision, error) {
	now, cluster, err := l.present(ctx, state, &q.Request)
	if err != nil {
		return segue.Decision{}, err
	}
	if l.cfg.By == nil {
		past, err := l.hindsight(ctx, &now.Snapshot, lookFor{q.Request.Partition, classOf(q.Request.Shape)}, cluster)
		if err != nil {
			return segue.Decision{}, err
		}
		return Advise(past, now, cluster, l.cfg.Monte, q)
	}
	by := *l.cfg.By
	if by.Hindsight, err = l.hindsight(ctx, &now.Snapshot, lookFor{partition: q.Request.Partition}, cluster); err != nil {
		return segue.Decision{}, err
	}
	return AdviseBy(by, now, cluster, l.cfg.Monte, q)
}

// Later forecasts the waits of submissions after each of the delays, which ascend,
// by simulated futures, whatever model decides.
func (l *Live) Later(ctx context.Context, state schedulers.State, request segue.Request, delays []time.Duration) ([]segue.Forecast, error) {
	now, cluster, err := l.present(ctx, state, &request)
	if err != nil {
		return nil, err
	}
	forecaster, err := predictor.NewMonteCarlo(cluster, l.cfg.Monte)
	if err != nil {
		return nil, err
	}
	return forecaster.Later(&now, request, delays)
}

// present returns what is known at a state to whoever submits a request, which it
// makes one that the cluster could run.
func (l *Live) present(ctx context.Context, state schedulers.State, request *segue.Request) (predictor.Present, simulator.Config, error) {
	if err := l.refresh(ctx, state.At); err != nil {
		return predictor.Present{}, simulator.Config{}, err
	}
	if l.past.History == nil || l.past.Snapshot.At != state.At { // it serves all that are asked of one state
		l.past = predictor.RecordedAt(l.jobs, state.At, 0)
	}
	now := l.past
	now.Snapshot, now.Owner = state.Snapshot(request.Partition), request.User
	gpus := now.Snapshot.GPUsPerNode
	request.GPUsPerNode = min(request.GPUsPerNode, gpus)
	return now, simulator.Config{
		Pools:    []simulator.Pool{{Name: "nodes", Nodes: max(now.Snapshot.Nodes, 1), GPUsPerNode: gpus}},
		Backfill: l.cfg.Backfill,
	}, nil
}

// refresh reads the history again when it is old.
func (l *Live) refresh(ctx context.Context, now segue.Time) error {
	if l.read.Known() && now.Sub(l.read).Abs() < l.cfg.Refresh {
		return nil
	}
	var jobs []segue.Job
	for j, err := range l.store.Jobs(ctx, store.JobQuery{Cluster: l.cluster, From: now.Add(-l.cfg.Window)}) {
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		jobs = append(jobs, j)
	}
	l.jobs, l.read, l.past = jobs, now, predictor.Present{}
	return nil
}
