// Command segue keeps long jobs running on batch GPU clusters: it replays a
// cluster's job history, forecasts waits, and says when to submit the next
// link of a chain of jobs.
//
// The command ties the packages together and does all the talking: it reads
// flags and files, reads the clock, prints tables, and turns errors into exit
// codes. It never computes a result of its own: a number that it prints comes
// from a brain or from a hand. It is pure Go and static.
//
// Start reading at main.go, then root.go, which registers the subcommands: one
// file each.
package main
