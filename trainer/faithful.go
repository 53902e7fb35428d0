package trainer

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces/infer"
)

// faithful returns the plain replay with all that was inferred from its history,
// whose jobs are those of the replay, one by one.
func (r Replay) faithful(history []segue.Job, found *infer.Result) Replay {
	r = r.withNodes(history, found).withUserLimits(found).withDependencies(found).withOrder(history, found)
	r.Name = "faithful"
	return r
}

// withUserLimits holds the limits on a user's running jobs and on their nodes,
// unless the cluster has its own. A job that alone is larger than the limit was
// let in by another rule, so it counts for neither.
func (r Replay) withUserLimits(found *infer.Result) Replay {
	if l := found.Limits.MaxRunning; l.Found && r.Cluster.Limits.MaxRunningJobs == 0 {
		r.Cluster.Limits.MaxRunningJobs = l.Value
	}
	if l := found.Limits.MaxNodes; l.Found && len(r.Cluster.QOS) == 0 {
		r = r.withNodesPerUser(l.Value)
	}
	return r
}

func (r Replay) withNodesPerUser(most int) Replay {
	r.Cluster.QOS = []simulator.QOS{{Name: "normal", Limits: simulator.Limits{MaxNodes: most}}, {Name: "large"}}
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		r.Jobs[i].QOS = qosFor(r.Cluster, int(r.Jobs[i].Nodes))
	}
	return r
}

// qosFor returns the first QOS that lets a job of so many nodes run at all.
func qosFor(c simulator.Config, nodes int) int32 {
	for i, q := range c.QOS {
		if most := q.Limits.MaxNodes; most == 0 || nodes <= most {
			return int32(i)
		}
	}
	return 0
}

// withDependencies makes the jobs wait for those that they depended on, and for
// the instant until which they were certainly held.
func (r Replay) withDependencies(found *infer.Result) Replay {
	r.Jobs = slices.Clone(r.Jobs)
	for _, d := range found.Dependencies {
		j := &r.Jobs[d.Job]
		j.After = append(slices.Clip(j.After), simulator.Dependency{Job: simulator.Ref(d.After), Kind: simulator.AfterAny})
	}
	for i, until := range found.Held {
		if until.Known() {
			r.Jobs[i].Begin = until
		}
	}
	return r
}

// withOrder orders the queue as the history was: by the recorded priority, as
// far as it differs from the median one, and by age. A job without a priority,
// such as one whose submission is tried, counts as typical.
func (r Replay) withOrder(history []segue.Job, found *infer.Result) Replay {
	if !found.Order.Found {
		return r
	}
	return r.orderedBy(history, found.Order.Median, found.Order.AgePerHour)
}

func (r Replay) orderedBy(history []segue.Job, median int64, agePerHour float64) Replay {
	const maxAge = 7 * 24 * time.Hour
	r.Cluster.Order = simulator.Order{Multifactor: &simulator.Multifactor{
		Age: agePerHour * maxAge.Hours(), MaxAge: maxAge, AgeUncapped: true,
	}}
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		if p := history[i].Priority; p > 0 {
			r.Jobs[i].Nice = int32(min(max(median-p, -maxNice), maxNice))
		}
	}
	return r
}

// maxNice is Slurm's bound of a nice value.
const maxNice = 1<<31 - 3

// withNodes gives the cluster the nodes that were in service, day by day, where
// the history tells.
func (r Replay) withNodes(history []segue.Job, found *infer.Result) Replay {
	days := serviceDays(found.Nodes, lastSubmit(history))
	most := 0
	for _, d := range days {
		most = max(most, d.nodes)
	}
	if most == 0 {
		return r
	}
	pool := r.Cluster.Pools[0]
	pool.Nodes = most
	r = r.withPool(pool)
	days[0].from = min(days[0].from, firstSubmit(history))
	r.Cluster.Outages = append(slices.Clip(r.Cluster.Outages), missing(days, most)...)
	return r
}

// missing returns the outages that leave the nodes of each day of most. A node
// that is missing on two days in a row stays out between them; those missing on
// the last day never come back.
func missing(days []serviceDay, most int) []simulator.Outage {
	var done, open []simulator.Outage
	out := 0
	for _, d := range days {
		want := most - d.nodes
		for out > want { // the latest to go come back first
			last := &open[len(open)-1]
			back := min(out-want, last.Nodes)
			ended := *last
			ended.Nodes, ended.Until = back, d.from
			done = append(done, ended)
			out -= back
			if last.Nodes -= back; last.Nodes == 0 {
				open = open[:len(open)-1]
			}
		}
		if out < want {
			open = append(open, simulator.Outage{From: d.from, Nodes: want - out, Drain: true})
			out = want
		}
	}
	for _, o := range open {
		o.Until = segue.Never
		done = append(done, o)
	}
	return done
}

// serviceDay is a day and its nodes in service.
type serviceDay struct {
	from  segue.Time
	nodes int
}

// serviceDays returns the nodes in service of every day up to the last
// submission: the estimate where there is one; else as many as the nearest days
// with an estimate had, whichever is more, and never fewer than were busy. A day
// on which jobs waited and none ran had none. No days if there is no estimate.
func serviceDays(days []infer.NodeDay, last segue.Time) []serviceDay {
	for len(days) > 0 && days[len(days)-1].Day > last {
		days = days[:len(days)-1]
	}
	before, after := make([]int, len(days)), make([]int, len(days))
	nearest := 0
	for k := range days {
		before[k], nearest = nearest, nearestOf(days[k], nearest)
	}
	if nearest == 0 {
		return nil
	}
	nearest = 0
	for k := len(days) - 1; k >= 0; k-- {
		after[k], nearest = nearest, nearestOf(days[k], nearest)
	}
	list := make([]serviceDay, len(days))
	for k, d := range days {
		nodes := max(d.InService, d.Busiest)
		if d.InService == 0 && (d.Busiest > 0 || d.CongestedHours == 0) {
			nodes = max(nodes, before[k], after[k])
		}
		list[k] = serviceDay{d.Day, nodes}
	}
	return list
}

func nearestOf(d infer.NodeDay, otherwise int) int {
	if d.InService > 0 {
		return d.InService
	}
	return otherwise
}

func firstSubmit(history []segue.Job) segue.Time {
	first := segue.Never
	for i := range history {
		first = min(first, history[i].Submit)
	}
	return first
}

func lastSubmit(history []segue.Job) segue.Time {
	last := segue.NoTime
	for i := range history {
		last = max(last, history[i].Submit)
	}
	return last
}
