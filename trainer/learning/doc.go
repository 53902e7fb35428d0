// Package learning makes a model from a cluster's history: trees that forecast
// waits, and networks that decide by them.
//
// [Learn] is the whole of it, in numbered steps: gather samples (trainer.Gather),
// fit the trees on blocks of time so that every sample also has a forecast by
// trees that never saw its time, recalibrate these forecasts as they would have
// been at the time, and train each policy on the decision problem that results.
// Nothing of the history after its end is used, and what a policy is validated
// on is never what its forecasts were fitted on.
//
// [ForetellRecorded] fits trees to recorded waits instead, again and again, and
// foretells the next ones: docs/recorded.md judges them.
//
// The published method that everything is measured against is fitted beside it on
// request, from samples of its own (published.go); no other part reads what comes
// of it.
//
// The parts that call libxgboost and libtorch need the build tag native. Start
// reading at learn.go.
package learning
