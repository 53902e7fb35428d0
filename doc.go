// Package segue is the vocabulary of Segue, which keeps long jobs running on
// batch GPU clusters: a cluster ends every job at its time limit, so work that
// lives for weeks is a chain of jobs, and Segue decides when to submit each
// next link.
//
// The package holds values and their small, pure rules: [Job] (one record of a
// cluster's history), [Shape] and [Request] (what a job asks for), [Snapshot]
// (what a scheduler shows at one instant), [Forecast] (the wait as a
// distribution), [Preference] (what an hour of overlap is worth) and [Decision]
// (submit now, or wait until when, and why), [Chain] and [Link] (work that goes on
// over several jobs). It imports the standard library
// only, performs no I/O and never reads a clock.
//
// Start reading at job.go, then forecast.go and decision.go.
package segue
