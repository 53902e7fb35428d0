package main

import "github.com/spf13/cobra"

// newRootCommand returns the command line of segue. This is the one place where
// subcommands are registered.
func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "segue",
		Short: "Keep long jobs running on batch GPU clusters",
		Long: `Segue keeps long jobs running on batch GPU clusters.

A cluster ends every job at its time limit, so work that lives for weeks is a
chain of jobs. Submit the next link too late and the work stands still
(interruption); too early and both links burn GPUs at once (overlap). Segue
learns the queue from the cluster's own history and says when to submit.`,
		SilenceErrors: true, // main reports
		SilenceUsage:  true,
	}
	root.AddCommand(
		newAdoptCommand(),
		newAdviseCommand(),
		newAgentCommand(),
		newBacktestCommand(),
		newConfigCommand(),
		newHealthCommand(),
		newHistoryCommand(),
		newLogsCommand(),
		newModelsCommand(),
		newOutcomeCommand(),
		newReadyCommand(),
		newSbatchCommand(),
		newServeCommand(),
		newShadowCommand(),
		newSimulateCommand(),
		newStatusCommand(),
		newStoreCommand(),
		newTokenCommand(),
		newTraceCommand(),
		newTrainCommand(),
		newVersionCommand(),
		newWhyCommand(),
	)
	root.AddCommand(newChainStateCommands()...)
	return root
}
