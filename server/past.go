package server

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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

	clusters []string              // of which there is a history
	ends     map[string]segue.Time // the latest submission of each
	listed   segue.Time            // when they were

	cluster string // whose history was read last
	read    segue.Time
	now     predictor.Present // at the end of the history
	nodes   int
	// partitions are those that the history names, with the nodes that it shows of each.
	partitions map[string]int
	reads      int // how often one was read
}

// advise answers from the history that was read last.
func (p *past) advise(by *provisioner.Trained, replicas int, q question) (api.Advice, error) {
	asks, err := q.ask(&p.now.Snapshot)
	if err != nil {
		return api.Advice{}, err
	}
	present, nodes, notes, err := p.of(q.request.Partition)
	if err != nil {
		return api.Advice{}, err
	}
	if asks.Request.GPUsPerNode > 0 {
		asks.Request.GPUsPerNode = 0
		notes = append(notes, "A history knows whole nodes: gpus_per_node does not count.")
	}
	present.Owner = q.request.User
	cluster := simulator.Config{Pools: []simulator.Pool{{Name: "nodes", Nodes: nodes}}, Backfill: simulator.EASY}
	monte := predictor.MonteCarloConfig{Replicas: replicas, Seed: 1}
	var d segue.Decision
	if by == nil {
		d, err = provisioner.Advise(provisioner.Hindsight{}, present, cluster, monte, asks)
	} else {
		d, err = provisioner.AdviseBy(*by, present, cluster, monte, asks)
	}
	if err != nil {
		return api.Advice{}, err
	}
	return api.Advice{Decision: d, Outlook: api.Outlook{
		Cluster: p.cluster, Source: "history", Data: present.Snapshot.At,
		Running: len(present.Snapshot.Running), Pending: len(present.Snapshot.Pending), Notes: notes,
	}}, nil
}

// of returns what was known of a partition, and the nodes that it has: as from a
// scheduler, its jobs and nodes count, and how the jobs of all partitions used to run.
// Where the history names none, the whole cluster counts, which the notes say.
func (p *past) of(partition string) (present predictor.Present, nodes int, notes []string, err error) {
	nodes, known := p.partitions[partition]
	switch {
	case partition == "":
		return p.now, p.nodes, nil, nil
	case len(p.partitions) == 0:
		return p.now, p.nodes, []string{"The history of " + p.cluster + " names no partitions: all of its jobs and nodes count."}, nil
	case !known:
		return present, 0, nil, noPartition(partition, slices.Sorted(maps.Keys(p.partitions)))
	case nodes < 1:
		return present, 0, nil, segue.Errorf(segue.Unavailable, "advise: no job of partition %s has run lately, so that the history does not show its size", partition)
	}
	present = p.now
	elsewhere := func(j segue.QueuedJob) bool { return !slices.Contains(strings.Split(j.Partition, ","), partition) }
	present.Snapshot.Running = slices.DeleteFunc(slices.Clone(p.now.Snapshot.Running), elsewhere)
	present.Snapshot.Pending = slices.DeleteFunc(slices.Clone(p.now.Snapshot.Pending), elsewhere)
	present.Snapshot.Nodes = nodes
	return present, nodes, nil, nil
}

// noPartition refuses a partition that is none of those that are known.
func noPartition(partition string, known []string) error {
	return segue.Errorf(segue.Invalid, "partition %q: want one of %s", partition, strings.Join(known, ", "))
}

// refresh reads the end of a history, unless it did not long ago. Without a name
// it is the only one that there is.
func (p *past) refresh(ctx context.Context, cluster string, now segue.Time) error {
	changed := p.outdated.Swap(false)
	err := p.end(ctx, cluster, now, changed)
	if err != nil && changed {
		p.outdated.Store(true)
	}
	return err
}

// end is refresh, where it is known whether the histories have changed.
func (p *past) end(ctx context.Context, cluster string, now segue.Time, changed bool) error {
	span := pastFresh
	if cluster != "" && !slices.Contains(p.clusters, cluster) { // perhaps there is one by now
		span = countsFresh
	}
	if changed || len(p.clusters) == 0 || now.Sub(p.listed).Abs() >= span {
		if err := p.list(ctx, now); err != nil {
			return err
		}
	}
	name, err := p.which(cluster)
	if err != nil || name == p.cluster && now.Sub(p.read).Abs() < pastFresh && !changed {
		return err
	}
	if p.listed != now {
		if err := p.list(ctx, now); err != nil {
			return err
		}
	}
	return p.readEnd(ctx, name, now)
}

// list looks for the clusters of which there is a history, which counts every job.
func (p *past) list(ctx context.Context, now segue.Time) error {
	all, err := p.store.Histories(ctx)
	if err != nil {
		return err
	}
	p.clusters, p.ends, p.listed = nil, map[string]segue.Time{}, now
	for _, h := range all {
		if h.Jobs > 0 {
			p.clusters = append(p.clusters, h.Cluster)
			p.ends[h.Cluster] = h.Last
		}
	}
	return nil
}

// which returns the cluster that is meant.
func (p *past) which(cluster string) (string, error) {
	switch {
	case len(p.clusters) == 0 && cluster == "":
		return "", segue.Errorf(segue.Unavailable, "advise: there is neither a scheduler nor a history: import one")
	case cluster == "" && len(p.clusters) > 1:
		return "", segue.Errorf(segue.Invalid, "there are histories of %d clusters: name one of %s", len(p.clusters), strings.Join(p.clusters, ", "))
	case cluster == "":
		return p.clusters[0], nil
	case !slices.Contains(p.clusters, cluster):
		return "", segue.Errorf(segue.NotFound, "there is no history of cluster %q", cluster)
	}
	return cluster, nil
}

// readEnd reads the end of the history of a cluster.
func (p *past) readEnd(ctx context.Context, cluster string, now segue.Time) error {
	last := p.ends[cluster]
	var jobs []segue.Job
	var whole traces.Collector
	parts := map[string]*traces.Collector{}
	for j, err := range p.store.Jobs(ctx, store.JobQuery{Cluster: cluster, From: last.Add(-pastWindow)}) {
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		jobs = append(jobs, j)
		whole.Add(&j)
		for name := range strings.SplitSeq(j.Partition, ",") {
			if parts[name] == nil {
				parts[name] = &traces.Collector{}
			}
			parts[name].Add(&j)
		}
	}
	delete(parts, "")
	nodes := int(whole.Statistics().Busy.Proposed)
	if nodes < 1 {
		return segue.Errorf(segue.Unavailable, "advise: no job of the history of %s has run, so that it does not show the cluster's size", cluster)
	}
	p.partitions = map[string]int{}
	for name, part := range parts {
		p.partitions[name] = int(part.Statistics().Busy.Proposed)
	}
	p.now = predictor.RecordedAt(jobs, last.Add(time.Second), nodes)
	p.cluster, p.read, p.nodes = cluster, now, nodes
	p.reads++
	return nil
}
