package environment

import (
	"math"
	"math/rand/v2"

	"github.com/segue-project/segue/policy/networks"
)

// DrawPrice draws a price between [LeastPrice] and [GreatestPrice], evenly in
// its logarithm.
func DrawPrice(r *rand.Rand) float64 {
	return LeastPrice * math.Pow(GreatestPrice/LeastPrice, r.Float64())
}

// Normalise returns the normalisers of a network's inputs and of its history,
// with mean and standard deviation over all moments of the table, at prices
// spread evenly over their range. What never changes, or is never known, has
// scale 1.
func (t *Table) Normalise() (inputs, history networks.Normaliser) {
	in := newMoments(t.Width + networks.ExtraInputs)
	hist := newMoments(t.HistoryWidth)
	var input []float32
	count := 0
	for i := range t.Episodes {
		e := &t.Episodes[i]
		for k := range e.Leads {
			const steps = 16
			share := float64(count%steps) / (steps - 1)
			price := LeastPrice * math.Pow(GreatestPrice/LeastPrice, share)
			input = networks.Input(input, t.State(e, k), float64(e.Leads[k]), price)
			in.add(input)
			for rows := t.History(e, k); len(rows) > 0; rows = rows[t.HistoryWidth:] {
				hist.add(rows[:t.HistoryWidth])
			}
			count++
		}
	}
	return in.normaliser(), hist.normaliser()
}

// moments gathers mean and variance by Welford's method (Technometrics, 1962),
// column by column, and leaves out what is not finite.
type moments struct {
	count, mean, squares []float64
}

func newMoments(width int) moments {
	return moments{make([]float64, width), make([]float64, width), make([]float64, width)}
}

func (m moments) add(row []float32) {
	for i, v := range row {
		x := float64(v)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		m.count[i]++
		d := x - m.mean[i]
		m.mean[i] += d / m.count[i]
		m.squares[i] += d * (x - m.mean[i])
	}
}

func (m moments) normaliser() networks.Normaliser {
	n := networks.Identity(len(m.mean))
	for i := range m.mean {
		n.Mean[i] = float32(m.mean[i])
		deviation := math.Sqrt(m.squares[i] / max(1, m.count[i]))
		// A spread that is only rounding would blow up the least difference.
		if deviation > 1e-6*(1+math.Abs(m.mean[i])) {
			n.Scale[i] = float32(deviation)
		}
	}
	return n
}
