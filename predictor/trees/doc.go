// Package trees reads trained tree ensembles, boosted trees and random forests
// alike, and evaluates them.
//
// A [Model] is the ensemble as it was trained. [Encode] writes it in the binary
// format of XGBoost before 1.0, which github.com/dmitryikh/leaves evaluates;
// [Read] checks such bytes and hands them to leaves as an [Ensemble].
//
// leaves trusts a file: it allocates whatever length the file claims and follows
// whatever child index it finds. So Read first takes the bytes apart itself and
// refuses everything that Encode would not have written, bit for bit, save for
// the numbers in the nodes. What numbers a damaged file might still hold is for
// a checksum to find, which is the business of whoever stores the file.
//
// The package gives margins, the sums of the leaves, and applies no link
// function: the meaning of a margin is known to whoever chose the objective.
//
// The package does no I/O and reads no clock. Start reading at model.go, then
// ensemble.go and format.go.
package trees
