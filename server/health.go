package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// healthFresh is how long a look serves everybody who asks: anyone may.
const healthFresh = time.Second

// patience is how long the store may take to answer before it counts as gone.
const patience = 2 * time.Second

// trialsEvery is how often a change of the store is tried: on a server that leads no
// loops nobody else may make one for hours.
const trialsEvery = 10 * time.Second

// health looks at what a server stands on.
type health struct {
	store   *store.Store
	cluster *schedulers.Cluster
	loops   *loops
	missing string // as Config.NoDriver
	model   func() api.Check
	// training is nil where nothing is trained.
	training *Training
	now      func() segue.Time
	log      *slog.Logger

	mu     sync.Mutex
	looked segue.Time
	checks []api.Check
}

// Checks implements api.Health.
func (h *health) Checks(ctx context.Context) []api.Check {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := h.now(); h.checks == nil || now.Sub(h.looked).Abs() >= healthFresh {
		h.checks, h.looked = []api.Check{h.database(ctx), h.scheduler(), h.leadership(), h.model()}, now
		if h.training != nil {
			h.checks = append(h.checks, h.training.check())
		}
	}
	return h.checks
}

func (h *health) database(ctx context.Context) api.Check {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	c := api.Check{Name: "store", OK: true, State: "answers", Needed: true}
	if err := h.store.Ping(ctx); err != nil {
		h.log.Warn("store does not answer", "error", err)
		c.OK, c.State = false, "does not answer"
	} else if err := h.store.Refused(); err != nil {
		h.log.Warn("store takes no changes", "error", err)
		c.OK, c.State = false, "takes no changes"
	}
	return c
}

// run tries to change the store now and then, until ctx ends: the store remembers what
// came of it.
func (h *health) run(ctx context.Context) {
	again := time.NewTicker(trialsEvery)
	defer again.Stop()
	for {
		h.tryStore(ctx)
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

func (h *health) tryStore(ctx context.Context) {
	trial, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := h.store.TryChange(trial); err != nil && ctx.Err() == nil {
		h.log.Warn("store takes no changes", "error", err)
	}
}

func (h *health) scheduler() api.Check {
	c := api.Check{Name: "scheduler", OK: true, State: "none"}
	if h.loops == nil {
		if h.missing != "" {
			c.OK, c.State = false, "none: "+h.missing
		}
		return c
	}
	switch at, err := h.loops.watched.last(); {
	case !at.Known():
		c.State = "not asked yet"
	case err != nil:
		c.OK, c.State = false, "does not answer"
	default:
		c.State = "answers"
	}
	return c
}

func (h *health) leadership() api.Check {
	c := api.Check{Name: "loops", OK: true, State: "none: there is no scheduler"}
	if h.loops != nil {
		c.State, c.OK = h.loops.state(h.now())
	}
	return c
}

// model says which model decides, and whether it is the one that should.
func (s *Server) model() api.Check {
	c := api.Check{Name: "model", OK: true, State: "a planner decides"}
	if id := s.models.decides(); id != "" {
		c.State = id + " decides"
	}
	if want := s.following.missed(); want != "" {
		c.OK = false
		c.State += ", since " + want + " cannot be read"
	}
	return c
}

// alive reports whether the server does what a restart could mend: the loops do not
// hang. A store or a scheduler that is gone comes back by itself.
func (h *health) alive() bool { return h.leadership().OK }
