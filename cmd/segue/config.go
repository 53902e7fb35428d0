package main

import (
	"errors"
	"fmt"
	"log/slog"
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
or the variable of the environment, what was found and what is allowed. Then it looks,
as 'segue serve' does, whether what is named is there: the certificate and its key, the
key of sessions, the model and Slurm's commands. So run it where and as whom the
server runs. It opens no database and no port.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkServed(args[0]); err != nil {
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

// checkServed returns why a server would not start with a file.
func checkServed(file string) error {
	c, err := (&serveFlags{file: file}).settings()
	if err != nil {
		return err
	}
	_, certificate := certificateOf(c)
	_, rest := serverConfig(c, slog.New(slog.DiscardHandler))
	return errors.Join(certificate, rest)
}
