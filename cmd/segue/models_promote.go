package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
)

func newModelsPromoteCommand(f *modelsFlags) *cobra.Command {
	var reason string
	var where chainStore
	var ask serverFlags
	cmd := &cobra.Command{
		Use:   "promote ID",
		Short: "Make a model the champion, the one that decides",
		Long: `Promote makes a model the champion after comparing every byte of it with its
checksum. The reason is logged; 'segue models rollback' undoes the step. With
--server a server does so with a model of its own, and follows: that takes a token
of the scope operator.`,
		Example: `  segue models promote 2023-03-01 --reason "costs 0.4 h a start less in February"
  segue models promote 20261130-023000 --reason "costs less" --server https://segue:7411 --token-file operator.token`,
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: completeModel(f, &ask),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return noReason()
			}
			asks, err := f.asks(cmd, &ask)
			switch {
			case err != nil:
				return err
			case asks:
				return ask.told(promoteServed(cmd, &ask, args[0], reason))
			}
			r, err := f.registry()
			if err != nil {
				return err
			}
			err = where.noted(cmd.Context(), "promote-model", args[0], func() error { return r.Promote(args[0], reason) })
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The champion is %s.\n", args[0])
			return err
		},
	}
	where.addLog(cmd.Flags())
	ask.add(cmd.Flags(), "to promote a model of its own")
	cmd.Flags().StringVar(&reason, "reason", "", "why, in one line (required)")
	return cmd
}

func noReason() error {
	return segue.Errorf(segue.Invalid, "--reason is missing: say why, in one line")
}

func newModelsRollbackCommand(f *modelsFlags) *cobra.Command {
	var reason, expected string
	var where chainStore
	var ask serverFlags
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Make the model the champion again that was it before",
		Long: `Rollback makes the model the champion again that was it before the present one.
Twice goes back two promotions, unless --expected says from which. With --server a
server does so, and follows: that takes a token of the scope operator.`,
		Example: `  segue models rollback --reason "submits too late since Monday"
  segue models rollback --expected 20261130-023000 --server https://segue:7411 --token-file operator.token`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if reason == "" {
				return noReason()
			}
			asks, err := f.asks(cmd, &ask)
			switch {
			case err != nil:
				return err
			case asks:
				return ask.told(rollBackServed(cmd, &ask, expected, reason))
			}
			r, err := f.registry()
			if err != nil {
				return err
			}
			if expected == "" {
				expected, _ = r.Champion() // where there is none, RollbackFrom says so
			}
			var id string
			err = where.noted(cmd.Context(), "roll-back-model", expected, func() (err error) {
				id, err = r.RollbackFrom(expected, reason)
				return err
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The champion is %s again.\n", id)
			return err
		},
	}
	where.addLog(cmd.Flags())
	ask.add(cmd.Flags(), "to roll back to a model of its own")
	cmd.Flags().StringVar(&reason, "reason", "rolled back by hand", "why, in one line")
	cmd.Flags().StringVar(&expected, "expected", "", "do nothing unless this is the champion (default whichever is)")
	return cmd
}

// addLog adds the flag of a command that only notes in the store what it does.
func (c *chainStore) addLog(flags *pflag.FlagSet) {
	flags.StringVar(&c.where, "store", "", "the store whose audit log is to have a line of it (default DATABASE_URL, or the file of one's own if it is there)")
}

// noted does something between two lines in the audit log of the store, or without
// where there is no store: the folder of the models has a log of its own.
func (c *chainStore) noted(ctx context.Context, action, object string, do func() error) error {
	s, err := c.existing(ctx)
	if err != nil {
		return err
	}
	if s == nil {
		return do()
	}
	defer func() { _ = s.Close() }()
	return audited(ctx, s, action, object, do)
}
