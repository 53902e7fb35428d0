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
	margins   *leaves.Ensemble
	reached   *leaves.Ensemble // says which leaf of each tree a row reaches
	values    [][]float64      // for every tree, the values of its leaves as leaves counts them

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
	const loadTransformation = false // the objective's link function: raw margins are wanted
	margins, err := leaves.XGEnsembleFromReader(bufio.NewReader(bytes.NewReader(data)), loadTransformation)
	if err != nil {
		return nil, segue.Errorf(segue.Corrupt, "read trees with leaves: %w", err)
	}
	e := &Ensemble{
		features:  m.Features,
		objective: m.Objective,
		base:      float64(m.Base),
		margins:   margins,
		reached:   margins.EnsembleWithLeafPredictions(),
		row:       make([]float64, m.Features),
	}
	for _, t := range m.Trees {
		e.values = append(e.values, t.leafValues())
	}
	return e, nil
}

// leafValues returns the values of the leaves in the order in which package leaves
// numbers them: it walks through the splits, the right branch first, and at
// each counts the children that are leaves, the left one first
// (xgTreeFromTreeModel).
func (t Tree) leafValues() []float64 {
	if t[0].Leaf() {
		return []float64{float64(t[0].Value)}
	}
	values := make([]float64, 0, len(t)/2+1)
	for ahead := []int{0}; len(ahead) > 0; {
		split := t[ahead[len(ahead)-1]]
		ahead = ahead[:len(ahead)-1]
		for _, child := range [...]int{split.Left, split.Right} {
			if t[child].Leaf() {
				values = append(values, float64(t[child].Value))
			} else {
				ahead = append(ahead, child)
			}
		}
	}
	return values
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
func (e *Ensemble) Trees() int { return len(e.values) }

// Base returns the margin before the first tree.
func (e *Ensemble) Base() float64 { return e.base }

// Margin returns Base plus what every tree adds for the row x. NaN is a missing
// value. It panics if x does not hold Features values. It does not allocate.
func (e *Ensemble) Margin(x []float32) float64 {
	e.ask(e.margins, x, e.margin[:])
	return e.margin[0]
}

// PerTree sets out, which it grows if need be and returns, to what each tree
// adds to the margin for the row x, in the order of training; Base is in none
// of them. In a random forest of Trees trees each was given its share of an
// average, so that tree i alone says Base + Trees * out[i].
func (e *Ensemble) PerTree(x []float32, out []float64) []float64 {
	out = slices.Grow(out[:0], len(e.values))[:len(e.values)]
	e.ask(e.reached, x, out)
	for i, leaf := range out {
		out[i] = e.values[i][int(leaf)]
	}
	return out
}

// ask sets answer to what of says about the row x. A float32 is exact as a
// float64, so a comparison with a threshold has the outcome that it had in
// training.
func (e *Ensemble) ask(of *leaves.Ensemble, x []float32, answer []float64) {
	if len(x) != e.features {
		panic(fmt.Sprintf("trees: a row of %d values for a model of %d features", len(x), e.features))
	}
	for i, v := range x {
		e.row[i] = float64(v)
	}
	if err := of.Predict(e.row, len(e.values), answer); err != nil {
		panic("trees: " + err.Error()) // leaves checks lengths only, and they are right
	}
}
