package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
)

// pastWindow is how far back from its end a history is read, and pastFresh after
// how long it is read again.
const (
	pastWindow = 30 * 24 * time.Hour
	pastFresh  = 15 * time.Minute
)

// past answers where there is no scheduler: from the latest moment of a history. It
// is for one at a time, but for outdated.
type past struct {
	store    *store.Store
	outdated atomic.Bool // the history has changed

	cluster string
	read    segue.Time
	now     predictor.Present // at the end of the history
	nodes   int
	reads   int // how often it was read
}

// advise answers from the history that was read last.
func (p *past) advise(by *provisioner.Trained, replicas int, q question) (api.Advice, error) {
	asks, err := q.ask(&p.now.Snapshot)
	if err != nil {
		return api.Advice{}, err
	}
	asks.Request.GPUsPerNode = 0 // a history knows whole nodes
	present := p.now
	present.Owner = q.request.User
	cluster := simulator.Config{Pools: []simulator.Pool{{Name: "nodes", Nodes: p.nodes}}, Backfill: simulator.EASY}
	monte := predictor.MonteCarloConfig{Replicas: replicas, Seed: 1}
	var d segue.Decision
	if by == nil {
		d, err = provisioner.Advise(present, cluster, monte, asks)
	} else {
		d, err = provisioner.AdviseBy(*by, present, cluster, monte, asks)
	}
	if err != nil {
		return api.Advice{}, err
	}
	return api.Advice{Decision: d, Outlook: api.Outlook{
		Cluster: p.cluster, Source: "history", Data: present.Snapshot.At,
		Running: len(present.Snapshot.Running), Pending: len(present.Snapshot.Pending),
	}}, nil
}

// refresh reads the end of a history, unless it did not long ago. Without a name
// it is the only one that there is.
func (p *past) refresh(ctx context.Context, cluster string, now segue.Time) error {
	same := cluster == "" || cluster == p.cluster
	if same && p.cluster != "" && now.Sub(p.read) < pastFresh && !p.outdated.Load() {
		return nil
	}
	p.outdated.Store(false)
	h, err := p.which(ctx, cluster)
	if err != nil {
		return err
	}
	var jobs []segue.Job
	var stats traces.Collector
	for j, err := range p.store.Jobs(ctx, store.JobQuery{Cluster: h.Cluster, From: h.Last.Add(-pastWindow)}) {
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		jobs = append(jobs, j)
		stats.Add(&j)
	}
	nodes := int(stats.Statistics().Busy.Proposed)
	if nodes < 1 {
		return segue.Errorf(segue.Unavailable, "advise: no job of the history of %s has run, so that it does not show the cluster's size", h.Cluster)
	}
	p.now = predictor.RecordedAt(jobs, h.Last.Add(time.Second), nodes)
	p.cluster, p.read, p.nodes = h.Cluster, now, nodes
	p.reads++
	return nil
}

// which returns the history that is meant.
func (p *past) which(ctx context.Context, cluster string) (store.History, error) {
	all, err := p.store.Histories(ctx)
	if err != nil {
		return store.History{}, err
	}
	var with []store.History
	for _, h := range all {
		if h.Jobs > 0 && (cluster == "" || h.Cluster == cluster) {
			with = append(with, h)
		}
	}
	switch {
	case len(with) == 1:
		return with[0], nil
	case cluster != "":
		return store.History{}, segue.Errorf(segue.NotFound, "there is no history of cluster %q", cluster)
	case len(with) == 0:
		return store.History{}, segue.Errorf(segue.Unavailable, "advise: there is neither a scheduler nor a history: import one")
	}
	return store.History{}, segue.Errorf(segue.Invalid, "there are histories of %d clusters: name one", len(with))
}
