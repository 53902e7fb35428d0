package shadow

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// Way is a way of continuing a job.
type Way int

// The ways that are compared. Recorded is what the history says of the user's own;
// User is the same submission in the world, in which all others are measured.
const (
	Recorded Way = iota
	User
	Segue
	// Shifted is Segue's, moved by what the world was wrong about the user's own
	// submission: what is to be expected beside Recorded if the world errs alike at
	// both. It starts no earlier than it is submitted.
	Shifted
	AfterAny // submit when the predecessor ends
	// FixedLead submits the same time before every end, the one that turned out
	// cheapest: better than anybody could have known beforehand.
	FixedLead
	Oracle // the cheapest submission that was tried
	Ways   // how many there are
)

// String returns the stable name of the way.
func (w Way) String() string {
	return [...]string{"user-recorded", "user", "segue", "segue-shifted", "afterany", "fixed-lead", "oracle"}[w]
}

// Judged is a hand-over and what each way came to.
type Judged struct {
	Handover
	// Submit and Start are, by way, when the successor is submitted, or for a
	// dependent one when its wait began, and when it starts.
	Submit, Start [Ways]segue.Time
	// Decision is the advice by which Segue submits; nil where it submits because
	// the predecessor has ended. Asked is how often advice was asked for.
	Decision *segue.Decision
	Asked    int
	// Forecast is what was forecast at the user's own submission; empty where that
	// came before the predecessor ran, or the successor was held back by its user.
	Forecast segue.Forecast

	tried []segue.Time // starts, of submissions 0, Every, 2 Every, ... before the end
}

// Outcome returns the start minus the end of the predecessor: positive is an
// interruption, negative an overlap.
func (h *Judged) Outcome(history []segue.Job, w Way) time.Duration {
	return h.Start[w].Sub(history[h.Before].End)
}

// shift fills in what becomes of Segue's submissions if the world errs at them as at
// users' own.
func (j *judgement) shift() {
	for n := range j.judged {
		h := &j.judged[n]
		h.Submit[Shifted] = h.Submit[Segue]
		h.Start[Shifted] = max(h.Submit[Segue], h.Start[Segue].Add(h.Start[Recorded].Sub(h.Start[User])))
	}
}

// leads returns what every fixed lead came to.
func (j *judgement) leads() []evaluation.Point {
	longest := 0
	for n := range j.judged {
		slices.Reverse(j.judged[n].tried) // the shortest lead first
		longest = max(longest, len(j.judged[n].tried))
	}
	var means []evaluation.Point
	for k := range longest {
		var outcomes []float64
		for n := range j.judged {
			h := &j.judged[n]
			outcomes = append(outcomes, h.tried[h.lead(k)].Sub(j.History[h.Before].End).Hours())
		}
		means = append(means, evaluation.Mean(outcomes))
	}
	return means
}

// lead returns the place in tried of a lead: one that is longer than the run of the
// predecessor is its whole run.
func (h *Judged) lead(k int) int { return min(k, len(h.tried)-1) }

// fixLead fills in the fixed lead that costs least, and returns it.
func (j *judgement) fixLead(leads []evaluation.Point) time.Duration {
	best := 0
	for k, p := range leads {
		if price := j.Prefer.OverlapPrice(); p.Cost(price) < leads[best].Cost(price) {
			best = k
		}
	}
	for n := range j.judged {
		h := &j.judged[n]
		k := h.lead(best)
		h.Submit[FixedLead], h.Start[FixedLead] = j.History[h.Before].End.Add(-time.Duration(k)*j.Every), h.tried[k]
	}
	return time.Duration(best) * j.Every
}

// cost returns what a start costs at the preference, in hours.
func (j *judgement) cost(h *Judged, start segue.Time) float64 {
	x := start.Sub(j.History[h.Before].End)
	return j.Prefer.Cost(max(x, 0), max(-x, 0))
}
