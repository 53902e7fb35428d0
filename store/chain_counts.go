package store

import (
	"context"

	"github.com/segue-project/segue"
)

// CountChains returns how many chains are in each state.
func (s *Store) CountChains(ctx context.Context) (counts map[segue.ChainState]int, err error) {
	return s.CountChainsOf(ctx, "")
}

// CountChainsOf returns how many chains of a user, with "" of all, are in each state.
func (s *Store) CountChainsOf(ctx context.Context, user string) (counts map[segue.ChainState]int, err error) {
	defer s.wrap(&err, "count chains")
	type group struct {
		state segue.ChainState
		n     int
	}
	groups, err := collect(ctx, s.read, func(row scanner) (g group, err error) {
		err = row.Scan(toName[segue.ChainState]{&g.state, segue.ParseChainState}, &g.n)
		return g, err
	}, `SELECT state, count(*) FROM chains WHERE ($1 = '' OR username = $1) GROUP BY state`, text(user))
	if err != nil {
		return nil, err
	}
	counts = map[segue.ChainState]int{}
	for _, g := range groups {
		counts[g.state] = g.n
	}
	return counts, nil
}
