package traces

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// topNames is how many names and shapes are listed.
const topNames = 10

// Statistics returns what was gathered so far.
func (c *Collector) Statistics() *Statistics {
	s := c.s
	for state, count := range c.states {
		if count.Jobs > 0 {
			count.Name = segue.JobState(state).String()
			s.States = append(s.States, count)
		}
	}
	slices.SortStableFunc(s.States, func(a, b Count) int { return cmp.Compare(b.Jobs, a.Jobs) })
	s.Users, s.Accounts, s.Partitions = c.users.top(), c.accounts.top(), c.queues.top()
	s.Wait, s.EligibleWait, s.Run = c.waits.summary(), c.eligibleWaits.summary(), c.runs.summary()
	s.LimitUsed = sharesOf(c.used)
	s.Shapes = topShapes(c.shapes)
	for _, key := range slices.Sorted(maps.Keys(c.months)) {
		m := *c.months[key]
		if m.started > 0 {
			m.MeanWait = time.Duration(m.waited / float64(m.started) * float64(time.Second)).Round(time.Second)
		}
		s.Months = append(s.Months, m)
	}
	s.Busy = c.busy.concurrency(c.MaxNodes)
	s.Queue = c.queue.longest()
	return &s
}

func (t tally) top() Tally {
	all := make([]Count, 0, len(t))
	for _, count := range t {
		all = append(all, *count)
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.NodeHours, a.NodeHours), cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Name, b.Name))
	})
	return Tally{Distinct: len(all), Top: slices.Clone(all[:min(len(all), topNames)])}
}

func topShapes(shapes map[segue.Shape]*ShapeCount) Shapes {
	all := make([]ShapeCount, 0, len(shapes))
	for _, count := range shapes {
		all = append(all, *count)
	}
	slices.SortFunc(all, func(a, b ShapeCount) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(b.NodeHours, a.NodeHours), cmp.Compare(a.Nodes, b.Nodes),
			cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.GPUsPerNode, b.GPUsPerNode))
	})
	return Shapes{Distinct: len(all), Top: slices.Clone(all[:min(len(all), topNames)])}
}

func (d durations) summary() Durations {
	if len(d) == 0 {
		return Durations{}
	}
	slices.Sort(d)
	sum := 0.0
	for _, v := range d {
		sum += float64(v)
	}
	in := func(seconds float64) time.Duration {
		return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	}
	return Durations{
		Count: int64(len(d)), Mean: in(sum / float64(len(d))),
		P50: in(quantile(d, 0.5)), P90: in(quantile(d, 0.9)), P99: in(quantile(d, 0.99)), Max: in(float64(d[len(d)-1])),
	}
}

func sharesOf(v []float32) Shares {
	if len(v) == 0 {
		return Shares{}
	}
	slices.Sort(v)
	sum := 0.0
	for _, x := range v {
		sum += float64(x)
	}
	return Shares{
		Count: int64(len(v)), Mean: sum / float64(len(v)),
		P10: quantile(v, 0.1), P50: quantile(v, 0.5), P90: quantile(v, 0.9), Max: float64(v[len(v)-1]),
	}
}

// quantile returns the p-quantile of sorted values, interpolated linearly
// between the order statistics.
func quantile[T uint32 | float32](sorted []T, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return float64(sorted[len(sorted)-1])
	}
	a, b := float64(sorted[low]), float64(sorted[low+1])
	return a + (at-float64(low))*(b-a)
}
