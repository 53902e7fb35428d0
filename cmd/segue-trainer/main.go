//go:build native

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Run(newRootCommand(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
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
	root.AddCommand(newTrainCommand())
	return root
}
