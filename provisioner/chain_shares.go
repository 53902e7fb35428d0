package provisioner

import (
	"context"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// share leaves of the chains and links those that are this loop's in this round, and
// gives back the leases of users who have none any more.
func (c *Chains) share(
	ctx context.Context, chains []segue.Chain, live []segue.Link, owners map[string]segue.Chain,
) ([]segue.Chain, []segue.Link, error) {
	if c.cfg.Shares == nil {
		return chains, live, nil
	}
	c.under = map[string]*store.Store{}
	stores := map[string]*store.Store{} // by user; nil for those whose agent works
	take := func(chain segue.Chain) error {
		under, asked := stores[chain.User]
		if !asked {
			var err error
			if under, err = c.cfg.Shares.Of(ctx, chain.User); err != nil && segue.KindOf(err) != segue.Conflict {
				return err
			}
			stores[chain.User] = under
		}
		c.under[chain.ID] = under
		return nil
	}
	for _, chain := range chains {
		if err := take(chain); err != nil {
			return nil, nil, err
		}
	}
	for _, l := range live {
		if err := take(owners[l.Chain]); err != nil {
			return nil, nil, err
		}
	}
	var users []string
	for user := range stores {
		users = append(users, user)
	}
	return slices.DeleteFunc(chains, func(chain segue.Chain) bool { return c.under[chain.ID] == nil }),
		slices.DeleteFunc(live, func(l segue.Link) bool { return c.under[l.Chain] == nil }),
		c.cfg.Shares.Release(ctx, users...)
}

// on returns where changes of a chain go.
func (c *Chains) on(chain string) *store.Store {
	if c.cfg.Shares == nil {
		return c.store
	}
	return c.under[chain]
}
