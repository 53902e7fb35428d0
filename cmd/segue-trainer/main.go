//go:build native

package main

import (
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
)

func main() {
	waitPassively()
	os.Exit(cli.Run(newRootCommand(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// waitPassively starts the program again with OMP_WAIT_POLICY=passive, unless
// the user has set it. libxgboost's threads otherwise spin while they wait for
// each other, which on a busy machine makes training several times slower; they
// read the variable before Go runs.
func waitPassively() {
	const name = "OMP_WAIT_POLICY"
	if _, set := os.LookupEnv(name); set {
		return
	}
	if self, err := os.Executable(); err == nil {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), name+"=passive")) // returns when it failed
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "segue-trainer",
		Short: "Train models on a cluster's job history",
		Long: `segue-trainer makes models from a cluster's job history: trees that forecast
waits, and networks that decide when to submit the next link of a chain. 'segue
backtest --model DIR' judges a model, 'segue advise --model DIR' decides with it.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newPromoteCommand(), newRecordedCommand(), newTrainCommand(), newShardCommand(), newMergeCommand())
	return root
}
