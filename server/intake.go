package server

import (
	"context"
	"errors"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// intake takes chains over, to keep them going.
type intake struct {
	chains
	cfg      Config
	users    *accounts
	carriers *carriers // nil where chains are one user's, or there is no scheduler
}

func newIntake(s *store.Store, cluster *schedulers.Cluster, cfg Config) intake {
	in := intake{chains: chains{s}, cfg: cfg, users: newAccounts(cfg.Now)}
	if cfg.Root && cluster != nil {
		in.carriers = newCarriers(cluster, cfg)
	}
	return in
}

// mostOf is how much of one user is taken over: chains that go on at once, or were made
// within a month; chains that wait to be told whether their first link has a job; and what
// later links replay, of which each chain may have 8 MiB and has some 20 KiB.
var mostOf = store.Most{Chains: 1000, Recent: 10_000, Open: 5, Bytes: 256 << 20}

// Create implements api.Chains. The number of the first link's job is what the user
// says it is: one of another user's counts as a job that has ended (see
// provisioner.Chains), and is never touched.
func (in intake) Create(ctx context.Context, chain segue.Chain, first segue.Link) error {
	if err := in.refuse(chain.User); err != nil {
		return err
	}
	if in.carriers != nil {
		if err := in.carriers.refuse(ctx, chain, first); err != nil {
			return err
		}
	}
	err := in.store.ClaimChain(ctx, chain, first, mostOf)
	if errors.Is(err, store.ErrLinkAlready) {
		err = segue.Errorf(segue.Conflict, "%w", api.LinkAlready(err.Error()))
	}
	return err
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
	// The scheduler calls users by the first name of their number: by another one their
	// jobs would be somebody else's.
	first, err := in.users.byID(a.uid)
	if err == nil && first.name != user {
		err = segue.Errorf(segue.Invalid, "user %s is %s to the scheduler", user, first.name)
	}
	return err
}
