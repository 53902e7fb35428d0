package published

import (
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// The widths of one step of a state: the numbers of the queue, those of the
// pair, and both.
const (
	QueueWidth = 34
	PairWidth  = 8
	StepWidth  = QueueWidth + PairWidth
)

// Describer turns snapshots into the numbers of a step. It keeps memory, so it is
// for one goroutine.
type Describer struct{ values []float32 }

// Queue appends the QueueWidth numbers of a snapshot to out and returns it: the
// count, the sum of the nodes, and the percentiles 0, 25, 50, 75 and 100 of the
// limits in minutes, of the time in the queue and of the time run in seconds,
// first of the pending jobs, which have not run, and then of the running ones.
// Nothing is normalised; of no jobs all numbers are 0.
func (d *Describer) Queue(snap *segue.Snapshot, out []float32) []float32 {
	for _, jobs := range [2][]segue.QueuedJob{snap.Pending, snap.Running} {
		nodes := 0
		for i := range jobs {
			nodes += jobs[i].Nodes
		}
		out = append(out, float32(len(jobs)), float32(nodes))
		out = d.percentiles(jobs, out, func(q *segue.QueuedJob) float64 { return limitOf(q.Limit).Minutes() })
		out = d.percentiles(jobs, out, func(q *segue.QueuedJob) float64 { return queued(q, snap.At).Seconds() })
		out = d.percentiles(jobs, out, func(q *segue.QueuedJob) float64 { return q.Elapsed(snap.At).Seconds() })
	}
	return out
}

// longest stands for the limit of a job that has none.
const longest = 365 * 24 * time.Hour

func limitOf(limit time.Duration) time.Duration { return min(limit, longest) }

// queued returns how long a job waited until it started, or has waited so far.
func queued(q *segue.QueuedJob, now segue.Time) time.Duration {
	if q.Start.Known() {
		now = q.Start
	}
	return max(0, now.Sub(q.Submit))
}

// percentiles appends the percentiles 0, 25, 50, 75 and 100 of a number of the
// jobs, with linear interpolation between neighbours.
func (d *Describer) percentiles(jobs []segue.QueuedJob, out []float32, of func(*segue.QueuedJob) float64) []float32 {
	d.values = d.values[:0]
	for i := range jobs {
		d.values = append(d.values, float32(of(&jobs[i])))
	}
	slices.Sort(d.values)
	for quarter := range 5 {
		out = append(out, quartile(d.values, quarter))
	}
	return out
}

// quartile returns the value at so many quarters of the way through a sorted
// list, 0 of an empty one.
func quartile(sorted []float32, quarter int) float32 {
	if len(sorted) == 0 {
		return 0
	}
	quarters := quarter * (len(sorted) - 1)
	i, part := quarters/4, float32(quarters%4)/4
	if part == 0 {
		return sorted[i]
	}
	return sorted[i] + part*(sorted[i+1]-sorted[i])
}

// Pair is what a state holds of the pair itself: two jobs of one shape, the
// second of which has not been submitted.
type Pair struct {
	Shape  segue.Shape
	Submit segue.Time // of the first job
	Start  segue.Time // of the first job, later than the present or NoTime while it waits
}

// put writes the PairWidth numbers of the pair at an instant into out: limit in
// minutes, nodes, wait and time run in seconds, of the first job and then of the
// second, which has neither waited nor run.
func (p Pair) put(at segue.Time, out []float32) {
	limit, nodes := float32(limitOf(p.Shape.Limit).Minutes()), float32(p.Shape.Nodes)
	wait, run := at.Sub(p.Submit), time.Duration(0)
	if p.Start.Known() && p.Start <= at {
		wait, run = p.Start.Sub(p.Submit), at.Sub(p.Start)
	}
	copy(out, []float32{limit, nodes, float32(wait.Seconds()), float32(run.Seconds()), limit, nodes, 0, 0})
}

// Names returns the names of the numbers of a step, in order.
func Names() []string {
	var names []string
	for _, list := range []string{"pending", "running"} {
		names = append(names, list+".jobs", list+".nodes")
		for _, what := range []string{"limit_min", "queued_s", "run_s"} {
			for quarter := range 5 {
				names = append(names, fmt.Sprintf("%s.%s.p%d", list, what, 25*quarter))
			}
		}
	}
	for _, job := range []string{"predecessor", "successor"} {
		for _, what := range []string{"limit_min", "nodes", "queued_s", "run_s"} {
			names = append(names, job+"."+what)
		}
	}
	return names
}
