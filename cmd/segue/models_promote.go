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
	cmd := &cobra.Command{
		Use:   "promote ID",
		Short: "Make a model the champion, the one that decides",
		Long: `Promote makes a model the champion after comparing every byte of it with its
checksum. The reason is logged; 'segue models rollback' undoes the step.`,
		Example: `  segue models promote 2023-03-01 --reason "costs 0.4 h a start less in February"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return segue.Errorf(segue.Invalid, "--reason is missing: say why, in one line")
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
	cmd.Flags().StringVar(&reason, "reason", "", "why, in one line (required)")
	return cmd
}

func newModelsRollbackCommand(f *modelsFlags) *cobra.Command {
	var reason string
	var where chainStore
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Make the model the champion again that was it before",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.registry()
			if err != nil {
				return err
			}
			was, _ := r.Champion() // where there is none, Rollback says so
			var id string
			err = where.noted(cmd.Context(), "roll-back-model", was, func() (err error) {
				id, err = r.Rollback(reason)
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
	cmd.Flags().StringVar(&reason, "reason", "rolled back by hand", "why, in one line")
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
