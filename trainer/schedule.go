package trainer

import (
	"cmp"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/simulator"
)

// Schedule says what a replay came to.
type Schedule struct {
	Jobs  int `json:"jobs"`
	Nodes int `json:"nodes"`
	// Unfinished jobs never started, or never ended; they count nowhere else.
	Unfinished int        `json:"unfinished"`
	First      segue.Time `json:"-"` // submission
	Last       segue.Time `json:"-"` // end
	// MakespanHours is the time from First to Last.
	MakespanHours evaluation.Number `json:"makespan_hours"`
	// Utilisation is the part of the node hours in service that jobs used.
	Utilisation evaluation.Number `json:"utilisation"`
	All         JobClass          `json:"all"`
	// Loads classify jobs by the demand at their submission: the nodes that were
	// busy or asked for, as a multiple of those in service.
	Loads []JobClass `json:"by_load"`
	Sizes []JobClass `json:"by_size"`
	Usage []Usage    `json:"-"`
}

// JobClass is a set of jobs and how they fared. Waits are in hours from the
// submission to the last start.
type JobClass struct {
	Name      string            `json:"name"`
	Jobs      int               `json:"jobs"`
	NodeHours evaluation.Number `json:"node_hours"`
	MeanWait  evaluation.Number `json:"mean_wait_hours"`
	P50       evaluation.Number `json:"p50_wait_hours"`
	P90       evaluation.Number `json:"p90_wait_hours"`
	P99       evaluation.Number `json:"p99_wait_hours"`
	// Slowdown is the mean bounded slowdown: max(1, (wait + run) / max(run, 10 s))
	// (Feitelson and Rudolph, 1998).
	Slowdown evaluation.Number `json:"mean_bounded_slowdown"`
}

// Usage is the state of the cluster from At on, in nodes.
type Usage struct {
	At segue.Time
	// Busy nodes run jobs, Out are out of service, Requested is the sum over the
	// jobs that were submitted and have not started.
	Busy, Out, Requested int
}

const shortestRun = 10 * time.Second // of the bounded slowdown

// Measure returns what the replay r came to.
func Measure(r Replay, result simulator.Result) Schedule {
	s := Schedule{Jobs: len(r.Jobs), Nodes: r.Cluster.Pools[0].Nodes, First: segue.Never, Last: segue.NoTime}
	m := measuring{replay: r, result: result}
	for i := range r.Jobs {
		s.First = min(s.First, r.Jobs[i].Submit)
		if !result.Starts[i].Known() || !result.Ends[i].Known() {
			s.Unfinished++
			continue
		}
		m.done = append(m.done, i)
		s.Last = max(s.Last, result.Ends[i])
	}
	if len(m.done) == 0 {
		return s
	}
	s.MakespanHours = evaluation.Number(s.Last.Sub(s.First).Hours())
	s.Usage = m.usage()
	s.Utilisation = m.utilisation(s)
	demand := demandAtSubmission(s, r.Jobs)
	s.All = m.class("all jobs", func(int) bool { return true })
	s.Loads = m.classes([]bound{{"light: less than the nodes in service", 1}, {"medium: up to twice that", 2}, {"heavy: more", 0}},
		func(i int) float64 { return demand[i] })
	s.Sizes = m.classes([]bound{{"1 node", 2}, {"2 to 8 nodes", 9}, {"9 to 64 nodes", 65}, {"65 nodes and more", 0}},
		func(i int) float64 { return float64(r.Jobs[i].Nodes) })
	return s
}

// measuring is a measurement under way.
type measuring struct {
	replay Replay
	result simulator.Result
	done   []int // jobs that started and ended
}

// bound is a class of the values below below, 0 for all that are left.
type bound struct {
	name  string
	below float64
}

// classes returns the classes that hold jobs.
func (m *measuring) classes(bounds []bound, value func(i int) float64) []JobClass {
	var list []JobClass
	for k, b := range bounds {
		c := m.class(b.name, func(i int) bool {
			v := value(i)
			return (b.below == 0 || v < b.below) && (k == 0 || v >= bounds[k-1].below)
		})
		if c.Jobs > 0 {
			list = append(list, c)
		}
	}
	return list
}

