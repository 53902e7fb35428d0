// Package reports turns results into pictures and pages that a person can read
// without help: SVG figures with their numbers beside them, and self-contained
// HTML reports. Values come in, bytes come out; equal values give equal bytes.
//
// A [Figure] is a struct of plain data: [Frontier], [OutcomeCurve], [Timeline],
// [Cluster], [Dots], [Distribution], [Calibration], [Lines], [Band]. It draws itself at a
// given width, so that a page can carry one drawing for a desk and one for a phone,
// and lists its numbers as a [Table] for those who cannot see the drawing or
// want to copy them. [Standalone] makes a file of a figure. [Backtest] is the
// report of `segue backtest`, [Training] that of `segue-trainer train`, [Simulation]
// the picture of `segue simulate`.
//
// The drawings load nothing, run no script, follow the reader's light or dark
// theme and use the colours of Okabe and Ito (2008), which readers with colour
// blindness tell apart; shape or dash repeats what colour says. Every text
// from outside is escaped, and values that are not finite are left out of the
// drawing and shown as "–" in the table.
//
// The package never reads a file or a clock and never simulates or scores.
// Start reading at figure.go, then frontier.go.
package reports
