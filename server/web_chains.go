package server

import (
	"context"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/web"
)

// webChains are the chains of a store, for the pages.
type webChains struct{ *dashboard }

// Chains implements web.Chains.
func (c webChains) Chains(ctx context.Context, q web.ChainQuery) ([]segue.Chain, error) {
	of := store.ChainQuery{User: q.User, Limit: q.Limit, Before: q.Before, BeforeID: q.BeforeID}
	if q.State != nil {
		of.States = []segue.ChainState{*q.State}
	}
	return c.server.store.Chains(ctx, of)
}

// Count implements web.Chains.
func (c webChains) Count(ctx context.Context, user string) (map[segue.ChainState]int, error) {
	return c.server.store.CountChainsOf(ctx, user)
}

// Chain implements web.Chains.
func (c webChains) Chain(ctx context.Context, id string) (segue.Chain, error) {
	return chains{c.server.store}.Chain(ctx, id)
}

// Links implements web.Chains.
func (c webChains) Links(ctx context.Context, id string) ([]segue.Link, error) {
	return c.server.store.Links(ctx, id)
}

// Decisions implements web.Chains.
func (c webChains) Decisions(ctx context.Context, id string, before web.Place, n int) ([]web.Recorded, error) {
	return recordedOf(c.server.store.DecisionsBefore(ctx, id, store.Place(before), n))
}

// openFresh is how long the open decisions of all chains serve every operator: with
// thousands of chains they take a second to read.
const openFresh = 15 * time.Second

// openDecisions are those of all chains, as they were last read.
type openDecisions struct {
	mu  sync.Mutex // held while they are read: others wait for the same
	all []web.Recorded
	at  segue.Time // NoTime before the first time
}

// Open implements web.Chains. Whoever gets them changes nothing of them.
func (c webChains) Open(ctx context.Context, user string) ([]web.Recorded, error) {
	if user != "" {
		return recordedOf(c.server.store.OpenDecisions(ctx, user))
	}
	o := &c.open
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := c.server.cfg.Now(); !o.at.Known() || now.Sub(o.at).Abs() >= openFresh {
		all, err := recordedOf(c.server.store.OpenDecisions(ctx, ""))
		if err != nil {
			return nil, err
		}
		o.all, o.at = all, now
	}
	return o.all, nil
}

// Handovers implements web.Chains.
func (c webChains) Handovers(ctx context.Context, user string, since segue.Time, n int) ([]web.Handover, error) {
	all, err := c.server.store.Handovers(ctx, user, since, n)
	out := make([]web.Handover, len(all))
	for i, h := range all {
		out[i] = web.Handover{Recorded: toShow(h.Recorded), Submitted: h.Submitted, Start: h.Start}
	}
	return out, err
}

func recordedOf(all []store.Recorded, err error) ([]web.Recorded, error) {
	out := make([]web.Recorded, len(all))
	for i, r := range all {
		out[i] = toShow(r)
	}
	return out, err
}

func toShow(r store.Recorded) web.Recorded {
	out := web.Recorded{Chain: r.Chain, Number: r.Number, Attempt: r.Attempt, Decision: r.Decision, Known: r.Outcome != nil}
	if o := r.Outcome; o != nil {
		out.Interruption, out.Overlap = o.Interruption, o.Overlap
	}
	return out
}

// actions name what a viewer does to a chain in the audit log, as the REST interface
// names it.
var actions = map[segue.ChainState]string{
	segue.ChainPaused: "pause-chain", segue.ChainActive: "resume-chain", segue.ChainStopped: "stop-chain",
}

// SetState implements web.Chains.
func (c webChains) SetState(ctx context.Context, by web.Viewer, id string, from, to segue.ChainState, why string) error {
	return c.audited(ctx, by, actions[to], id, func() error {
		return c.server.store.SetChainState(ctx, id, from, to, why)
	})
}
