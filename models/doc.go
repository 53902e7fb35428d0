// Package models keeps trained models: a folder each, written at once or not at
// all, never changed afterwards, and never read unless every byte agrees with
// its checksum.
//
// A model is a folder of a manifest.json ([Manifest]: what it was trained on,
// which features it reads, which policies it holds and how good they were), a
// manifest.sha256 with the manifest's checksum, and files that are opaque to
// this package: trees, network weights, calibration, a report. docs/models.md
// is the format.
//
// [Write] and [Open] are all that a trainer and a server of one model need. A
// [Registry] is a folder of models of which one is the champion:
//
//	           Write            Promote              Promote another
//	(training) -----> challenger -----> champion <--------------------> former champion
//	                       |                            Rollback
//	                       | Keep: not better, with the reason
//	                       v
//	                  challenger
//
// Every step is a line of the registry's log, with the reason.
// [Registry.Settle] promotes or keeps as a verdict says.
//
// [Default] is a model that is part of the program.
//
// The package never decides whether a challenger is better (package evaluation
// does), never looks into the files and never reads a clock. Start reading at
// manifest.go, then write.go, read.go and registry.go.
package models
