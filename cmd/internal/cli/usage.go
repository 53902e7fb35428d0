package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// runError marks an error that a command returned once it ran. Every other
// error of cobra's Execute is about the command line itself.
type runError struct{ err error }

func (e runError) Error() string { return e.err.Error() }
func (e runError) Unwrap() error { return e.err }

// markRunErrors makes the commands at and under cmd return their errors as
// runError.
func markRunErrors(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if err := run(cmd, args); err != nil {
				return runError{err}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		markRunErrors(sub)
	}
}

// refuseStrayArguments makes every command that only holds others refuse a
// name that none of them has, where cobra would print help and report success.
// Without a name such a command prints its help.
func refuseStrayArguments(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = unknownSubcommand
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range cmd.Commands() {
		refuseStrayArguments(sub)
	}
}

func unknownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := ""
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", strings.Join(names, " or "))
	}
	return fmt.Errorf("%s has no command %q%s", cmd.CommandPath(), args[0], hint)
}
