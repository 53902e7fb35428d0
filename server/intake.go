package server

import (
	"context"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// intake takes chains over, to keep them going.
type intake struct {
	chains
	cfg   Config
	users *accounts
}

// mostChains is how many chains of a user go on at once at most.
const mostChains = 1000

// Create implements api.Chains. The number of the first link's job is what the user
// says it is: one of another user's counts as a job that has ended (see
// provisioner.Chains), and is never touched.
func (in intake) Create(ctx context.Context, chain segue.Chain, first segue.Link) error {
	if err := in.refuse(chain.User); err != nil {
		return err
	}
	counts, err := in.store.CountChainsOf(ctx, chain.User)
	if err != nil {
		return err
	}
	if n := counts[segue.ChainActive] + counts[segue.ChainPaused]; n >= mostChains {
		return segue.Errorf(segue.Invalid, "%d chains of %s go on already, which is the most: stop some", n, chain.User)
	}
	if err := in.refuseLink(ctx, chain, first); err != nil {
		return err
	}
	return in.store.CreateChain(ctx, chain, first)
}

// mostOpen is how many chains of a user may wait to be told whether their first link
// has a job: the scheduler is asked about each by itself, in every round.
const mostOpen = 5

// refuse returns why the chains of a user are not kept going here.
func (in intake) refuse(user string) error {
	switch {
	case in.cfg.Driver == nil:
		return segue.Errorf(segue.Invalid, "this server submits nothing: it has no scheduler")
	case !in.cfg.Root && user != in.cfg.User:
		return segue.Errorf(segue.Invalid, "this server submits as %s, and for nobody else", in.cfg.User)
	case !in.cfg.Root:
		return nil
	}
	a, err := in.users.byName(user)
	if err != nil {
		return err
	}
	if a.uid == 0 { // a token alone is not to run what it likes as root
		return segue.Errorf(segue.Invalid, "chains of root are not taken over")
	}
	// The scheduler calls users by the first name of their number: by another one their
	// jobs would be somebody else's.
	first, err := in.users.byID(a.uid)
	if err == nil && first.name != user {
		err = segue.Errorf(segue.Invalid, "user %s is %s to the scheduler", user, first.name)
	}
	return err
}

// refuseLink refuses a job that is a link of another chain of the user's, and one more
// of which nobody knows whether it is a job.
func (in intake) refuseLink(ctx context.Context, chain segue.Chain, first segue.Link) error {
	links, err := in.store.LiveLinks(ctx)
	if err != nil {
		return err
	}
	chains, err := in.store.Chains(ctx, store.ChainQuery{User: chain.User}) // those that were stopped have links too
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for _, c := range chains {
		own[c.ID] = true
	}
	open := 0
	for _, l := range links {
		switch {
		case !own[l.Chain] || l.State.Final():
		case l.State == segue.LinkSubmitting:
			open++
		case l.Job == first.Job:
			return segue.Errorf(segue.Conflict, "job %s is link %d of chain %s already", l.Job, l.Number, l.Chain)
		}
	}
	if first.State == segue.LinkSubmitting && open >= mostOpen {
		return segue.Errorf(segue.Unavailable, "the scheduler is still asked whether the first links of %d chains of %s have jobs", open, chain.User)
	}
	return nil
}
