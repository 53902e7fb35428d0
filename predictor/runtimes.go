package predictor

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// RunTimes supposes how long jobs run.
type RunTimes interface {
	// Name is stable and short: "limits".
	Name() string
	// Suppose returns a run time, from its start, for each running and then
	// each pending job of the snapshot, in out's memory. Nil means "to their
	// limits".
	Suppose(now *Present, out []time.Duration) []time.Duration
}

// Limits supposes that every job runs to its limit, as the scheduler does.
type Limits struct{}

// Name returns "limits".
func (Limits) Name() string { return "limits" }

// Suppose returns nil.
func (Limits) Suppose(*Present, []time.Duration) []time.Duration { return nil }

// LastTwo supposes the mean of the user's last two run times (Tsafrir, Etsion
// and Feitelson, 2007), and the limit for a user never seen and for a job that
// has outrun that.
type LastTwo struct{}

// Name returns "last-two".
func (LastTwo) Name() string { return "last-two" }

// Suppose implements RunTimes.
func (LastTwo) Suppose(now *Present, out []time.Duration) []time.Duration {
	return suppose(now, out, func(q *segue.QueuedJob, elapsed time.Duration) time.Duration {
		sum, n := time.Duration(0), 0
		now.History.lastRuns(q.User, func(e *Ended) bool {
			sum, n = sum+e.Run, n+1
			return n < 2
		})
		if n == 0 || sum/time.Duration(n) <= elapsed {
			return q.Limit
		}
		return sum / time.Duration(n)
	})
}

// Learned supposes the median of what is known of such a job: the user's own
// runs under a like limit, all users' where there are few, given that it has
// run as long as it has.
type Learned struct{ model runModel }

// Name returns "learned".
func (*Learned) Name() string { return "learned" }

// Suppose implements RunTimes.
func (l *Learned) Suppose(now *Present, out []time.Duration) []time.Duration {
	l.model.update(now.History, now.Snapshot.At)
	return suppose(now, out, func(q *segue.QueuedJob, elapsed time.Duration) time.Duration {
		return l.model.quantile(now.History, q, elapsed, 0.5)
	})
}

// suppose applies one rule to every job of the snapshot. The owner's jobs run
// to their limits.
func suppose(now *Present, out []time.Duration, rule func(*segue.QueuedJob, time.Duration) time.Duration) []time.Duration {
	out = out[:0]
	snap := &now.Snapshot
	for _, list := range [2][]segue.QueuedJob{snap.Running, snap.Pending} {
		for i := range list {
			q := &list[i]
			if q.User == now.Owner && now.Owner != "" {
				out = append(out, q.Limit)
				continue
			}
			out = append(out, min(rule(q, q.Elapsed(snap.At)), q.Limit))
		}
	}
	return out
}

// runModel is the distribution of run times: a user's own runs under a like
// limit, mixed with the run/limit ratios of all users' jobs of that class of
// limits.
type runModel struct {
	age    age
	ratios [limitClasses][]float64 // ascending
}

const (
	limitClasses = 6
	classSize    = 400 // latest jobs per class
	ownRuns      = 16  // a user's latest runs under a like limit
	ownScan      = 64  // of this many runs under any limit
	ownWeight    = 2   // all users count as much as this many own runs
	refreshAfter = 2 * time.Hour
)

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

// age says of what history, and of which of its hours, a summary was made. A
// summary is renewed when either changes, so that it does not depend on what
// was asked before.
type age struct {
	of    *History
	epoch int64
}

func (a *age) fresh(h *History, at segue.Time) bool {
	now := age{of: h, epoch: int64(at) / refreshAfter.Microseconds()}
	fresh := *a == now
	*a = now
	return fresh
}

// update renews the ratios from the history, at most every refreshAfter.
func (m *runModel) update(h *History, at segue.Time) {
	if m.age.fresh(h, at) {
		return
	}
	for c := range m.ratios {
		m.ratios[c] = m.ratios[c][:0]
	}
	full := 0
	for i := h.ends.len() - 1; i >= 0 && full < limitClasses; i-- {
		e := h.ends.at(i)
		c := limitClass(e.Limit)
		if len(m.ratios[c]) == classSize || e.Limit <= 0 {
			continue
		}
		m.ratios[c] = append(m.ratios[c], min(float64(e.Run)/float64(e.Limit), 1))
		if len(m.ratios[c]) == classSize {
			full++
		}
	}
	for c := range m.ratios {
		slices.Sort(m.ratios[c])
	}
}

// own returns the user's runs under a like limit that are longer than elapsed,
// ascending, in buf's memory, and how many there were before that condition.
func (m *runModel) own(h *History, q *segue.QueuedJob, elapsed time.Duration, buf []time.Duration) ([]time.Duration, int) {
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
	return buf, like
}

func alike(a, b time.Duration) bool { return 4*a <= 5*b && 4*b <= 5*a }

// at returns the run time at rank u in [0, 1) of the distribution, given that
// the job has run for elapsed. own must come from the method of that name.
func (m *runModel) sample(q *segue.QueuedJob, elapsed time.Duration, own []time.Duration, u float64) time.Duration {
	ratios := m.ratios[limitClass(q.Limit)]
	from, _ := slices.BinarySearch(ratios, float64(elapsed)/float64(q.Limit))
	all := ratios[from:]
	weight := float64(len(own)) / float64(len(own)+ownWeight)
	if len(all) == 0 {
		weight = 1
	}
	switch {
	case len(own) == 0 && len(all) == 0:
		return q.Limit
	case u < weight:
		return own[int(u/weight*float64(len(own)))]
	}
	return max(elapsed, time.Duration(all[int((u-weight)/(1-weight)*float64(len(all)))]*float64(q.Limit)))
}

// quantile returns the p-quantile of the mixture.
func (m *runModel) quantile(h *History, q *segue.QueuedJob, elapsed time.Duration, p float64) time.Duration {
	own, _ := m.own(h, q, elapsed, make([]time.Duration, 0, ownRuns))
	const steps = 15
	draws := make([]time.Duration, 0, steps)
	for i := range steps {
		draws = append(draws, m.sample(q, elapsed, own, (float64(i)+0.5)/steps))
	}
	slices.Sort(draws)
	return draws[int(p*steps)]
}
