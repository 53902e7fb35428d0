package environment

import (
	"fmt"
	"math"

	"github.com/segue-project/segue"
)

// Table is a set of episodes with states of one width.
type Table struct {
	Width int // of a state

	// The size of a history, 0 and 0 without: HistorySteps rows of HistoryWidth.
	HistorySteps, HistoryWidth int

	Episodes []Episode
}

// Episode is one start of a chain's next link: index k of everything is the
// moment when Leads[k] hours remain of the current link.
type Episode struct {
	States    []float32 // leads x Width, a row per lead
	Histories []float32 // leads x HistorySteps x HistoryWidth; nil without
	Leads     []float32 // hours, ascending from 0
	Outcomes  []float32 // hours: above 0 of interruption, below 0 of overlap
	Weight    float32   // in means and in sampling, above 0
}

// State returns the state at lead k.
func (t *Table) State(e *Episode, k int) []float32 {
	return e.States[k*t.Width:][:t.Width]
}

// History returns the history at lead k, nil in a table without.
func (t *Table) History(e *Episode, k int) []float32 {
	size := t.HistorySteps * t.HistoryWidth
	if size == 0 {
		return nil
	}
	return e.Histories[k*size:][:size]
}

// Moments returns the number of leads of all episodes.
func (t *Table) Moments() int {
	n := 0
	for i := range t.Episodes {
		n += len(t.Episodes[i].Leads)
	}
	return n
}

// Validate returns an error of kind [segue.Invalid] that names the first episode
// whose parts do not fit together.
func (t *Table) Validate() error {
	if t.Width < 1 || t.HistorySteps < 0 || t.HistoryWidth < 0 || (t.HistorySteps == 0) != (t.HistoryWidth == 0) {
		return segue.Errorf(segue.Invalid, "table: width %d, history %d x %d", t.Width, t.HistorySteps, t.HistoryWidth)
	}
	if len(t.Episodes) == 0 {
		return segue.Errorf(segue.Invalid, "table: no episode")
	}
	for i := range t.Episodes {
		if err := t.validate(&t.Episodes[i]); err != nil {
			return segue.Errorf(segue.Invalid, "table: episode %d: %w", i, err)
		}
	}
	return nil
}

func (t *Table) validate(e *Episode) error {
	n := len(e.Leads)
	switch {
	case n == 0 || e.Leads[0] != 0:
		return fmt.Errorf("%d leads, want some, the first 0", n)
	case len(e.States) != n*t.Width:
		return fmt.Errorf("%d numbers of states, want %d leads of %d", len(e.States), n, t.Width)
	case len(e.Histories) != n*t.HistorySteps*t.HistoryWidth:
		return fmt.Errorf("%d numbers of histories, want %d leads of %d x %d", len(e.Histories), n, t.HistorySteps, t.HistoryWidth)
	case len(e.Outcomes) != n:
		return fmt.Errorf("%d outcomes, want one for each of %d leads", len(e.Outcomes), n)
	case !(e.Weight > 0) || math.IsInf(float64(e.Weight), 0):
		return fmt.Errorf("weight %v, want a number above 0", e.Weight)
	}
	for k := range n {
		if k > 0 && !(e.Leads[k] > e.Leads[k-1]) {
			return fmt.Errorf("lead %v h after %v h, want them ascending", e.Leads[k], e.Leads[k-1])
		}
		if v := float64(e.Outcomes[k]); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("outcome %v at lead %v h", e.Outcomes[k], e.Leads[k])
		}
	}
	return nil
}

// Cost is what an outcome costs, in hours of interruption: the interruption, or
// price x the overlap.
func Cost(outcome float32, price float64) float64 {
	if outcome > 0 {
		return float64(outcome)
	}
	return -price * float64(outcome)
}
