package predictor

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// runModel is the distribution of run times: a user's own runs under a like
// limit, mixed with the run/limit ratios of all users' jobs of that class of
// limits.
type runModel struct {
	of     *History
	epoch  segue.Time
	ratios [limitClasses][]float64 // ascending
}

const (
	limitClasses = 6
	classSize    = 400 // latest jobs per class
	ownRuns      = 16  // a user's latest runs under a like limit
	ownScan      = 64  // of this many runs under any limit
	ownWeight    = 2   // all users count as much as this many own runs
	refreshEvery = 2 * time.Hour
)

// planned returns the limit as the model counts it: no forecast looks further
// than waitHorizon, so that longer limits, and none, are all alike.
func planned(limit time.Duration) time.Duration { return min(limit, waitHorizon) }

// limitClass sorts limits as people choose them: up to an hour, 4, 12, 24, less
// than 48 hours, and longer.
func limitClass(limit time.Duration) int {
	for i, bound := range [...]time.Duration{time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour, 47 * time.Hour} {
		if limit <= bound {
			return i
		}
	}
	return limitClasses - 1
}

// alike reports whether the limits differ by a quarter at most.
func alike(a, b time.Duration) bool {
	a, b = planned(a), planned(b)
	return 4*a <= 5*b && 4*b <= 5*a
}

// update renews the ratios when the history is another one or the clock has
// passed a multiple of refreshEvery. They are those of the jobs that had ended
// by that multiple, so that they do not depend on what was asked before.
func (m *runModel) update(h *History, at segue.Time) {
	epoch := epochOf(at)
	if m.of == h && m.epoch == epoch {
		return
	}
	m.of, m.epoch = h, epoch
	for c := range m.ratios {
		m.ratios[c] = m.ratios[c][:0]
	}
	full := 0
	for i := h.ends.len() - 1; i >= 0 && full < limitClasses; i-- {
		e := h.ends.at(i)
		c := limitClass(e.Limit)
		if len(m.ratios[c]) == classSize || e.Limit <= 0 || e.End >= epoch {
			continue
		}
		m.ratios[c] = append(m.ratios[c], min(float64(e.Run)/float64(planned(e.Limit)), 1))
		if len(m.ratios[c]) == classSize {
			full++
		}
	}
	for c := range m.ratios {
		slices.Sort(m.ratios[c])
	}
}

// epochOf returns the last multiple of refreshEvery that is not after at.
func epochOf(at segue.Time) segue.Time {
	const every = segue.Time(refreshEvery / time.Microsecond)
	return at - ((at%every)+every)%every
}

// own returns the user's runs under a like limit that are longer than elapsed,
// ascending, in buf's memory.
func (m *runModel) own(h *History, q *segue.QueuedJob, elapsed time.Duration, buf []time.Duration) []time.Duration {
	buf = buf[:0]
	seen, like := 0, 0
	h.lastRuns(q.User, func(e *Ended) bool {
		seen++
		if alike(e.Limit, q.Limit) {
			like++
			if e.Run > elapsed {
				buf = append(buf, min(e.Run, q.Limit))
			}
		}
		return seen < ownScan && like < ownRuns
	})
	slices.Sort(buf)
	return buf
}

// sample returns the run time at rank u in [0, 1) of the distribution, given
// that the job has run for elapsed: not less than that, nor more than the limit
// of a job within its limit. own must come from the method of that name.
func (m *runModel) sample(q *segue.QueuedJob, elapsed time.Duration, own []time.Duration, u float64) time.Duration {
	limit := planned(q.Limit)
	ratios := m.ratios[limitClass(q.Limit)]
	from, _ := slices.BinarySearch(ratios, float64(elapsed)/float64(limit))
	all := ratios[from:]
	weight := float64(len(own)) / float64(len(own)+ownWeight)
	if len(all) == 0 {
		weight = 1
	}
	switch {
	case len(own) == 0 && len(all) == 0:
		return q.Limit
	case u < weight:
		return own[rank(u/weight, len(own))]
	}
	return max(elapsed, time.Duration(all[rank((u-weight)/(1-weight), len(all))]*float64(limit)))
}

// rank returns the index of the value at rank u of n.
func rank(u float64, n int) int { return min(int(u*float64(n)), n-1) }

// median returns the middle of the distribution.
func (m *runModel) median(h *History, q *segue.QueuedJob, elapsed time.Duration) time.Duration {
	own := m.own(h, q, elapsed, make([]time.Duration, 0, ownRuns))
	var draws [15]time.Duration
	for i := range draws {
		draws[i] = m.sample(q, elapsed, own, (float64(i)+0.5)/float64(len(draws)))
	}
	slices.Sort(draws[:])
	return draws[len(draws)/2]
}
