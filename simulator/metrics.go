package simulator

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Summary says what a replay came to.
type Summary struct {
	// Unfinished jobs never started, or never ended; they count nowhere else.
	Unfinished int
	// Makespan is the time from the first submission to the last end.
	Makespan time.Duration
	// Utilisation is the part of the node time in service that jobs used, earlier
	// attempts included, from the first submission to the last end.
	Utilisation float64
	All         Class
	// Sizes classify jobs by their nodes.
	Sizes []Class
	// Loads classify jobs by the demand on their pool just before their
	// submission: the nodes busy or asked for, as a multiple of those in service.
	Loads []Class
}

// Class is a set of jobs and how they fared.
type Class struct {
	Name      string
	Jobs      int
	NodeHours float64 // of the last runs
	Wait      Waits
	// Slowdown is the mean bounded slowdown, max(1, (wait + run) / max(run, 10 s))
	// (Feitelson and Rudolph, 1998).
	Slowdown float64
}

// Waits are the times from submission to the last start. Quantiles are
// interpolated between order statistics (type 7 of Hyndman and Fan, 1996).
type Waits struct {
	Mean, P50, P90, P99, Max time.Duration
}

// bound is a class of the values below below, 0 for all that are left.
type bound struct {
	name  string
	below float64
}

var (
	sizeBounds = []bound{{"1 node", 2}, {"2 to 8 nodes", 9}, {"9 to 64 nodes", 65}, {"65 nodes and more", 0}}
	loadBounds = []bound{{"light: less than the nodes in service", 1}, {"medium: up to twice that", 2}, {"heavy: more", 0}}
)

const shortestRun = 10 * time.Second // of the bounded slowdown

// Summarise returns what the replay of jobs on the cluster cfg came to. A
// cluster or jobs that New would refuse are refused alike.
func Summarise(cfg Config, jobs []Job, result Result) (Summary, error) {
	c, err := newConf(cfg)
	if err != nil {
		return Summary{}, err
	}
	if _, err := newTable(c, jobs); err != nil {
		return Summary{}, err
	}
	s := Summary{}
	done := make([]int, 0, len(jobs))
	first, last := segue.Never, segue.NoTime
	for i := range jobs {
		first = min(first, jobs[i].Submit)
		if !result.Starts[i].Known() || !result.Ends[i].Known() {
			s.Unfinished++
			continue
		}
		done = append(done, i)
		last = max(last, result.Ends[i])
	}
	m := measuring{jobs: jobs, result: result, done: done}
	s.All = m.class("all jobs", func(int) bool { return true })
	if len(done) == 0 {
		return s, nil
	}
	s.Makespan = last.Sub(first)
	demand := make([]float64, len(jobs))
	used, served := 0.0, 0.0
	for pool := range c.Pools {
		levels := c.levels(pool, jobs, result)
		u, v := nodeTime(levels, c.Pools[pool].Nodes, first, last)
		used, served = used+u, served+v
		c.demandBefore(pool, jobs, levels, demand)
	}
	if served > 0 {
		s.Utilisation = used / served
	}
	s.Sizes = m.classes(sizeBounds, func(i int) float64 { return float64(jobs[i].Nodes) })
	s.Loads = m.classes(loadBounds, func(i int) float64 { return demand[i] })
	return s, nil
}

// measuring is a measurement under way.
type measuring struct {
	jobs   []Job
	result Result
	done   []int // jobs that started and ended
}

// classes returns the classes that hold jobs.
func (m *measuring) classes(bounds []bound, value func(i int) float64) []Class {
	var list []Class
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

func (m *measuring) class(name string, selected func(i int) bool) Class {
	c := Class{Name: name}
	var waits []time.Duration
	for _, i := range m.done {
		if !selected(i) {
			continue
		}
		wait, run := m.result.Starts[i].Sub(m.jobs[i].Submit), m.result.Ends[i].Sub(m.result.Starts[i])
		waits = append(waits, wait)
		c.NodeHours += float64(m.jobs[i].Nodes) * run.Hours()
		c.Slowdown += max(1, (wait+run).Seconds()/max(run, shortestRun).Seconds())
	}
	if c.Jobs = len(waits); c.Jobs == 0 {
		return c
	}
	c.Slowdown /= float64(c.Jobs)
	c.Wait = waitsOf(waits)
	return c
}

// waitsOf sorts the waits, of which there is at least one.
func waitsOf(waits []time.Duration) Waits {
	sum := 0.0
	for _, w := range waits {
		sum += w.Seconds()
	}
	slices.Sort(waits)
	f := segue.Forecast{Waits: waits}
	return Waits{
		Mean: time.Duration(sum / float64(len(waits)) * 1e9),
		P50:  f.Quantile(0.5), P90: f.Quantile(0.9), P99: f.Quantile(0.99), Max: waits[len(waits)-1],
	}
}
