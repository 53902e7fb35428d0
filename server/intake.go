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
	if err := in.refuseTwice(ctx, chain, first.Job); err != nil {
		return err
	}
	return in.store.CreateChain(ctx, chain, first)
}

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
	return nil
}

// refuseTwice refuses a job that is a link of another chain of the user's.
func (in intake) refuseTwice(ctx context.Context, chain segue.Chain, job segue.JobID) error {
	if job.Number == 0 {
		return nil
	}
	links, err := in.store.LiveLinks(ctx)
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Job != job || l.State.Final() || l.Chain == chain.ID {
			continue
		}
		other, err := in.store.Chains(ctx, store.ChainQuery{User: chain.User})
		if err != nil {
			return err
		}
		for _, c := range other {
			if c.ID == l.Chain {
				return segue.Errorf(segue.Conflict, "job %s is link %d of chain %s already", job, l.Number, l.Chain)
			}
		}
	}
	return nil
}
