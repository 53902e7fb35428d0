// Package trainer turns a cluster's history into judged decisions: it replays
// the history, probes what every submit time of a chain's next link would have
// led to, asks the forecasters at each of these moments what they would have
// said, and measures every policy on the result.
//
// [Collect] does the expensive part once, on several cores: the episodes of a
// backtest, one per start, each with its outcome curve and its forecasts. With
// them a policy at one value of its parameter is a look-up ([Trial]).
// [Backtest] is the whole of it: plain, rolling by month, and under stress.
//
// [Replays] makes a history ready for the simulator, plainly and with all that it
// gives away about limits, dependencies, nodes and the order of the queue.
// [MeasureFidelity] says how close the waits of either come to the recorded ones,
// [Measure] what a replay came to, and [Probe] what would have come of one start.
//
// [AskRecorded] asks the forecasters at every submission that a history recorded,
// and [JudgeRecorded] scores what they said by the waits that came.
//
// The package is a wire: it joins simulator, outcomes, predictor, policy and
// evaluation, starts the goroutines, and leaves files and terminals to its
// callers. Start reading at backtest.go, then episode.go.
package trainer
