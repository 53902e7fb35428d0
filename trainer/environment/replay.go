package environment

import (
	"math"
	"math/rand/v2"
)

// Transition is a moment at which one can wait: the episode, and the index of
// the lead, above 0.
type Transition struct {
	Episode, Lead int
}

// leastPriority keeps every transition within reach.
const leastPriority = 1e-3

// Replay draws the transitions of a table in proportion to their episode's
// weight and to their priority, how wrong the network was about them last time
// (Schaul et al., ICLR 2016). Since the table holds every transition there is,
// the memory is full from the start.
type Replay struct {
	transitions []Transition
	weights     []float64 // of the episodes
	exponent    float64
	priorities  []float32 // as they enter the sums
	sums        []float64 // a binary tree: sums[1] is the total, leaves from len/2
}

// NewReplay returns the replay of a table in which all transitions have
// priority 1. Priorities are errors to the power of exponent: 0 draws evenly.
func NewReplay(t *Table, exponent float64) *Replay {
	r := &Replay{exponent: exponent}
	for i := range t.Episodes {
		for k := 1; k < len(t.Episodes[i].Leads); k++ {
			r.transitions = append(r.transitions, Transition{i, k})
			r.weights = append(r.weights, float64(t.Episodes[i].Weight))
		}
	}
	leaves := 1
	for leaves < len(r.transitions) {
		leaves *= 2
	}
	r.sums = make([]float64, 2*leaves)
	r.priorities = make([]float32, len(r.transitions))
	for i := range r.priorities {
		r.priorities[i] = 1
	}
	r.Restore(r.priorities)
	return r
}

// Len returns the number of transitions.
func (r *Replay) Len() int { return len(r.transitions) }

// Priorities returns the priorities, which belong to the replay.
func (r *Replay) Priorities() []float32 { return r.priorities }

// Restore sets the priorities to those of an earlier replay of the same table.
func (r *Replay) Restore(priorities []float32) {
	copy(r.priorities, priorities)
	leaves := len(r.sums) / 2
	for i, p := range r.priorities {
		r.sums[leaves+i] = r.weights[i] * float64(p)
	}
	for i := leaves - 1; i > 0; i-- {
		r.sums[i] = r.sums[2*i] + r.sums[2*i+1]
	}
}

// Draw returns the number of a transition, by [Replay.At]; the same may come
// again. There must be one.
func (r *Replay) Draw(random *rand.Rand) int {
	leaves := len(r.sums) / 2
	i := 1
	target := random.Float64() * r.sums[1]
	for i < leaves {
		i *= 2
		if target >= r.sums[i] && r.sums[i+1] > 0 {
			target -= r.sums[i]
			i++
		}
	}
	return i - leaves
}

// At returns transition i.
func (r *Replay) At(i int) Transition { return r.transitions[i] }

// Correction returns the weight, up to a factor, with which transition i must
// count so that its priority does not bias what is learned: to the power of
// degree, 1 for all of it.
func (r *Replay) Correction(i int, degree float64) float64 {
	return math.Pow(float64(r.priorities[i]), -degree)
}

// Update tells how wrong the network was about transition i.
func (r *Replay) Update(i int, mistake float64) {
	p := float32(math.Pow(math.Abs(mistake)+leastPriority, r.exponent))
	r.priorities[i] = p
	node := len(r.sums)/2 + i
	r.sums[node] = r.weights[i] * float64(p)
	for node /= 2; node > 0; node /= 2 {
		// Never by differences: the sums then depend on the priorities alone, and a
		// restored replay draws the same.
		r.sums[node] = r.sums[2*node] + r.sums[2*node+1]
	}
}
