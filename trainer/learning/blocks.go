//go:build native

package learning

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer"
)

// Folds of time: blocks of blockLength in turn belong to fold 0, 1, ... folds-1.
// A pair reaches more than two days beyond its start, and congestion lasts days,
// so what is less than embargo away from a fold's blocks is in neither part.
const (
	folds       = 4
	blockLength = 8 * 24 * time.Hour
	embargo     = 3 * 24 * time.Hour
)

// part is the role of a start in one fold.
type part int

const (
	fitted  part = iota // learned from
	heldOut             // judged on
	leftOut             // too near to what is judged on
)

// blocks tells the parts of starts counted from an instant.
type blocks struct{ from segue.Time }

// blocksOf returns the blocks of streams: counted from the first start.
func blocksOf(streams []trainer.Stream) blocks {
	from := segue.Never
	for _, s := range streams {
		if len(s.Episodes) > 0 {
			from = min(from, s.Episodes[0].Curve.Submit)
		}
	}
	return blocks{from}
}

// fold returns the fold in which the start at an instant is held out.
func (b blocks) fold(at segue.Time) int {
	return int(max(at.Sub(b.from), 0)/blockLength) % folds
}

// part returns the role of the start at an instant in a fold.
func (b blocks) part(at segue.Time, fold int) part {
	switch {
	case b.fold(at) == fold:
		return heldOut
	case b.fold(at.Add(-embargo)) == fold || b.fold(at.Add(embargo)) == fold:
		return leftOut
	}
	return fitted
}
