package infer

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/segue-project/segue"
)

// endings knows when jobs ended: those of each user, and all.
type endings struct {
	window  time.Duration
	own     [][]ending
	covered [][]time.Duration // by user: of own[:k], the time within a window after an end
	all     []segue.Time
}

type ending struct {
	at  segue.Time
	job int
}

func (h *history) newEndings(window time.Duration) *endings {
	e := &endings{window: window, own: make([][]ending, len(h.users)), covered: make([][]time.Duration, len(h.users))}
	for u, own := range h.users {
		for _, i := range own {
			if h.started[i] && h.jobs[i].End.Known() {
				e.own[u] = append(e.own[u], ending{h.jobs[i].End, i})
				e.all = append(e.all, h.jobs[i].End)
			}
		}
		slices.SortFunc(e.own[u], func(a, b ending) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job))
		})
		e.covered[u] = make([]time.Duration, len(e.own[u])+1)
		for k, end := range e.own[u] {
			covers := window
			if k+1 < len(e.own[u]) {
				covers = min(covers, e.own[u][k+1].at.Sub(end.at))
			}
			e.covered[u][k+1] = e.covered[u][k] + covers
		}
	}
	slices.Sort(e.all)
	return e
}

// anytime returns the probability that a job that waited from submit to start
// would have started within a window after an own job's end, had it started at
// any instant of its wait alike: the part of the wait that lies there.
func (e *endings) anytime(u int, submit, start segue.Time) float64 {
	own := e.own[u]
	from, to := lastEnding(own, submit-1)+1, lastEnding(own, start-1)+1
	if from >= to {
		return 0
	}
	covered := e.covered[u][to-1] - e.covered[u][from] + min(e.window, start.Sub(own[to-1].at))
	return min(1, covered.Seconds()/start.Sub(submit).Seconds())
}

// afterSomeEnd returns the same probability for a full cluster, where starts
// follow ends, whosever they are: the chance that of the ends within the window
// before the start at least one was an own one, but no less than anytime. Each
// was with the part that own ends have of the ends in the wait, or of those just
// before, if that is more.
func (e *endings) afterSomeEnd(u int, j *segue.Job, anytime float64) float64 {
	own := e.own[u]
	opens := j.Start - microseconds(e.window)
	part := max(e.ownPart(own, j.Submit, j.Start), e.ownPart(own, e.neighbour(opens), opens))
	ends := e.count(max(j.Submit, opens), j.Start+1)
	return max(anytime, 1-math.Pow(1-part, float64(ends)))
}

// ownPart returns the part that own ends have of all ends in [from, to).
func (e *endings) ownPart(own []ending, from, to segue.Time) float64 {
	n := lastEnding(own, to-1) - lastEnding(own, from-1)
	if n == 0 {
		return 0
	}
	return float64(n) / float64(e.count(from, to))
}

// neighbour returns the instant of the twentieth end before the instant at: a
// user's jobs that were submitted together often start and end together.
func (e *endings) neighbour(at segue.Time) segue.Time {
	k := sort.Search(len(e.all), func(k int) bool { return e.all[k] >= at })
	if k == 0 {
		return at
	}
	return e.all[max(0, k-neighbours)]
}

const neighbours = 20

// count returns how many jobs ended in [from, to).
func (e *endings) count(from, to segue.Time) int {
	first := sort.Search(len(e.all), func(k int) bool { return e.all[k] >= from })
	return sort.Search(len(e.all), func(k int) bool { return e.all[k] >= to }) - first
}

// lastEnding returns the index of the last end at or before the instant at, -1
// if there is none.
func lastEnding(own []ending, at segue.Time) int {
	return sort.Search(len(own), func(k int) bool { return own[k].at > at }) - 1
}