func (m *measuring) class(name string, selected func(i int) bool) JobClass {
	c := JobClass{Name: name}
	var waits []float64
	var nodeHours, slowdown float64
	for _, i := range m.done {
		if !selected(i) {
			continue
		}
		j := &m.replay.Jobs[i]
		wait, run := m.result.Starts[i].Sub(j.Submit), m.result.Ends[i].Sub(m.result.Starts[i])
		waits = append(waits, wait.Hours())
		nodeHours += float64(j.Nodes) * run.Hours()
		slowdown += max(1, (wait+run).Seconds()/max(run, shortestRun).Seconds())
	}
	c.Jobs = len(waits)
	if c.Jobs == 0 {
		return c
	}
	slices.Sort(waits)
	sum := 0.0
	for _, w := range waits {
		sum += w
	}
	n := float64(c.Jobs)
	c.NodeHours, c.MeanWait, c.Slowdown = evaluation.Number(nodeHours), evaluation.Number(sum/n), evaluation.Number(slowdown/n)
	c.P50, c.P90, c.P99 = quantileOf(waits, 0.5), quantileOf(waits, 0.9), quantileOf(waits, 0.99)
	return c
}

// quantileOf returns the p-quantile of sorted values, interpolated linearly
// (type 7 of Hyndman and Fan).
func quantileOf(sorted []float64, p float64) evaluation.Number {
	pos := p * float64(len(sorted)-1)
	lo := int(pos)
	hi := min(lo+1, len(sorted)-1)
	return evaluation.Number(sorted[lo] + (pos-float64(lo))*(sorted[hi]-sorted[lo]))
}

// usage returns the state of the cluster at every instant at which it changes,
// from the first submission to the last end. An outage counts in full, although
// a drained node may still be busy.
func (m *measuring) usage() []Usage {
	var changes []Usage // each a difference
	for _, i := range m.done {
		nodes := int(m.replay.Jobs[i].Nodes)
		changes = append(changes,
			Usage{At: m.replay.Jobs[i].Submit, Requested: nodes},
			Usage{At: m.result.Starts[i], Requested: -nodes, Busy: nodes},
			Usage{At: m.result.Ends[i], Busy: -nodes})
	}
	for _, o := range m.replay.Cluster.Outages {
		changes = append(changes, Usage{At: o.From, Out: o.Nodes}, Usage{At: o.Until, Out: -o.Nodes})
	}
	slices.SortFunc(changes, func(a, b Usage) int { return cmp.Compare(a.At, b.At) })
	var list []Usage
	var now Usage
	for k, c := range changes {
		now.At, now.Busy, now.Out, now.Requested = c.At, now.Busy+c.Busy, now.Out+c.Out, now.Requested+c.Requested
		if k+1 == len(changes) || changes[k+1].At > c.At {
			list = append(list, now)
		}
	}
	return list
}

func (m *measuring) utilisation(s Schedule) evaluation.Number {
	used, served := 0.0, 0.0
	for k := range len(s.Usage) - 1 {
		from, to := max(s.Usage[k].At, s.First), min(s.Usage[k+1].At, s.Last)
		if from >= to {
			continue
		}
		hours := to.Sub(from).Hours()
		used += hours * float64(s.Usage[k].Busy)
		served += hours * float64(max(s.Nodes-s.Usage[k].Out, s.Usage[k].Busy))
	}
	return evaluation.Number(used / served)
}

// demandAtSubmission returns, by job, the nodes that were busy or asked for just
// before its submission, as a multiple of those in service.
func demandAtSubmission(s Schedule, jobs []simulator.Job) []float64 {
	demand := make([]float64, len(jobs))
	for i := range jobs {
		k, _ := slices.BinarySearchFunc(s.Usage, jobs[i].Submit, func(u Usage, t segue.Time) int { return cmp.Compare(u.At, t) })
		if k == 0 {
			continue
		}
		before := s.Usage[k-1]
		demand[i] = float64(before.Busy+before.Requested) / float64(max(s.Nodes-before.Out, 1))
	}
	return demand
}
