package traces

import (
	"maps"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

const (
	// longWait is the wait from which a job counts as one for which the
	// cluster had no room.
	longWait = 10 * time.Minute
	// fewestMoments is the number of starts of such jobs below which they say
	// nothing about the cluster's size.
	fewestMoments = 100
)

// Concurrency is how many nodes were busy at once, weighted by time from the
// first submission to the last end.
type Concurrency struct {
	Max, P99, P90, P50 int64
	Mean               float64
	Span               time.Duration
	// Full is the same over the moments when the cluster was most likely
	// full: from the start of a job that had waited over ten minutes until
	// anything else changes, the scheduler has just handed out what it had.
	// Moments is the number of them.
	Full    FullMoments
	Largest int64 // nodes of the largest job that started
	// Proposed is the number of nodes on which a replay of the history should
	// run, and Basis says why.
	Proposed int64
	Basis    ProposalBasis
}

// FullMoments are quantiles of the busy nodes in the moments when the cluster
// was most likely full.
type FullMoments struct {
	Moments            int64
	Time               time.Duration
	P50, P75, P90, P95 int64
}

// ProposalBasis says what a proposed number of nodes rests on.
type ProposalBasis uint8

// The bases. A cluster that never had a queue does not show its size.
const (
	NoBasis     ProposalBasis = iota // no job started
	FromFull                         // the 90 % point of the full moments
	FromHeader                       // too few full moments: what the head of the file says
	FromMax                          // too few full moments, no word in the head: the most nodes ever busy
	FromLargest                      // the largest job needs more than that
)

var basisWords = [...]string{
	NoBasis:     "no job started",
	FromFull:    "the 90 % point of the nodes busy right after the start of a job that had waited over 10 minutes",
	FromHeader:  "what the head of the file says, since too few jobs waited to show when the cluster was full",
	FromMax:     "the most nodes ever busy, since too few jobs waited to show when the cluster was full",
	FromLargest: "the nodes of the largest job that ran, more than were busy in nine tenths of the full moments",
}

// String returns the basis in words.
func (b ProposalBasis) String() string { return basisWords[min(int(b), len(basisWords)-1)] }

// timeline holds the starts and ends of jobs, packed so that their order is
// that of time: 37 bits of seconds, one that marks the start of a job that had
// waited long, 26 bits of the change of the busy nodes plus half their range.
type timeline struct {
	events  []int64
	largest int64
	from    int64 // the first submission
	any     bool
}

const (
	deltaBits = 26
	deltaZero = 1 << (deltaBits - 1)
	waitedBit = 1 << deltaBits
	timeShift = deltaBits + 1
)

// extend makes the timeline begin no later than the job's submission.
func (t *timeline) extend(j *segue.Job) {
	if submit := clampSecond(j.Submit); !t.any || submit < t.from {
		t.from, t.any = submit, true
	}
}

// add takes up a job that started. One that has not ended stays busy.
func (t *timeline) add(j *segue.Job) {
	nodes := min(int64(j.Nodes), maxNodes)
	t.largest = max(t.largest, nodes)
	start := clampSecond(j.Start)<<timeShift | (deltaZero + nodes)
	if j.Wait() > longWait {
		start |= waitedBit
	}
	t.events = append(t.events, start)
	if j.End.Known() {
		t.events = append(t.events, clampSecond(j.End)<<timeShift|(deltaZero-nodes))
	}
}

func clampSecond(t segue.Time) int64 { return min(max(t.Unix(), firstSecond), lastSecond) }

// concurrency sweeps over the events in order of time.
func (t *timeline) concurrency(maxNodes int64) Concurrency {
	slices.Sort(t.events)
	all, full := make(levels), make(levels)
	if len(t.events) > 0 {
		all[0] += t.events[0]>>timeShift - t.from
	}
	busy, moments := int64(0), int64(0)
	for i := 0; i < len(t.events); {
		now := t.events[i] >> timeShift
		waited := false
		for ; i < len(t.events) && t.events[i]>>timeShift == now; i++ {
			busy += t.events[i]&(waitedBit-1) - deltaZero
			waited = waited || t.events[i]&waitedBit != 0
		}
		if i == len(t.events) {
			break
		}
		lasts := t.events[i]>>timeShift - now
		all[busy] += lasts
		if waited {
			full[busy] += lasts
			moments++
		}
	}
	c := Concurrency{Largest: t.largest}
	if len(all) > 0 {
		c.Max, c.P99, c.P90, c.P50 = all.quantile(1), all.quantile(0.99), all.quantile(0.9), all.quantile(0.5)
		c.Mean, c.Span = all.mean(), all.total()
	}
	if len(full) > 0 {
		c.Full = FullMoments{
			Moments: moments, Time: full.total(),
			P50: full.quantile(0.5), P75: full.quantile(0.75), P90: full.quantile(0.9), P95: full.quantile(0.95),
		}
	}
	c.Proposed, c.Basis = c.propose(maxNodes)
	return c
}

// propose returns the number of nodes for a replay. A cluster's nodes come and
// go, and a packing leaves gaps: the most that were ever busy is too many, and
// the median of full moments too few.
func (c *Concurrency) propose(maxNodes int64) (int64, ProposalBasis) {
	nodes, basis := c.Full.P90, FromFull
	switch {
	case c.Full.Moments >= fewestMoments:
	case maxNodes > 0:
		nodes, basis = maxNodes, FromHeader
	default:
		nodes, basis = c.Max, FromMax
	}
	if c.Largest > nodes {
		nodes, basis = c.Largest, FromLargest
	}
	if c.Largest == 0 {
		return 0, NoBasis
	}
	return nodes, basis
}

// levels are the seconds that each number of busy nodes lasted.
type levels map[int64]int64

func (l levels) total() time.Duration {
	sum := int64(0)
	for _, s := range l {
		sum += s
	}
	return time.Duration(min(sum, maxSeconds)) * time.Second
}

func (l levels) mean() float64 {
	sum, weight := 0.0, 0.0
	for nodes, s := range l {
		sum += float64(nodes) * float64(s)
		weight += float64(s)
	}
	return sum / weight
}

// quantile returns the smallest number of nodes that the busy nodes did not
// exceed for the share p of the time.
func (l levels) quantile(p float64) int64 {
	total := 0.0
	for _, s := range l {
		total += float64(s)
	}
	sum, last := 0.0, int64(0)
	for _, nodes := range slices.Sorted(maps.Keys(l)) {
		sum += float64(l[nodes])
		last = nodes
		if sum >= p*total {
			break
		}
	}
	return last
}
