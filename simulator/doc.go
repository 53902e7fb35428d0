// Package simulator replays a batch cluster: jobs arrive, wait in priority
// order, are started by a main pass and by backfill, and end at the smaller of
// their run time and their limit. It is event-driven and deterministic, and its
// state can be forked in microseconds, so that "what if it were submitted now"
// can be asked tens of thousands of times.
//
// # The model
//
// A [Pool] is a number of equal nodes with GPUs. A [Partition] names a pool, a
// priority tier and a preemption mode; several partitions may share one pool.
// A job takes whole nodes, or some GPUs on each of its nodes. Nodes that are
// handed out whole are interchangeable and only counted; nodes that are shared
// by several jobs are told apart.
//
// # An instant
//
// Everything that happens at one instant is taken in this order (with
// [PerInstant] events): ends, outages, releases of held jobs, cancellations,
// submissions, one scheduling pass. [PerEvent] takes submissions before ends
// and makes a pass after each single event; a running job whose estimated end
// is now counts as free then. docs/simulator.md lists the rules, what a real
// Slurm does otherwise, and the speed.
//
//	arrivals ─┐
//	releases ─┼─> queue (by priority) ─> main pass ─> backfill pass ─> running ─> ended
//	requeues ─┘                                                          │
//	    └────────────────── preemption, node outage ─────────────────────┘
//
// # What it never does
//
// It performs no I/O, reads no clock and starts no goroutine; equal inputs give
// equal schedules. It does not know why a user submits: arrivals are given.
//
// Start reading at sim.go (the loop), then pass.go, easy.go and slurm.go;
// testdata/scenarios tells what each feature does.
package simulator
