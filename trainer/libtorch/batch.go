//go:build native

package libtorch

import (
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/trainer/environment"
)

// batch gathers moments of a table as the rows of two matrices, normalised.
type batch struct {
	model   *model
	table   *environment.Table
	inputs  []float32 // rows x Inputs
	history []float32 // rows x Steps x Width, of a transformer
	raw     []float32
}

func newBatch(m *model, t *environment.Table, rows int) *batch {
	b := &batch{model: m, table: t, inputs: make([]float32, rows*m.spec.Inputs())}
	if h := m.spec.History; h != nil {
		b.history = make([]float32, rows*h.Steps*h.Width)
	}
	return b
}

// put makes the moment at lead k of an episode the row of that number.
func (b *batch) put(row int, e *environment.Episode, k int, price float64) {
	width := b.model.spec.Inputs()
	b.raw = networks.Input(b.raw, b.table.State(e, k), float64(e.Leads[k]), price)
	b.model.inputs.Apply(b.inputs[row*width:][:width], b.raw)
	if h := b.model.spec.History; h != nil {
		size := h.Steps * h.Width
		b.model.history.Apply(b.history[row*size:][:size], b.table.History(e, k))
	}
}

// tensors copies rows from a number on into tensors of the pool.
func (b *batch) tensors(p *pool, from, rows int) (inputs, history tensor) {
	width := b.model.spec.Inputs()
	inputs = p.from(b.inputs[from*width:][:rows*width], int64(rows), int64(width))
	if h := b.model.spec.History; h != nil {
		size := h.Steps * h.Width
		history = p.from(b.history[from*size:][:rows*size], int64(rows), int64(h.Steps), int64(h.Width))
	}
	return inputs, history
}
