package server

import (
	"context"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// look is the time between two looks for changes.
const look = 2 * time.Second

// watch publishes what changes in the store, whichever server or command changed
// it. One look serves all who follow.
func (s *Server) watch(ctx context.Context) {
	var seen seenChains
	for {
		if err := seen.look(ctx, s.store, s.cfg.Now(), s.feed); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("changes are not seen", "error", err)
		}
		if schedulers.Sleep(ctx, look) != nil {
			return
		}
	}
}

// linkKey names a link.
type linkKey struct {
	chain           string
	number, attempt int
}

// chainSeen is what may change of a chain.
type chainSeen struct {
	state segue.ChainState
	why   string
}

// seenChains are chains and links as they were at the latest look; nil before the
// first.
type seenChains struct {
	chains map[string]chainSeen
	links  map[linkKey]segue.Link
}

// look compares the store with what was seen, and publishes the difference.
func (o *seenChains) look(ctx context.Context, s *store.Store, now segue.Time, feed *api.Feed) error {
	live, err := s.Chains(ctx, store.ChainQuery{States: []segue.ChainState{segue.ChainActive, segue.ChainPaused}})
	if err != nil {
		return err
	}
	links, err := s.LiveLinks(ctx)
	if err != nil {
		return err
	}
	chains := map[string]segue.Chain{}
	for _, c := range live {
		chains[c.ID] = c
	}
	for id := range o.chains {
		if _, ok := chains[id]; !ok { // it goes on no more
			c, err := s.Chain(ctx, id)
			if err != nil {
				return err
			}
			c.Submission = segue.Submission{}
			chains[id] = c
		}
	}
	first := o.chains == nil
	events := o.compare(chains, links, now)
	if !first {
		feed.Publish(events...)
	}
	return nil
}

// compare remembers chains and links, and returns what is new of them.
func (o *seenChains) compare(chains map[string]segue.Chain, links []segue.Link, now segue.Time) []api.Event {
	var events []api.Event
	before, linksBefore := o.chains, o.links
	o.chains, o.links = map[string]chainSeen{}, map[linkKey]segue.Link{}
	for id, c := range chains {
		is := chainSeen{c.State, c.Why}
		if was, ok := before[id]; !ok || was != is {
			events = append(events, api.Event{At: now, Chain: c})
		}
		if !c.State.Final() {
			o.chains[id] = is
		}
	}
	for _, l := range links {
		key := linkKey{l.Chain, l.Number, l.Attempt}
		c, ok := chains[l.Chain]
		if was, known := linksBefore[key]; ok && (!known || was != l) {
			events = append(events, api.Event{At: now, Chain: c, Link: &l})
		}
		o.links[key] = l
	}
	return events
}
