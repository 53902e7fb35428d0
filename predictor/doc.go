// Package predictor forecasts how long a request would wait if it were
// submitted now, as a distribution.
//
// What a forecaster may know is a [Present]: what the scheduler shows (a
// segue.Snapshot) and what anyone saw before (a [History] of starts and ends).
// Nothing in it lies in the future, so a forecast made in a replay is a
// forecast that could have been made.
//
// The forecasters:
//
//   - [Recent], [RecentUser]: the waits of jobs that started lately, of the same
//     shape, of the same user, or of all;
//   - [Forward]: a simulation of the scheduler from the snapshot, without later
//     arrivals, under supposed run times ([Limits], [LastTwo], [Learned]);
//   - [MonteCarlo]: many such simulations, with run times and later arrivals
//     drawn from the history.
//
// [RecordedAt] shows the present of a recorded history at one instant, [Walk] at
// many, one after the other.
//
// The package does no I/O, reads no clock, and draws random numbers only from
// seeds. Start reading at forecaster.go, then forward.go and montecarlo.go.
package predictor
