package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/web"
)

// Queue implements web.Cluster. Where there is a scheduler it is asked, at most once
// in stateFresh; otherwise it is what was seen when the forecast was worked out.
func (d *dashboard) Queue(ctx context.Context) (web.Queue, error) {
	cluster := d.server.cluster
	if cluster == nil {
		return d.outlooks.queue(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	state, err := cluster.State(ctx)
	if err != nil {
		return web.Queue{}, segue.Errorf(segue.Unavailable, "ask for the queue: %w", err)
	}
	caps, err := cluster.Capabilities(ctx)
	if err != nil {
		return web.Queue{}, segue.Errorf(segue.Unavailable, "ask for the cluster's name: %w", err)
	}
	return liveQueue(caps.Cluster, state), nil
}

func liveQueue(name string, state schedulers.State) web.Queue {
	snap := state.Snapshot("")
	q := web.Queue{Cluster: name, Live: true, At: state.At, Nodes: snap.Nodes, Shapes: shapesOf(snap)}
	for _, n := range state.Nodes {
		if n.InService && n.Idle {
			q.IdleNodes++
		}
	}
	return q
}

// shapesOf counts the jobs of each shape, the most frequent one first.
func shapesOf(snap segue.Snapshot) []web.ShapeCount {
	counts := map[segue.Shape]*web.ShapeCount{}
	of := func(s segue.Shape) *web.ShapeCount {
		if counts[s] == nil {
			counts[s] = &web.ShapeCount{Shape: s}
		}
		return counts[s]
	}
	for i := range snap.Running {
		of(snap.Running[i].Shape).Running++
	}
	for i := range snap.Pending {
		c := of(snap.Pending[i].Shape)
		c.Pending++
		if snap.Pending[i].Submit.Known() {
			c.Longest = max(c.Longest, snap.At.Sub(snap.Pending[i].Submit))
		}
	}
	all := make([]web.ShapeCount, 0, len(counts))
	for _, c := range counts {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b web.ShapeCount) int {
		return cmp.Or(cmp.Compare(b.Running+b.Pending, a.Running+a.Pending), cmp.Compare(a.Shape.Nodes, b.Shape.Nodes),
			cmp.Compare(a.Shape.GPUsPerNode, b.Shape.GPUsPerNode), cmp.Compare(a.Shape.Limit, b.Shape.Limit))
	})
	return all
}

// Outlooks implements web.Cluster.
func (d *dashboard) Outlooks(context.Context) ([]web.Outlook, error) { return d.outlooks.all() }

// week is the time of which recent waits are told.
const week = 7 * 24 * time.Hour

// Recent implements web.Cluster.
func (d *dashboard) Recent(ctx context.Context, shape segue.Shape) (web.Recent, error) {
	h, err := d.ownHistory(ctx)
	if err != nil || h.Cluster == "" {
		return web.Recent{Until: segue.NoTime}, err
	}
	until := h.Last
	if d.server.cluster != nil {
		until = d.server.cfg.Now()
	}
	waits, err := d.server.store.Waits(ctx, store.JobQuery{
		Cluster: h.Cluster, From: until.Add(-week), Until: until, Nodes: shape.Nodes, Limit: shape.Limit,
	})
	return web.Recent{From: until.Add(-week), Until: until, Waits: segue.NewForecast(until, "recorded", waits)}, err
}

// ownHistory returns the history of the cluster that the server is for: without a
// scheduler the only one that has jobs. It is zero where there is none.
func (d *dashboard) ownHistory(ctx context.Context) (store.History, error) {
	all, err := d.counted(ctx)
	if err != nil {
		return store.History{}, err
	}
	name := ""
	if c := d.server.cluster; c != nil {
		caps, err := c.Capabilities(ctx)
		if err != nil {
			return store.History{}, segue.Errorf(segue.Unavailable, "ask for the cluster's name: %w", err)
		}
		name = caps.Cluster
	}
	var own []store.History
	for _, h := range all {
		if h.Jobs > 0 && (name == "" || h.Cluster == name) {
			own = append(own, h)
		}
	}
	if len(own) != 1 {
		return store.History{}, nil
	}
	return own[0], nil
}

// Standing implements web.Cluster.
func (d *dashboard) Standing(ctx context.Context) (web.Standing, error) {
	out := web.Standing{Version: d.server.cfg.Version}
	for _, c := range d.server.health.Checks(ctx) {
		out.Checks = append(out.Checks, web.Check{Name: c.Name, OK: c.OK, State: c.State})
	}
	leases, err := d.server.store.Leases(ctx, d.server.cfg.Now())
	if err != nil { // the checks say so
		return out, nil //nolint:nilerr // what is known is shown
	}
	for _, l := range leases {
		what := l.Name
		if l.Name == "server" || strings.HasPrefix(l.Name, "agent") {
			what = "chains (" + l.Name + ")"
		}
		out.Leaders = append(out.Leaders, web.Leader{What: what, Holder: l.Holder})
	}
	return out, nil
}
