package infer

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// A dependency on a full cluster is hard to see: when the job before has ended,
// the next one waits its turn like any other, and starts hours later. Two more
// signs tell it then: a line of jobs with counted names, of which neighbours are
// dependencies already, and own jobs that were submitted later, ask for no less,
// and started first.

const (
	// submittedTogether is how far apart the submissions of one script lie.
	submittedTogether = time.Minute
	// clearlyLater is how much later an own job must have been submitted, and
	// clearlyBefore how much earlier it must have started, to have overtaken.
	clearlyLater  = 10 * time.Minute
	clearlyBefore = 5 * time.Minute
	// mostLookedAt bounds the own jobs that are compared with each job.
	mostLookedAt = 1000

	lineConfidence     = 0.9
	overtakeConfidence = 0.6
)

// completeLines returns deps and the dependencies that complete lines of jobs
// whose names count on, where a neighbour is one of deps.
func (h *history) completeLines(deps []Dependency) []Dependency {
	depends := make(map[int]bool, len(deps))
	for _, d := range deps {
		depends[d.Job] = true
	}
	for k := 0; k < len(deps); k++ {
		d := deps[k]
		if !continues(h.jobs[d.After].Name, h.jobs[d.Job].Name) {
			continue
		}
		for _, i := range h.submittedWith(d.Job) {
			for _, link := range [2][2]int{{d.Job, i}, {i, d.After}} {
				if after, job := link[0], link[1]; !depends[job] && h.links(after, job) {
					depends[job] = true
					deps = append(deps, Dependency{
						Job: job, After: after, Kind: AfterAny, Confidence: lineConfidence,
						Evidence: fmt.Sprintf("the next in a line of %s, and started after it ended", h.jobs[after].Name),
					})
				}
			}
		}
	}
	return inOrder(deps)
}

// submittedWith returns the own jobs that were submitted together with job i.
func (h *history) submittedWith(i int) []int {
	own := h.users[h.userOf[i]]
	at := h.jobs[i].Submit
	find := func(t segue.Time) int {
		k, _ := slices.BinarySearchFunc(own, t, func(i int, t segue.Time) int { return cmp.Compare(h.jobs[i].Submit, t) })
		return k
	}
	return own[find(at.Add(-submittedTogether)):find(at.Add(submittedTogether)+1)]
}

// links reports whether the job may be the link after another one of its user.
func (h *history) links(after, job int) bool {
	a, b := &h.jobs[after], &h.jobs[job]
	return h.started[after] && h.started[job] && a.End.Known() && a.End <= b.Start && continues(a.Name, b.Name)
}

// findHeld returns, by job, until when it certainly could not run, since its
// user's later jobs went first; NoTime for most. A scheduler never prefers the
// later of two jobs of one user that ask for the same, so something else held
// it. Where an own job ended between, deps gains the dependency on it.
func (h *history) findHeld(deps []Dependency) ([]segue.Time, []Dependency) {
	depends := make(map[int]bool, len(deps))
	for _, d := range deps {
		depends[d.Job] = true
	}
	held := make([]segue.Time, len(h.jobs))
	for i := range held {
		held[i] = segue.NoTime
	}
	for _, own := range h.users {
		for k, i := range own {
			if !h.started[i] || depends[i] || h.wait(i) < clearlyLater {
				continue
			}
			if held[i] = h.overtakenUntil(i, own[k+1:]); !held[i].Known() {
				continue
			}
			if after := h.endedBetween(held[i], i, own[:k]); after >= 0 {
				deps = append(deps, Dependency{
					Job: i, After: after, Kind: AfterAny, Confidence: overtakeConfidence,
					Evidence: fmt.Sprintf("own jobs that were submitted later and ask for no less started before it; %s ended then", h.jobs[after].ID),
				})
			}
		}
	}
	return held, inOrder(deps)
}

// overtakenUntil returns the last start, before that of job i, of an own job of
// later that would never go before it.
func (h *history) overtakenUntil(i int, later []int) segue.Time {
	j := &h.jobs[i]
	until := segue.NoTime
	for _, k := range later[:min(len(later), mostLookedAt)] {
		o := &h.jobs[k]
		if o.Submit >= j.Start {
			break
		}
		alike := o.Partition == j.Partition && o.QOS == j.QOS && o.Account == j.Account
		if h.started[k] && alike && o.Nodes >= j.Nodes && o.Limit >= j.Limit &&
			o.Submit.Sub(j.Submit) >= clearlyLater && j.Start.Sub(o.Start) >= clearlyBefore {
			until = max(until, o.Start)
		}
	}
	return until
}

// endedBetween returns the own job, of those submitted earlier, that ended last
// between the instant from and the start of job i; one of as many nodes if there
// is one, -1 if there is none.
func (h *history) endedBetween(from segue.Time, i int, earlier []int) int {
	j := &h.jobs[i]
	best := -1
	for _, k := range earlier[max(0, len(earlier)-mostLookedAt):] {
		o := &h.jobs[k]
		if !h.started[k] || !o.End.Known() || o.End <= from || o.End > j.Start {
			continue
		}
		if best < 0 {
			best = k
			continue
		}
		b := &h.jobs[best]
		if alike, than := o.Nodes == j.Nodes, b.Nodes == j.Nodes; (alike && !than) || (alike == than && o.End > b.End) {
			best = k
		}
	}
	return best
}

// inOrder sorts dependencies by job.
func inOrder(deps []Dependency) []Dependency {
	slices.SortStableFunc(deps, func(a, b Dependency) int { return cmp.Compare(a.Job, b.Job) })
	return deps
}
