package simulator

import (
	"cmp"
	"slices"

	"github.com/segue-project/segue"
)

// Level is the state of a pool from the instant At on, in nodes; a job on part
// of its nodes counts by the part of their GPUs.
type Level struct {
	At   segue.Time
	Busy float64
	// Out nodes are out of service by the timetable; one that drains may be busy.
	Out float64
	// Requested is the sum over the jobs that were submitted, or requeued, and
	// have not started.
	Requested float64
}

// Levels returns the state of a pool at every instant at which it changes, for
// the replay of jobs on the cluster cfg.
func Levels(cfg Config, pool int, jobs []Job, result Result) ([]Level, error) {
	c, err := newConf(cfg)
	if err != nil {
		return nil, err
	}
	if pool < 0 || pool >= len(c.Pools) {
		return nil, segue.Errorf(segue.Invalid, "levels of pool %d, want 0 to %d", pool, len(c.Pools)-1)
	}
	if _, err := newTable(c, jobs); err != nil {
		return nil, err
	}
	return c.levels(pool, jobs, result), nil
}

func (c *conf) levels(pool int, jobs []Job, result Result) []Level {
	var changes []Level // each a difference
	change := func(l Level) {
		if l.At.Known() && l.At != segue.Never {
			changes = append(changes, l)
		}
	}
	run := func(job Ref, start, end segue.Time) {
		n := c.nodesOf(&jobs[job])
		change(Level{At: start, Busy: n, Requested: -n})
		change(Level{At: end, Busy: -n})
	}
	for _, a := range result.Attempts {
		if c.poolIndex(&jobs[a.Job]) != pool {
			continue
		}
		run(a.Job, a.Start, a.End)
		change(Level{At: a.End, Requested: c.nodesOf(&jobs[a.Job])})
	}
	for i := range jobs {
		if c.poolIndex(&jobs[i]) != pool {
			continue
		}
		change(Level{At: jobs[i].Submit, Requested: c.nodesOf(&jobs[i])})
		if result.Starts[i].Known() {
			run(Ref(i), result.Starts[i], result.Ends[i])
		} else { // given up, or it waits for ever
			change(Level{At: result.Ends[i], Requested: -c.nodesOf(&jobs[i])})
		}
	}
	for _, o := range c.Outages {
		if o.Pool == pool {
			change(Level{At: o.From, Out: float64(o.Nodes)})
			change(Level{At: o.Until, Out: -float64(o.Nodes)})
		}
	}
	return sumUp(changes)
}

// sumUp turns differences into levels, one per instant.
func sumUp(changes []Level) []Level {
	slices.SortStableFunc(changes, func(a, b Level) int { return cmp.Compare(a.At, b.At) })
	var list []Level
	var now Level
	for k, d := range changes {
		now = Level{d.At, now.Busy + d.Busy, now.Out + d.Out, now.Requested + d.Requested}
		if k+1 == len(changes) || changes[k+1].At > d.At {
			list = append(list, now)
		}
	}
	return list
}

func (c *conf) poolIndex(j *Job) int { return c.Partitions[j.Partition].Pool }

// nodesOf returns the job's nodes, or the parts of nodes that it takes.
func (c *conf) nodesOf(j *Job) float64 {
	gpus := c.Pools[c.poolIndex(j)].GPUsPerNode
	if j.GPUsPerNode > 0 && int(j.GPUsPerNode) < gpus {
		return float64(j.Nodes) * float64(j.GPUsPerNode) / float64(gpus)
	}
	return float64(j.Nodes)
}

// Decimate returns the means of the levels over n equal intervals, from the first
// level to the last, each at its interval's beginning; fewer levels are returned
// as they are.
func Decimate(levels []Level, n int) []Level {
	if n < 1 || len(levels) <= n {
		return levels
	}
	first, last := levels[0].At, levels[len(levels)-1].At
	step := float64(last-first) / float64(n)
	edge := func(k int) segue.Time { return first + segue.Time(float64(k)*step) }
	means := make([]Level, n)
	for i, k := 0, 0; k < n; k++ {
		from, to := edge(k), edge(k+1)
		means[k] = meanLevel(levels[i:], from, to)
		for i+1 < len(levels) && levels[i+1].At <= to {
			i++
		}
	}
	return means
}

// meanLevel returns the mean from from to to, of which the first level holds at
// from.
func meanLevel(levels []Level, from, to segue.Time) Level {
	mean := Level{At: from}
	for i, l := range levels {
		begin, end := max(l.At, from), to
		if i+1 < len(levels) {
			end = min(levels[i+1].At, to)
		}
		if begin >= to {
			break
		}
		part := float64(end-begin) / float64(max(to-from, 1))
		mean.Busy += part * l.Busy
		mean.Out += part * l.Out
		mean.Requested += part * l.Requested
	}
	return mean
}

// nodeTime returns the node time that was used and in service from first to
// last, in seconds.
func nodeTime(levels []Level, nodes int, first, last segue.Time) (used, served float64) {
	served = float64(nodes) * last.Sub(first).Seconds()
	for k := range levels {
		from, to := max(levels[k].At, first), last
		if k+1 < len(levels) {
			to = min(levels[k+1].At, last)
		}
		if from >= to {
			continue
		}
		seconds := to.Sub(from).Seconds()
		used += seconds * levels[k].Busy
		served -= seconds * min(levels[k].Out, max(float64(nodes)-levels[k].Busy, 0))
	}
	return used, served
}

// demandBefore sets, for each job of the pool, the nodes that were busy or asked
// for just before its submission, as a multiple of those in service.
func (c *conf) demandBefore(pool int, jobs []Job, levels []Level, demand []float64) {
	nodes := float64(c.Pools[pool].Nodes)
	for i := range jobs {
		if c.poolIndex(&jobs[i]) != pool {
			continue
		}
		k, _ := slices.BinarySearchFunc(levels, jobs[i].Submit, func(l Level, t segue.Time) int { return cmp.Compare(l.At, t) })
		if k > 0 {
			demand[i] = (levels[k-1].Busy + levels[k-1].Requested) / max(nodes-levels[k-1].Out, 1)
		}
	}
}
