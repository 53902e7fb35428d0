package trainer

import (
	"cmp"
	"slices"

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

// Measure returns what the replay r came to. The error is of kind Invalid: a
// replay that could not have been made.
func Measure(r Replay, result simulator.Result) (Schedule, error) {
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
		return s, nil
	}
	s.MakespanHours = evaluation.Number(s.Last.Sub(s.First).Hours())
	s.Usage = m.usage()
	s.Utilisation = m.utilisation(s)
	summary, err := simulator.Summarise(r.Cluster, r.Jobs, result)
	if err != nil {
		return s, err
	}
	s.All, s.Loads, s.Sizes = classOf(summary.All), classesOf(summary.Loads), classesOf(summary.Sizes)
	return s, nil
}

func classesOf(classes []simulator.Class) []JobClass {
	var list []JobClass
	for _, c := range classes {
		list = append(list, classOf(c))
	}
	return list
}

func classOf(c simulator.Class) JobClass {
	return JobClass{
		Name: c.Name, Jobs: c.Jobs, NodeHours: evaluation.Number(c.NodeHours), Slowdown: evaluation.Number(c.Slowdown),
		MeanWait: evaluation.Number(c.Wait.Mean.Hours()), P50: evaluation.Number(c.Wait.P50.Hours()),
		P90: evaluation.Number(c.Wait.P90.Hours()), P99: evaluation.Number(c.Wait.P99.Hours()),
	}
}

// measuring is a measurement under way.
type measuring struct {
	replay Replay
	result simulator.Result
	done   []int // jobs that started and ended
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
