//go:build native

package learning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/trainer"
)

// Levels are the quantiles of forecasts that are compared with what followed.
var Levels = []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}

// Reliability is how often the waits of one group of forecasts were within each
// of the Levels.
type Reliability struct {
	Group  string // "fold 2", "heavy"
	Count  int    // forecasts that were looked at
	Within []float64
}

// reliability groups the forecasts that the streams' episodes hold by what group
// says of an episode, in the order of the groups' names.
func reliability(streams []trainer.Stream, group func(*trainer.Episode) string) []Reliability {
	counts := map[string]*Reliability{}
	for _, s := range streams {
		for i := range s.Episodes {
			e := &s.Episodes[i]
			name := group(e)
			if counts[name] == nil {
				counts[name] = &Reliability{Group: name, Within: make([]float64, len(Levels))}
			}
			counts[name].add(e)
		}
	}
	var list []Reliability
	for _, r := range counts {
		for i := range r.Within {
			r.Within[i] /= float64(r.Count)
		}
		list = append(list, *r)
	}
	return list
}

func (r *Reliability) add(e *trainer.Episode) {
	for k := 0; k < len(e.Curve.Leads); k += coverEvery {
		f, wait := e.Forecasts[learned.Blend][k], e.Curve.Outcomes[k]+e.Curve.Leads[k]
		r.Count++
		for i, level := range Levels {
			r.Within[i] += within(f, level, wait)
		}
	}
}

// byFold returns the reliability by fold of time, the first fold first.
func byFold(streams []trainer.Stream) []Reliability {
	b := blocksOf(streams)
	list := reliability(streams, func(e *trainer.Episode) string { return fmt.Sprintf("fold %d", b.fold(e.Curve.Submit)+1) })
	slices.SortFunc(list, func(x, y Reliability) int { return strings.Compare(x.Group, y.Group) })
	return list
}

// byLoad returns the reliability by load, the lightest first.
func byLoad(streams []trainer.Stream) []Reliability {
	var order []string
	for _, load := range []evaluation.Load{evaluation.Light, evaluation.Medium, evaluation.Heavy} {
		order = append(order, load.String())
	}
	list := reliability(streams, func(e *trainer.Episode) string { return evaluation.LoadOf(e.Curve.Reactive().Hours()).String() })
	slices.SortFunc(list, func(x, y Reliability) int { return slices.Index(order, x.Group) - slices.Index(order, y.Group) })
	return list
}
