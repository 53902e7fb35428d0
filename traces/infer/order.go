package infer

import (
	"cmp"
	"slices"
	"time"
)

// Order is what the recorded priorities say about the order of the queue.
//
// Many clusters record a job's priority once, when it is submitted: fair share,
// partition and size, but not yet any age. How much an hour of age is worth is
// found from pairs of jobs of two users that ask for the same and waited at the
// same time: the one with more priority and age should have started first.
type Order struct {
	// Found is true when priority and age together explain the order of the
	// pairs better than age alone, and an hour of age is worth anything.
	Found bool `json:"found"`
	// AgePerHour is what an hour of waiting is worth, in units of the recorded
	// priority.
	AgePerHour float64 `json:"age_per_hour"`
	Median     int64   `json:"median_priority"` // of the jobs that have one
	Pairs      int     `json:"pairs"`
	// Explained is the part of the pairs of which the job with more priority and
	// age started first, ByAge the part of which the older one did.
	Explained float64 `json:"explained"`
	ByAge     float64 `json:"explained_by_age_alone"`
}

const (
	pairWaited   = 15 * time.Minute // of both jobs of a pair
	pairTogether = 10 * time.Minute // both waited so long at once, and started so far apart
	pairLimits   = 6 * time.Hour    // limits in one such span count as the same
	mostPartners = 200              // of one job
	leastPairs   = 200
	leastGain    = 0.05
)

// pair is two waiting jobs, of which one is older by age and has less priority
// by gain (more, where that is negative).
type pair struct {
	age        float64 // hours
	gain       float64
	olderFirst bool
}

// inferOrder studies the jobs that their own users' jobs did not hold back.
func (h *history) inferOrder(r *Result) Order {
	var o Order
	o.Median = h.medianPriority()
	if o.Median == 0 {
		return o
	}
	pairs := h.pairs(r)
	o.Pairs = len(pairs)
	if len(pairs) == 0 {
		return o
	}
	older := 0
	for _, p := range pairs {
		if p.olderFirst {
			older++
		}
	}
	o.ByAge = ratio(float64(older), float64(len(pairs)))
	var explained int
	o.AgePerHour, explained = worthOfAge(pairs)
	o.Explained = ratio(float64(explained), float64(len(pairs)))
	o.Found = o.Pairs >= leastPairs && o.AgePerHour > 0 && o.Explained-o.ByAge >= leastGain
	return o
}

func (h *history) medianPriority() int64 {
	var known []int64
	for i := range h.jobs {
		if p := h.jobs[i].Priority; p > 0 {
			known = append(known, p)
		}
	}
	if len(known) == 0 {
		return 0
	}
	slices.Sort(known)
	return known[len(known)/2]
}

// pairs returns the pairs of jobs that asked for the same.
func (h *history) pairs(r *Result) []pair {
	type shape struct {
		nodes int32
		limit time.Duration
	}
	alike := map[shape][]int{}
	for i := range h.jobs {
		j := &h.jobs[i]
		if h.started[i] && j.Priority > 0 && !r.SelfBlocked[i] && j.Start.Sub(r.Eligible[i]) > pairWaited {
			s := shape{j.Nodes, j.Limit / pairLimits}
			alike[s] = append(alike[s], i)
		}
	}
	var pairs []pair
	for _, list := range alike {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(r.Eligible[a], r.Eligible[b]) })
		for k, i := range list {
			for _, other := range list[k+1 : min(k+1+mostPartners, len(list))] {
				if r.Eligible[other] >= h.jobs[i].Start {
					break
				}
				if p, ok := h.pairOf(r, i, other); ok {
					pairs = append(pairs, p)
				}
			}
		}
	}
	return pairs
}

func (h *history) pairOf(r *Result, older, younger int) (pair, bool) {
	a, b := &h.jobs[older], &h.jobs[younger]
	first := min(a.Start, b.Start)
	switch {
	case h.userOf[older] == h.userOf[younger] || a.Partition != b.Partition || a.QOS != b.QOS:
		return pair{}, false
	case first.Sub(r.Eligible[younger]) < pairTogether || a.Start.Sub(b.Start).Abs() < pairTogether:
		return pair{}, false
	}
	return pair{
		age: r.Eligible[younger].Sub(r.Eligible[older]).Hours(), gain: float64(b.Priority - a.Priority), olderFirst: a.Start < b.Start,
	}, true
}

// worthOfAge returns the priority per hour of age that explains most pairs, and
// how many it explains. The older job should go first when its age is worth more
// than the younger one's gain in priority.
func worthOfAge(pairs []pair) (perHour float64, explained int) {
	type threshold struct {
		at    float64 // from here on the older one should go first
		older bool
	}
	var steps []threshold
	now := 0 // pairs explained at 0
	for _, p := range pairs {
		switch {
		case p.gain <= 0 || p.age == 0: // the same whatever age is worth
			if p.olderFirst == (p.gain <= 0) {
				now++
			}
		default:
			steps = append(steps, threshold{p.gain / p.age, p.olderFirst})
			if !p.olderFirst {
				now++
			}
		}
	}
	slices.SortFunc(steps, func(a, b threshold) int { return cmp.Compare(a.at, b.at) })
	explained = now
	for k, s := range steps {
		if s.older {
			now++
		} else {
			now--
		}
		if now > explained && (k+1 == len(steps) || steps[k+1].at > s.at) {
			explained = now
			perHour = s.at
			if k+1 < len(steps) { // any worth up to the next threshold does as well
				perHour = (s.at + steps[k+1].at) / 2
			}
		}
	}
	return perHour, explained
}
