package server

import (
	"context"
	"maps"
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

func keyOf(l segue.Link) linkKey { return linkKey{l.Chain, l.Number, l.Attempt} }

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
			if chains[id], err = withoutSubmission(ctx, s, id); err != nil {
				return err
			}
		}
	}
	gone, err := o.gone(ctx, s, links)
	if err != nil {
		return err
	}
	owners := maps.Clone(chains)
	for _, l := range gone {
		if _, ok := owners[l.Chain]; ok {
			continue
		}
		if owners[l.Chain], err = withoutSubmission(ctx, s, l.Chain); err != nil {
			return err
		}
	}
	first := o.chains == nil
	events := o.compare(chains, owners, append(links, gone...), now)
	if !first {
		feed.Publish(events...)
	}
	return nil
}

// withoutSubmission returns a chain without its environment, which is nobody's
// business.
func withoutSubmission(ctx context.Context, s *store.Store, id string) (segue.Chain, error) {
	c, err := s.Chain(ctx, id)
	c.Submission = segue.Submission{}
	return c, err
}

// gone returns the links that were live at the latest look, and of which live tells
// nothing: they ended when a successor waited already.
func (o *seenChains) gone(ctx context.Context, s *store.Store, live []segue.Link) (ended []segue.Link, err error) {
	told := map[linkKey]bool{}
	for _, l := range live {
		told[keyOf(l)] = true
	}
	for key, was := range o.links {
		if told[key] || was.State.Final() {
			continue
		}
		l, err := s.LinkByToken(ctx, was.Token())
		if segue.KindOf(err) == segue.NotFound {
			continue // with its chain
		}
		if err != nil {
			return nil, err
		}
		ended = append(ended, l)
	}
	return ended, nil
}

// compare remembers chains and links, and returns what is new of them. owners are the
// chains of the links, of which some are over for longer.
func (o *seenChains) compare(chains, owners map[string]segue.Chain, links []segue.Link, now segue.Time) []api.Event {
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
		key := keyOf(l)
		c, ok := owners[l.Chain]
		if was, known := linksBefore[key]; ok && (!known || was != l) {
			events = append(events, api.Event{At: now, Chain: c, Link: &l})
		}
		o.links[key] = l
	}
	return events
}
