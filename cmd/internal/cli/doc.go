// Package cli is what Segue's commands share on the command line: how they run
// and report errors, how they show progress, and the flags that name a job
// history and describe a cluster.
//
// It decides nothing about the work of a command. Start reading at run.go.
package cli
