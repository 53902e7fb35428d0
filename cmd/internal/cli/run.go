package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
)

// The exit codes of the command.
const (
	ExitOK      = 0
	ExitFailure = 1 // it was understood, and did not work
	ExitUsage   = 2 // the command line or the input is wrong
)

// patience is how long a command that was interrupted may take to end.
const patience = 5 * time.Second

// Patience is the annotation of a command that may take longer to end, such as 30s:
// one that has to see others end.
const Patience = "patience"

// exitInterrupted is what a shell says of a process that SIGINT ended.
const exitInterrupted = 130

// Run executes the command line args of a root command and returns the exit code. SIGINT and
// SIGTERM cancel the command's context; a second one, or a command that goes on
// for five seconds more, or for its Patience, ends the process at once.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	context.AfterFunc(ctx, func() {
		stop()
		select {
		case <-ended:
		case <-time.After(patienceOf(root, args)):
			fmt.Fprintf(stderr, "%s: interrupted\n", root.Name())
			os.Exit(exitInterrupted)
		}
	})

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

// patienceOf returns how long the command of a command line may take to end.
func patienceOf(root *cobra.Command, args []string) time.Duration {
	cmd, _, err := root.Find(args)
	if err != nil {
		return patience
	}
	longer, _ := time.ParseDuration(cmd.Annotations[Patience]) // 0 where there is none
	return max(patience, longer)
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
