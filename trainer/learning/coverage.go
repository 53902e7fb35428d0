//go:build native

package learning

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor/drift"
	"github.com/segue-project/segue/trainer"
)

// Coverage says how the forecasts of one month of one stream turned out.
type Coverage struct {
	Replay string
	Pair   string
	Month  string  // "2022-12"
	Count  int     // forecasts that were looked at
	At50   float64 // share of waits up to the median
	At90   float64 // and up to the 0.9 quantile
	CRPS   float64 // mean, hours
}

// coverEvery is the distance of the leads that are looked at.
const coverEvery = 6

// coverage looks at the forecasts that the streams' episodes hold.
func coverage(streams []trainer.Stream) []Coverage {
	var list []Coverage
	for _, s := range streams {
		for i := range s.Episodes {
			e := &s.Episodes[i]
			month := e.Curve.Submit.Std().Format("2006-01")
			if n := len(list); n == 0 || list[n-1].Month != month || list[n-1].Replay != s.Replay || list[n-1].Pair != s.Pair.String() {
				list = append(list, Coverage{Replay: s.Replay, Pair: s.Pair.String(), Month: month})
			}
			list[len(list)-1].add(e)
		}
	}
	for i := range list {
		c := &list[i]
		n := float64(c.Count)
		c.At50, c.At90, c.CRPS = c.At50/n, c.At90/n, c.CRPS/n
	}
	return list
}

// within is 1 for a wait within a quantile of its forecast, 0 for one beyond, and in
// between where the forecast has it several times (drift.Coverage).
func within(f segue.Forecast, level float64, wait time.Duration) float64 {
	return drift.Coverage{Level: level}.Outcome(f, wait, f.At).Within
}

// add sums up an episode.
func (c *Coverage) add(e *trainer.Episode) {
	var sample []float64
	for k := 0; k < len(e.Curve.Leads); k += coverEvery {
		f := e.Forecasts[learned.Blend][k]
		wait := e.Curve.Outcomes[k] + e.Curve.Leads[k]
		c.Count++
		c.At50 += within(f, 0.5, wait)
		c.At90 += within(f, 0.9, wait)
		sample = sample[:0]
		for _, w := range f.Waits {
			sample = append(sample, w.Hours())
		}
		c.CRPS += evaluation.CRPS(sample, wait.Hours())
	}
}
