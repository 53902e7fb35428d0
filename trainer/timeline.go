package trainer

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Timeline holds a summary of a replayed cluster for every full hour, without
// the chains that are probed in it.
type Timeline struct {
	From   segue.Time // of the first summary, a full hour
	Width  int        // numbers per summary
	Values []float32  // one summary after the other
}

// hourly is the distance of two summaries in the clock's unit.
const hourly = segue.Time(predictor.SummaryStep / time.Microsecond)

// nextHour returns the first full hour that is not before at.
func nextHour(at segue.Time) segue.Time {
	past := at % hourly
	if past == 0 {
		return at
	}
	if past < 0 {
		return at - past
	}
	return at + hourly - past
}

// Window appends the summaries of the last predictor.SummarySteps full hours up
// to the instant at to out, the oldest first, and returns it. Hours before the
// timeline are zero.
func (t *Timeline) Window(at segue.Time, out []float32) []float32 {
	last := int((at - t.From) / hourly)
	if at < t.From {
		last = -1
	}
	for k := last - predictor.SummarySteps + 1; k <= last; k++ {
		if from := k * t.Width; k >= 0 && from+t.Width <= len(t.Values) {
			out = append(out, t.Values[from:from+t.Width]...)
			continue
		}
		out = append(out, make([]float32, t.Width)...)
	}
	return out
}

// fill advances the cluster hour by hour up to the instant until, and notes how
// it looks. A nil timeline does nothing.
func (t *Timeline) fill(cluster *simulator.Sim, s Setup, until segue.Time) {
	if t == nil {
		return
	}
	for next := t.From.Add(time.Duration(len(t.Values)/t.Width) * predictor.SummaryStep); next <= until; next = next.Add(predictor.SummaryStep) {
		cluster.AdvanceTo(next)
		snap := s.believe(cluster.Snapshot(0))
		t.Values = predictor.Summarise(&snap, owner, t.Values)
	}
}
