package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/config"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and print the configuration of a server",
		Long:  "Config is about the file that 'segue serve --config' reads (docs/operator.md).",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "check FILE",
		Short: "Say what is wrong in a configuration, and where",
		Long: `Check reads a configuration and says for all that is wrong the line, the column,
what was found and what is allowed. It opens nothing that the file names.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := config.Read(args[0], os.Getenv); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s can be used.\n", args[0])
			return nil
		},
	}, &cobra.Command{
		Use:   "print FILE",
		Short: "Print a configuration with what the environment says instead, without secrets",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Read(args[0], os.Getenv)
			if err != nil {
				return err
			}
			text, err := config.Print(c)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s", text)
			return nil
		},
	})
	return cmd
}
