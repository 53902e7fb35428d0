// Package server builds a server and runs it: the REST interface on top of the
// store, advice that is remembered for some seconds, the loops that keep chains
// going while this server leads, and the watch that tells of changes.
//
// Of several servers on one store one leads, by a lease: it alone submits. All of
// them answer. What a server has in memory it can lose.
//
// The package reads no clock of its own; flags, files of configuration and signals
// are for the command. Start reading at server.go, then advisor.go and loops.go.
package server
