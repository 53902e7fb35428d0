package trees

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"

	"github.com/dmitryikh/leaves"

	"github.com/segue-project/segue"
)

// Ensemble evaluates a model. It keeps a row of its own to work on, so one
// goroutine uses it at a time; Clone gives another goroutine its own.
type Ensemble struct {
	features  int
	objective string
	base      float64
	whole     *leaves.Ensemble
	each      []*leaves.Ensemble // one for every tree, without the base

	row    []float64  // the features as leaves takes them
	margin [1]float64 // what leaves answers
}

// Read returns the ensemble that Encode wrote to data. Anything else, be it cut
// short, damaged in its structure or made by another program, is refused with
// an error of kind Corrupt, and has cost no more memory than in proportion to
// its length.
func Read(data []byte) (*Ensemble, error) {
	m, err := decode(data)
	if err != nil {
		return nil, segue.Errorf(segue.Corrupt, "read trees: %w", err)
	}
	e := &Ensemble{
		features:  m.Features,
		objective: m.Objective,
		base:      float64(m.Base),
		each:      make([]*leaves.Ensemble, len(m.Trees)),
		row:       make([]float64, m.Features),
	}
	in := bufio.NewReader(nil)
	if e.whole, err = handOver(in, data); err != nil {
		return nil, err
	}
	var alone []byte
	for i := range m.Trees {
		single := Model{Objective: m.Objective, Features: m.Features, Trees: m.Trees[i : i+1]}
		alone = single.appendTo(alone[:0])
		if e.each[i], err = handOver(in, alone); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// handOver gives checked bytes to leaves.
func handOver(in *bufio.Reader, data []byte) (*leaves.Ensemble, error) {
	in.Reset(bytes.NewReader(data))
	const rawMargin = false // load no transformation
	e, err := leaves.XGEnsembleFromReader(in, rawMargin)
	if err != nil {
		return nil, segue.Errorf(segue.Corrupt, "read trees with leaves: %w", err)
	}
	return e, nil
}

// Clone returns an ensemble that shares the trees of e, for another goroutine.
func (e *Ensemble) Clone() *Ensemble {
	c := *e
	c.row = make([]float64, e.features)
	return &c
}

// Objective returns what the trees were trained for.
func (e *Ensemble) Objective() string { return e.objective }

// Features returns the number of values in a row.
func (e *Ensemble) Features() int { return e.features }

// Trees returns the number of trees.
func (e *Ensemble) Trees() int { return len(e.each) }

// Base returns the margin before the first tree.
func (e *Ensemble) Base() float64 { return e.base }

// Margin returns Base plus what every tree adds for the row x. NaN is a missing
// value. It panics if x does not hold Features values. It does not allocate.
func (e *Ensemble) Margin(x []float32) float64 {
	e.load(x)
	return e.ask(e.whole)
}

// PerTree sets out, which it grows if need be and returns, to what each tree
// adds to the margin for the row x, in the order of training; Base is in none
// of them. In a random forest of Trees trees each was given its share of an
// average, so that tree i alone says Base + Trees * out[i].
func (e *Ensemble) PerTree(x []float32, out []float64) []float64 {
	e.load(x)
	out = slices.Grow(out[:0], len(e.each))
	for _, tree := range e.each {
		out = append(out, e.ask(tree))
	}
	return out
}

// load copies x to the row for leaves. A float32 is exact as a float64, so a
// comparison with a threshold has the outcome that it had in training.
func (e *Ensemble) load(x []float32) {
	if len(x) != e.features {
		panic(fmt.Sprintf("trees: a row of %d values for a model of %d features", len(x), e.features))
	}
	for i, v := range x {
		e.row[i] = float64(v)
	}
}

func (e *Ensemble) ask(of *leaves.Ensemble) float64 {
	const allTrees = 0
	if err := of.Predict(e.row, allTrees, e.margin[:]); err != nil {
		panic("trees: " + err.Error()) // leaves checks lengths only, and they were checked
	}
	return e.margin[0]
}
