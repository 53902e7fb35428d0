package trainer

import (
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
	// Usage is the state of the cluster at every instant at which it changes.
	Usage []simulator.Level `json:"-"`
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

// Measure returns what the replay r came to. The error is of kind Invalid: a
// replay that could not have been made.
func Measure(r Replay, result simulator.Result) (Schedule, error) {
	s := Schedule{Jobs: len(r.Jobs), Nodes: r.Cluster.Pools[0].Nodes, First: segue.Never, Last: segue.NoTime}
	done := 0
	for i := range r.Jobs {
		s.First = min(s.First, r.Jobs[i].Submit)
		if result.Starts[i].Known() && result.Ends[i].Known() {
			done++
			s.Last = max(s.Last, result.Ends[i])
		}
	}
	s.Unfinished = len(r.Jobs) - done
	if done == 0 {
		return s, nil
	}
	summary, err := simulator.Summarise(r.Cluster, r.Jobs, result)
	if err != nil {
		return s, err
	}
	if s.Usage, err = simulator.Levels(r.Cluster, 0, r.Jobs, result); err != nil {
		return s, err
	}
	s.MakespanHours = evaluation.Number(s.Last.Sub(s.First).Hours())
	s.Utilisation = evaluation.Number(summary.Utilisation)
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
