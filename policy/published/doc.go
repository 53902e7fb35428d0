// Package published is the method that Segue is measured against, built anew
// from the description of its formulation: a regressor of the signed outcome of
// a submission (hours of interruption above 0, of overlap below) on a day of raw
// numbers of the queue, and a fixed threshold at which to submit.
//
// Four regressors are of the kind: a random forest, boosted trees, a transformer
// and a mixture of transformers, one of each for every size of pair. The state,
// which training and serving share, is 144 snapshots of 42 numbers, one every ten
// minutes (Mirage, SC'23: docs/learning.md says what is known of it and where
// this differs).
//
// It is a baseline and no part of what `segue advise` decides by. The package
// does no I/O and never trains. Start reading at snapshot.go, then timeline.go
// and model.go.
package published
