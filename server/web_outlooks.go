package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/web"
)

const (
	// outlooksFresh is how long the forecast of the next day serves everybody.
	outlooksFresh = 5 * time.Minute
	// mostOutlooks is for how many shapes there is one.
	mostOutlooks = 4
	// outlooksPause is after how long one that failed is tried again.
	outlooksPause = 20 * time.Second
)

// delays are after how long submissions are forecast.
var delays = []time.Duration{
	0, time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 9 * time.Hour, 12 * time.Hour, 18 * time.Hour, 24 * time.Hour,
}

// outlooks work the forecast of the next day out, when somebody asks for it and apart
// from the asking: it simulates many futures, and a page does not wait.
type outlooks struct {
	server *Server
	wake   chan struct{}

	mu    sync.Mutex
	seen  web.Queue // at the latest try; zero before
	known []web.Outlook
	err   error
	at    segue.Time // of the latest try; NoTime before
}

func newOutlooks(s *Server) *outlooks {
	return &outlooks{server: s, wake: make(chan struct{}, 1), at: segue.NoTime}
}

// all returns what is known, and has it worked out again when it is old.
func (o *outlooks) all() ([]web.Outlook, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	fresh := outlooksFresh
	if o.err != nil || len(o.known) == 0 {
		fresh = outlooksPause
	}
	if !o.at.Known() || o.server.cfg.Now().Sub(o.at).Abs() >= fresh {
		select {
		case o.wake <- struct{}{}:
		default: // it is being worked out
		}
	}
	return slices.Clone(o.known), o.err
}

// queue returns the queue by which the forecast was worked out.
func (o *outlooks) queue() web.Queue {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// run works the forecast out whenever it is asked for, until ctx ends.
func (o *outlooks) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
			o.work(ctx)
		}
	}
}

func (o *outlooks) work(ctx context.Context) {
	look, err := o.look(ctx)
	var known []web.Outlook
	if err == nil {
		o.mu.Lock()
		o.seen = look.queue
		o.mu.Unlock()
		known, err = o.forecast(ctx, look)
	}
	if err != nil && ctx.Err() == nil {
		o.server.cfg.Log.Warn("forecast of the next day is not worked out", "error", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at, o.err = o.server.cfg.Now(), err
	if segue.KindOf(err) == segue.Unavailable && look.queue.Cluster == "" && o.server.cluster == nil {
		o.err = nil // there is no history, which is no fault
	}
	if err == nil {
		o.known = known
	}
}

// looked is a cluster as it is forecast from.
type looked struct {
	queue web.Queue
	// later forecasts a request after each of the delays.
	later func(ctx context.Context, r segue.Request) ([]segue.Forecast, error)
}

// look asks the scheduler, or where there is none the end of the history.
func (o *outlooks) look(ctx context.Context) (looked, error) {
	a := o.server.advisor
	if a.cluster == nil {
		return o.lookBack(ctx)
	}
	state, err := a.cluster.State(ctx)
	if err != nil {
		return looked{}, segue.Errorf(segue.Unavailable, "ask for the queue: %w", err)
	}
	caps, err := a.cluster.Capabilities(ctx)
	if err != nil {
		return looked{}, segue.Errorf(segue.Unavailable, "ask for the cluster's name: %w", err)
	}
	return looked{queue: liveQueue(caps.Cluster, state), later: func(ctx context.Context, r segue.Request) ([]segue.Forecast, error) {
		return a.ahead(ctx, caps.Cluster, state, r)
	}}, nil
}

func (o *outlooks) lookBack(ctx context.Context) (looked, error) {
	a := o.server.advisor
	if err := a.begin(ctx, false); err != nil {
		return looked{}, err
	}
	defer a.turn.give()
	if err := a.past.refresh(ctx, "", a.now()); err != nil {
		return looked{}, err
	}
	present, nodes := a.past.now, a.past.nodes
	queue := web.Queue{Cluster: a.past.cluster, At: present.Snapshot.At, Nodes: nodes, Shapes: shapesOf(present.Snapshot)}
	return looked{queue: queue, later: func(ctx context.Context, r segue.Request) ([]segue.Forecast, error) {
		if err := a.begin(ctx, false); err != nil {
			return nil, err
		}
		defer a.turn.give()
		r.GPUsPerNode = 0 // a history knows whole nodes
		monte, err := predictor.NewMonteCarlo(
			simulator.Config{Pools: []simulator.Pool{{Name: "nodes", Nodes: nodes}}, Backfill: simulator.EASY},
			predictor.MonteCarloConfig{Replicas: a.cfg.Replicas, Seed: 1})
		if err != nil {
			return nil, err
		}
		return monte.Later(&present, r, delays)
	}}, nil
}

// ahead forecasts submissions after each of the delays, when it is its turn.
func (a *advisor) ahead(ctx context.Context, cluster string, state schedulers.State, r segue.Request) ([]segue.Forecast, error) {
	if err := a.begin(ctx, false); err != nil {
		return nil, err
	}
	defer a.turn.give()
	if a.live == nil {
		a.live = provisioner.NewLive(a.store, cluster, provisioner.LiveConfig{By: a.by, Monte: predictor.MonteCarloConfig{Replicas: a.cfg.Replicas}})
	}
	return a.live.Later(ctx, state, r, delays)
}

func (o *outlooks) forecast(ctx context.Context, look looked) ([]web.Outlook, error) {
	shapes, err := o.shapes(ctx, look.queue)
	if err != nil {
		return nil, err
	}
	var all []web.Outlook
	for _, s := range shapes {
		forecasts, err := look.later(ctx, segue.Request{Shape: s})
		if err != nil {
			return nil, err
		}
		all = append(all, web.Outlook{Shape: s, Forecasts: forecasts})
	}
	return all, nil
}

// shapes returns those that matter: of the chains that go on, then of the queue.
func (o *outlooks) shapes(ctx context.Context, q web.Queue) ([]segue.Shape, error) {
	chains, err := o.server.store.Chains(ctx, store.ChainQuery{States: []segue.ChainState{segue.ChainActive}, Limit: 1000})
	if err != nil {
		return nil, err
	}
	counts := map[segue.Shape]int{}
	var own []segue.Shape
	for _, c := range chains {
		s := c.Request.Shape
		if counts[s]++; counts[s] == 1 {
			own = append(own, s)
		}
	}
	slices.SortStableFunc(own, func(a, b segue.Shape) int { return counts[b] - counts[a] })
	for _, s := range q.Shapes {
		own = append(own, s.Shape)
	}
	var picked []segue.Shape
	for _, s := range own {
		if len(picked) < mostOutlooks && s.Nodes > 0 && s.Nodes <= q.Nodes && s.Limit > 0 && s.Limit != segue.Unlimited && !slices.Contains(picked, s) {
			picked = append(picked, s)
		}
	}
	return picked, nil
}
