// Package xgboost trains boosted trees and random forests with libxgboost
// through its C API, and exports them for package predictor/trees.
//
//	rows -> Matrix -> Train -> Booster -> JSON -> Export -> predictor/trees
//
// Training needs the library (Debian's libxgboost-dev, 1.7 or later) and the
// build tag native; without the tag the package holds only [Export] and
// [Importance], which are plain Go. Training is deterministic: the same rows,
// configuration and number of threads give the same bytes on the same machine.
//
// What libxgboost allocates, Go does not see: a Matrix and a Booster live until
// they are closed. All data are copied on the way in and on the way out, so no
// slice that was passed in is kept and no result points into the library.
//
// Set OMP_WAIT_POLICY=passive in the environment in which a training process
// starts. Else the library's threads wait for each other by spinning, and where
// other work shares the cores two of them take several times as long as one;
// BenchmarkTrain shows it. It is read before the first line of Go runs.
//
// The package never reads a file or a clock, and never prints. Start reading at
// config.go and train.go, then export.go.
package xgboost
