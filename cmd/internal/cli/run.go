package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
)

// The exit codes of the command.
const (
	ExitOK      = 0
	ExitFailure = 1 // it was understood, and did not work
	ExitUsage   = 2 // the command line or the input is wrong
)

// Run executes the command line args of a root command and returns the exit code. SIGINT and
// SIGTERM cancel the command's context; a second one ends the process at once.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	addProgressFlag(root)
	root.SetArgs(args)
	root.SetIn(stdin)
	printed := &output{w: stdout}
	root.SetOut(printed)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd()
	refuseStrayArguments(root)
	markRunErrors(root)

	cmd, err := root.ExecuteContextC(ctx)
	if lost := printed.failed(); err == nil && lost != nil {
		err = runError{fmt.Errorf("write the output: %w", lost)}
	}
	if err == nil {
		return ExitOK
	}
	return report(stderr, cmd, err)
}

// report prints err once, for a person to act on, and returns the exit code.
func report(stderr io.Writer, cmd *cobra.Command, err error) int {
	message := err.Error()
	if errors.Is(err, context.Canceled) {
		message = "interrupted"
	}
	fmt.Fprintf(stderr, "%s: %s\n", cmd.Root().Name(), message)
	_, ran := errors.AsType[runError](err)
	switch {
	case !ran:
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return ExitUsage
	case segue.KindOf(err) == segue.Invalid:
		return ExitUsage
	}
	return ExitFailure
}
