// Package store remembers: chains and their links, decisions and what came of
// them, the histories of clusters, and what a scheduler was seen to do. One set of
// queries runs on two engines: SQLite, a file that a user's processes share, and
// PostgreSQL, for a service. docs/store.md is its manual, with a picture of the
// schema.
//
// The state machines of chains and links hold in the database itself, for whoever
// writes to it:
//
//	chain:  active <--> paused
//	           \          /
//	            v        v
//	        done, stopped, failed
//
//	link:   submitting --> queued <--> running --> ended
//	             |            (requeue)              ^
//	             |------> lost                       |
//	             '-----------------------------------'  (and queued --> ended)
//
// A method that changes something is one transaction: all of it is there
// afterwards, or nothing. What a change is based on is part of the change:
// [Store.NextLink] names the link that it follows, [Store.UpdateLink] the state
// that it saw, [Store.Under] the lease that allows it. Whoever comes second gets
// an error of kind Conflict and nothing is done twice. After an error of kind
// Unavailable it is open whether the change was made: look, or ask for the same
// again; at worst that ends in Conflict.
//
// The package never reads the clock, never starts a goroutine, and decides
// nothing. Start reading at store.go, then migrations/00001_chains.sql, links.go
// and jobs.go.
package store
