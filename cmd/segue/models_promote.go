package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
)

func newModelsPromoteCommand(f *modelsFlags) *cobra.Command {
	var reason string
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
			if err := r.Promote(args[0], reason); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The champion is %s.\n", args[0])
			return err
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, in one line (required)")
	return cmd
}

func newModelsRollbackCommand(f *modelsFlags) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Make the model the champion again that was it before",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := f.registry()
			if err != nil {
				return err
			}
			id, err := r.Rollback(reason)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The champion is %s again.\n", id)
			return err
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "rolled back by hand", "why, in one line")
	return cmd
}
