package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Say who may talk to a server",
		Long: `A token lets a program speak to 'segue serve' for a user. It works on the server's
store (--store, DATABASE_URL): whoever may write there may make one. The store
keeps a hash of it, so that it is shown once.`,
	}
	cmd.AddCommand(newTokenCreateCommand(), newTokenListCommand(), newTokenRevokeCommand())
	return cmd
}

func newTokenCreateCommand() *cobra.Command {
	var where chainStore
	var grant server.Grant
	var scopes []string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a token, and print it once",
		Long: `Create makes a token and prints it, alone, on standard output. Its scopes are read
(advice, and one's own chains), chains (pause, resume and stop those), submit (hand
chains over, which a server of root submits as the token's user) and operator
(everything, for everybody).`,
		Example: "  segue token create --user ada --scope read,chains --for 90d > ~/.segue-token",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range scopes {
				scope, err := api.ParseScope(name)
				if err != nil {
					return fmt.Errorf("--scope: %w", err)
				}
				grant.Scopes = append(grant.Scopes, scope)
			}
			return where.with(cmd.Context(), func(s *store.Store) error {
				id, secret, err := server.CreateToken(cmd.Context(), s, grant, userName(), segue.TimeOf(time.Now()))
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "Token %s of %s: keep it safe, it is not shown again.\n", id, grant.User)
				fmt.Fprintln(cmd.OutOrStdout(), secret)
				return nil
			})
		},
	}
	where.add(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&grant.User, "user", userName(), "for whom it speaks")
	flags.StringSliceVar(&scopes, "scope", []string{"read"}, "what it allows: read, chains, submit, operator")
	spanVar(flags, &grant.For, "for", 90*24*time.Hour, "how long it is valid, such as 90d; 0 is for ever")
	flags.StringVar(&grant.Note, "note", "", "what it is for")
	return cmd
}

func newTokenListCommand() *cobra.Command {
	var where chainStore
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tokens, those that are no longer valid too",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return where.with(cmd.Context(), func(s *store.Store) error {
				all, err := s.Tokens(cmd.Context())
				if err != nil {
					return err
				}
				return printTokens(cmd, all, asJSON, segue.TimeOf(time.Now()))
			})
		},
	}
	where.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func printTokens(cmd *cobra.Command, all []store.Token, asJSON bool, now segue.Time) error {
	out := cmd.OutOrStdout()
	if asJSON {
		for _, t := range all {
			line := struct {
				ID      string   `json:"id"`
				User    string   `json:"user"`
				Scopes  []string `json:"scopes"`
				State   string   `json:"state"`
				Created *string  `json:"created"`
				Expires *string  `json:"expires"`
				Note    string   `json:"note,omitempty"`
			}{t.ID, t.User, t.Scopes, stateOfToken(t, now), known(t.Created), known(t.Expires), t.Note}
			if err := json.NewEncoder(out).Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "There is no token. `segue serve` makes the first one, `segue token create` others.")
		return nil
	}
	w := newTable(out)
	w.AppendHeader(table.Row{"token", "user", "scopes", "state", "created", "expires (UTC)", "note"})
	for _, t := range all {
		w.AppendRow(table.Row{t.ID, t.User, strings.Join(t.Scopes, ", "), stateOfToken(t, now), onDay(t.Created), onDay(t.Expires), t.Note})
	}
	w.Render()
	return nil
}

// stateOfToken says in a word whether a token is let in.
func stateOfToken(t store.Token, now segue.Time) string {
	switch {
	case t.Revoked.Known():
		return "revoked"
	case t.Expires.Known() && t.Expires <= now:
		return "expired"
	}
	return "valid"
}

func newTokenRevokeCommand() *cobra.Command {
	var where chainStore
	cmd := &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "End a token, by its ID",
		Long:  "Revoke ends a token. Servers that have just seen it let it in for five seconds more.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return where.with(cmd.Context(), func(s *store.Store) error {
				if err := server.RevokeToken(cmd.Context(), s, args[0], userName(), segue.TimeOf(time.Now())); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "Token %s is revoked.\n", args[0])
				return nil
			})
		},
	}
	where.add(cmd.Flags())
	return cmd
}
