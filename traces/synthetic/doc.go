// Package synthetic makes job histories of clusters that never existed, for
// tests, demonstrations and benchmarks where no real history may be used or
// none is large enough.
//
// A history comes out of three parts, each seeded on its own:
//
//   - a population of users, each with a level of activity, a few job scripts
//     (shape, limit, how long it really runs) and habits: bursts, arrays, chains
//     of jobs that each wait for the one before;
//   - a calendar: hours of the day, days of the week, and regimes of load, calm
//     or congested, that last weeks;
//   - a light scheduler that turns submissions into starts.
//
// The scheduler is not a model of Slurm: first come, first served with EASY
// backfill, whole nodes (or GPUs of one shared node), limits on the jobs of a
// user, and nodes that need a moment between two jobs. It has no priorities, no
// outages, no partitions. It is here so that ten million rows stream in bounded
// memory; a history to judge a policy by is better generated with
// Config.Unscheduled and replayed through the simulator.
//
// Default parameters follow the marginals of a real cluster's log;
// docs/synthetic.md compares the two and says how to measure it again.
//
// The package does no I/O and reads no clock; equal configurations give equal
// histories. Start reading at config.go, then generate.go.
package synthetic
