package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
)

// The exit codes of the command.
const (
	exitOK      = 0
	exitFailure = 1 // it was understood, and did not work
	exitUsage   = 2 // the command line or the input is wrong
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line args and returns the exit code. SIGINT and
// SIGTERM cancel the command's context; a second one ends the process at once.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd()
	refuseStrayArguments(root)
	markRunErrors(root)

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	return report(stderr, cmd, err)
}

// report prints err once, for a person to act on, and returns the exit code.
func report(stderr io.Writer, cmd *cobra.Command, err error) int {
	message := err.Error()
	if errors.Is(err, context.Canceled) {
		message = "interrupted"
	}
	fmt.Fprintf(stderr, "segue: %s\n", message)
	_, ran := errors.AsType[runError](err)
	switch {
	case !ran:
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitUsage
	case segue.KindOf(err) == segue.Invalid:
		return exitUsage
	}
	return exitFailure
}
