package infer

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/segue-project/segue"
)

// runningSweep is one user's running and pending jobs over time.
type runningSweep struct {
	changes []sweepChange
	peak    int
}

// sweepChange is a start, an end or a submission. Ends come first at an
// instant, then submissions, then starts.
type sweepChange struct {
	at      segue.Time
	kind    int8
	takes   int
	pending bool // the job waited before it started
}

const (
	jobEnds int8 = iota
	jobLeavesUnstarted
	jobIsSubmitted
	jobStarts
)

func (h *history) newRunningSweep(own []int, selected selection, takes func(*segue.Job) int) *runningSweep {
	s := &runningSweep{}
	for _, i := range own {
		j := &h.jobs[i]
		if !selected(j) {
			continue
		}
		c := sweepChange{takes: takes(j), pending: h.leaves[i] > j.Submit}
		add := func(at segue.Time, kind int8) {
			c.at, c.kind = at, kind
			s.changes = append(s.changes, c)
		}
		if c.pending {
			add(j.Submit, jobIsSubmitted)
		}
		switch {
		case h.started[i]:
			add(j.Start, jobStarts)
			add(h.ends(i), jobEnds)
		case c.pending:
			add(h.leaves[i], jobLeavesUnstarted)
		}
	}
	s.finish()
	return s
}

// finish orders the changes and finds the peak.
func (s *runningSweep) finish() {
	slices.SortStableFunc(s.changes, func(a, b sweepChange) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind))
	})
	now := 0
	for _, c := range s.changes {
		switch c.kind {
		case jobStarts:
			now += c.takes
		case jobEnds:
			now -= c.takes
		}
		s.peak = max(s.peak, now)
	}
}

// leastPast is the time beyond a limit from which on it was passed: what is
// shorter may be a clock's doing, or the limit's on its first or last day.
const leastPast = time.Hour

// passes reports whether the user stayed beyond the limit, with jobs that each
// keep to it.
func (s *runningSweep) passes(limit int) bool {
	if s.peak <= limit {
		return false
	}
	var past time.Duration
	running := 0
	for k, c := range s.changes {
		if running > limit && c.at != segue.Never {
			past += c.at.Sub(s.changes[k-1].at)
		}
		switch {
		case c.takes > limit:
		case c.kind == jobStarts:
			running += c.takes
		case c.kind == jobEnds:
			running -= c.takes
		}
	}
	return past >= leastPast
}

// expose collects the starts of jobs that had waited while the smallest pending
// job of the user would have kept to the limit, and the starts beyond it; and
// the time in which there could have been either. Time at the other limit, on
// the number of jobs, counts for neither. A start at the instant at which an own
// job's end made room for it is no start below the limit.
func (s *runningSweep) expose(limit, otherLimit int, below, at *exposure) {
	running, jobs := 0, 0
	pending := sizeCounts{}
	var before *exposure // what the time up to this instant counted for
	for k, c := range s.changes {
		if k > 0 && c.at > s.changes[k-1].at && c.at != segue.Never {
			before = nil
			if smallest, waits := pending.smallest(); waits && jobs < otherLimit {
				before = below
				if running+smallest > limit {
					before = at
				}
				passed := c.at.Sub(s.changes[k-1].at).Hours()
				before.hours += passed
				before.waiting += passed * float64(pending.jobs)
			}
		}
		switch c.kind {
		case jobEnds:
			running, jobs = running-c.takes, jobs-1
		case jobLeavesUnstarted:
			pending.add(c.takes, -1)
		case jobIsSubmitted:
			pending.add(c.takes, 1)
		case jobStarts:
			running, jobs = running+c.takes, jobs+1
			if !c.pending {
				continue
			}
			pending.add(c.takes, -1)
			switch {
			case running > limit:
				at.events++
			case before == below:
				below.events++
			}
		}
	}
}

// sizeCounts counts jobs by what they take; there are few different sizes.
type sizeCounts struct {
	sizes, counts []int
	jobs          int
}

func (s *sizeCounts) add(size, by int) {
	i := sort.SearchInts(s.sizes, size)
	if i == len(s.sizes) || s.sizes[i] != size {
		s.sizes = append(s.sizes, 0)
		s.counts = append(s.counts, 0)
		copy(s.sizes[i+1:], s.sizes[i:])
		copy(s.counts[i+1:], s.counts[i:])
		s.sizes[i], s.counts[i] = size, 0
	}
	s.counts[i] += by
	s.jobs += by
}

func (s *sizeCounts) smallest() (int, bool) {
	for i, n := range s.counts {
		if n > 0 {
			return s.sizes[i], true
		}
	}
	return 0, false
}
