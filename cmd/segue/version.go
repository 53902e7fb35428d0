package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show which segue this is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), cli.DescribeBuild("segue", cli.Build()))
			return err
		},
	}
}
