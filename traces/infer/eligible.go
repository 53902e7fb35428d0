package infer

import (
	"time"

	"github.com/segue-project/segue"
)

// selfBlockedAfter is how long own jobs must have held a job for it to count as
// held.
const selfBlockedAfter = time.Minute

// eligibility fills in when each job could first have run, and how much of the
// waiting own jobs explain.
func (h *history) eligibility(r *Result, blocks []segue.Time) {
	r.Eligible = make([]segue.Time, len(h.jobs))
	r.SelfBlocked = make([]bool, len(h.jobs))
	predecessor := make([]segue.Time, len(h.jobs))
	for i := range predecessor {
		predecessor[i] = segue.NoTime
	}
	for _, d := range r.Dependencies {
		predecessor[d.Job] = h.jobs[d.After].End
	}
	byLimits, byDependencies, byEither := 0.0, 0.0, 0.0
	for i := range h.jobs {
		j := &h.jobs[i]
		r.Eligible[i] = j.Submit
		if !h.started[i] {
			continue
		}
		held := max(j.Submit, blocks[i], predecessor[i])
		byEither += held.Sub(j.Submit).Hours()
		byLimits += max(j.Submit, blocks[i]).Sub(j.Submit).Hours()
		byDependencies += max(j.Submit, predecessor[i]).Sub(j.Submit).Hours()
		if held.Sub(j.Submit) > selfBlockedAfter {
			r.SelfBlocked[i] = true
			r.Blocked++
		}
		r.Eligible[i] = held
		if j.Eligible.Known() && j.Eligible <= j.Start {
			r.Eligible[i] = max(held, j.Eligible)
		}
	}
	r.LimitShare = ratio(byLimits, r.WaitingHours)
	r.DependencyShare = ratio(byDependencies, r.WaitingHours)
	r.BlockedShare = ratio(byEither, r.WaitingHours)
}
