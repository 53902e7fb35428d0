package trainer

import (
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// way is one way to replay the history.
type way struct {
	name, what string
	replay     Replay
}

// faithfulName is the attempt that trainer.Replays builds.
const faithfulName = "faithful"

// ways returns the plain replay, the steps to the faithful one, and what was
// tried beyond it: each changes one thing of the faithful replay.
func (s *study) ways() []way {
	list := []way{{"plain", "jobs may start as soon as they are submitted", s.plain}}
	step := func(found bool, name, what string, change func(r Replay) Replay) {
		if found {
			list = append(list, way{name, what, change(list[len(list)-1].replay)})
		}
	}
	running, nodes := s.found.Limits.MaxRunning, s.found.Limits.MaxNodes
	step(running.Found, "running limit", fmt.Sprintf("and a user runs at most %d jobs", running.Value), func(r Replay) Replay {
		r.Cluster.Limits.MaxRunningJobs = running.Value
		return r
	})
	step(nodes.Found, "node limit", fmt.Sprintf("and takes at most %d nodes", nodes.Value), func(r Replay) Replay {
		return r.withNodesPerUser(nodes.Value)
	})
	step(len(s.found.Dependencies) > 0, "dependencies", fmt.Sprintf("and %d inferred dependencies hold", len(s.found.Dependencies)),
		func(r Replay) Replay { return r.withDependencies(s.found) })
	step(true, "nodes in service", "and each day has the nodes that were in service",
		func(r Replay) Replay { return r.withNodes(s.History, s.found) })
	unordered := list[len(list)-1].replay
	faithful := s.plain.faithful(s.History, s.found)
	what := "all of this"
	if s.found.Order.Found {
		what = fmt.Sprintf("and the recorded priority orders the queue, an hour of age worth %.3g", s.found.Order.AgePerHour)
	}
	list = append(list, way{faithfulName, what, faithful})
	return append(list, s.variations(faithful, unordered)...)
}

// variations returns the faithful replay with one thing changed; unordered is
// the step before it.
func (s *study) variations(faithful, unordered Replay) []way {
	var list []way
	add := func(name, what string, change func(r *Replay)) {
		r := faithful
		r.Jobs = slices.Clone(r.Jobs)
		change(&r)
		list = append(list, way{name, what, r})
	}
	if m := faithful.Cluster.Order.Multifactor; s.found.Order.Found {
		reorder := func(r *Replay, change func(m *simulator.Multifactor)) {
			changed := *m
			change(&changed)
			r.Cluster.Order.Multifactor = &changed
		}
		for _, f := range []float64{0, 0.5, 2} {
			add(fmt.Sprintf("age x %g", f), fmt.Sprintf("an hour of age is worth %.3g", f*s.found.Order.AgePerHour),
				func(r *Replay) { reorder(r, func(m *simulator.Multifactor) { m.Age *= f }) })
		}
		add("favour large", "a job of all nodes has 200 more priority", func(r *Replay) {
			reorder(r, func(m *simulator.Multifactor) { m.JobSize = 200 })
		})
		add("favour small", "a job of no node has 200 more priority than one of all", func(r *Replay) {
			reorder(r, func(m *simulator.Multifactor) { m.JobSize, m.FavorSmall = 200, true })
		})
		add("capped age", "age counts for 7 days at most, priorities are computed every 5 minutes",
			func(r *Replay) { reorder(r, func(m *simulator.Multifactor) { m.AgeUncapped = false }) })
		add("nice per user", "every job has its user's median priority", func(r *Replay) { s.nicePerUser(r) })
	}
	for _, days := range []int{2, 7, 30} {
		list = append(list, way{
			fmt.Sprintf("fair tree, %d d", days), "fair share with this half-life, weight 2000, instead of the recorded priority",
			fairTree(unordered, max(s.found.Order.AgePerHour, 1), time.Duration(days)*24*time.Hour),
		})
	}
	add("one node count", fmt.Sprintf("always %d nodes", s.plain.Cluster.Pools[0].Nodes), func(r *Replay) {
		*r = s.plain.withUserLimits(s.found).withDependencies(s.found).withOrder(s.History, s.found)
	})
	if faithful.Cluster.Backfill == simulator.SlurmBackfill {
		add("Slurm's own passes", "a main pass at every event; backfill every 30 s, on a grid of 60 s, over 24 h, 500 jobs",
			func(r *Replay) { r.Cluster.Slurm = simulator.SlurmParameters{MainInterval: -1} })
		add("and over 48 h", "the same, backfill over 48 h",
			func(r *Replay) { r.Cluster.Slurm = simulator.SlurmParameters{MainInterval: -1, Window: 48 * time.Hour} })
		add("EASY", "EASY backfill at every event", func(r *Replay) { r.Cluster.Backfill = simulator.EASY })
	}
	for _, d := range []time.Duration{time.Minute, 2 * time.Minute} {
		add(fmt.Sprintf("clean-up %s", d), "nodes take so long to start and to clean up", func(r *Replay) { cleanUp(r, d) })
	}
	add("cancelled jobs wait", "a job that never started waits until it was cancelled", func(r *Replay) { s.cancel(r) })
	if l := s.found.Limits.MaxQueued; l.Found {
		add("queue limit", fmt.Sprintf("a user has at most %d jobs queued and running", l.Value),
			func(r *Replay) { r.Cluster.Limits.MaxSubmittedJobs = l.Value })
	}
	return list
}

// fairTree orders the queue by age and Slurm's Fair Tree.
func fairTree(r Replay, agePerHour float64, halfLife time.Duration) Replay {
	const maxAge = 7 * 24 * time.Hour
	r.Cluster.Order = simulator.Order{Multifactor: &simulator.Multifactor{
		Age: agePerHour * maxAge.Hours(), MaxAge: maxAge, AgeUncapped: true, FairShare: 2000, HalfLife: halfLife,
	}}
	return r
}

// nicePerUser gives every job its user's median priority.
func (s *study) nicePerUser(r *Replay) {
	byUser := map[int32][]int32{}
	for i := range r.Jobs {
		byUser[r.Jobs[i].User] = append(byUser[r.Jobs[i].User], r.Jobs[i].Nice)
	}
	for _, list := range byUser {
		slices.Sort(list)
	}
	for i := range r.Jobs {
		list := byUser[r.Jobs[i].User]
		r.Jobs[i].Nice = list[len(list)/2]
	}
}

func cleanUp(r *Replay, d time.Duration) {
	for i := range r.Jobs {
		r.Jobs[i].Run += d
		r.Jobs[i].Limit += d
	}
}

// cancel lets the jobs that never started wait as they did.
func (s *study) cancel(r *Replay) {
	for i := range r.Jobs {
		j, h := &r.Jobs[i], &s.History[i]
		if h.Start.Known() || !h.End.Known() || h.End <= h.Submit {
			continue
		}
		j.CancelAt, j.Run = h.End, time.Second
		if j.Limit = h.Limit; j.Limit <= 0 || j.Limit == segue.Unlimited {
			j.Limit = time.Hour
		}
	}
}
