package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// completing is how long somebody who presses the tab key waits at most.
const completing = 2 * time.Second

// completeChain returns what completes the ID of a chain in one of some states, with
// none in any, where the command looks for it. It makes no store, brings nothing
// anywhere, and is silent where nobody answers.
func completeChain(where *chainStore, ask *serverFlags, states ...segue.ChainState) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completing)
		defer cancel()
		chains, err := completable(ctx, where, ask, store.ChainQuery{States: states})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var all []cobra.Completion
		for _, c := range chains {
			// A server gives chains of all states.
			if strings.HasPrefix(c.ID, begun) && (len(states) == 0 || slices.Contains(states, c.State)) {
				all = append(all, cobra.CompletionWithDesc(c.ID, printable(c.Name)+", "+c.State.String()))
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completable returns the chains of the server that is named, or of a store that is there.
func completable(ctx context.Context, where *chainStore, ask *serverFlags, q store.ChainQuery) ([]segue.Chain, error) {
	if ask.fromEnvironment(where) {
		c, err := ask.client()
		if err != nil {
			return nil, err
		}
		return served{c}.Chains(ctx, q)
	}
	s, err := where.existing(ctx)
	if s == nil || err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return s.Chains(ctx, q)
}
