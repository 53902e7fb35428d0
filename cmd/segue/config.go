package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/config"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check and print the configuration of a server",
		Long:  "Config is about the file that 'segue serve --config' reads (docs/operator.md).",
	}
	cmd.AddCommand(newConfigCheckCommand(), newConfigPrintCommand())
	return cmd
}

func newConfigCheckCommand() *cobra.Command {
	return &cobra.Command{
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
	}
}

func newConfigPrintCommand() *cobra.Command {
	var defaults bool
	cmd := &cobra.Command{
		Use:   "print [FILE]",
		Short: "Print a configuration with what the environment says instead, without secrets",
		Long: `Print shows what a file of configuration and the environment say together. With
--defaults every other setting follows as a comment, with its default and what it is:
without a file that is all there is to set.`,
		Example: "  segue config print /etc/segue/segue.yaml\n  segue config print --defaults > segue.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Read(strings.Join(args, ""), os.Getenv)
			if err != nil {
				return err
			}
			show := config.Print
			if defaults {
				show = config.PrintAll
			}
			text, err := show(c)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s", text)
			return nil
		},
	}
	cmd.Flags().BoolVar(&defaults, "defaults", false, "print what is not set too, as comments with the defaults")
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
