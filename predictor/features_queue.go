package predictor

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// release is a moment at which running jobs are expected to give nodes back.
type release struct {
	after time.Duration
	nodes int
}

// running describes the jobs that run and returns the number of free nodes.
func (d *Describer) running(now *Present) (free int) {
	snap := &now.Snapshot
	nodes, limits, expected := 0, 0.0, 0.0
	for i := range snap.Running {
		q := &snap.Running[i]
		nodes += q.Nodes
		limits += float64(q.Nodes) * left(q, planned(q.Limit), snap.At).Hours()
		expected += float64(q.Nodes) * left(q, d.runs[i], snap.At).Hours()
	}
	free = max(snap.Nodes-nodes, 0)
	d.sheet.put("free.size", share(free, now))
	d.sheet.put("running.jobs_log", math.Log1p(float64(len(snap.Running))))
	d.sheet.put("running.size", share(nodes, now))
	d.sheet.put("running.work_by_limit", share(limits, now))
	d.sheet.put("running.work_expected", share(expected, now))
	d.spread("running.job_size", snap.Running, func(q *segue.QueuedJob) float64 { return share(q.Nodes, now) }, 0.5, 1)
	d.spread("running.limit", snap.Running, func(q *segue.QueuedJob) float64 { return planned(q.Limit).Hours() }, 0.25, 0.5, 0.75)
	d.spread("running.elapsed", snap.Running, func(q *segue.QueuedJob) float64 { return q.Elapsed(snap.At).Hours() }, 0.25, 0.5, 0.75)
	d.spread("running.left", snap.Running, func(q *segue.QueuedJob) float64 { return left(q, planned(q.Limit), snap.At).Hours() }, 0.1, 0.25, 0.5, 0.75)
	return free
}

// left returns how much of a supposed run time is left of a running job.
func left(q *segue.QueuedJob, run time.Duration, at segue.Time) time.Duration {
	return max(0, min(run, waitHorizon)-q.Elapsed(at))
}

// pending describes the jobs that wait.
func (d *Describer) pending(now *Present, req segue.Request, free int) {
	snap := &now.Snapshot
	var jobs, nodes, held, fitting, wider int
	var limits, expected, ahead float64
	users := map[string]struct{}{}
	for i := range snap.Pending {
		q := &snap.Pending[i]
		if !q.Eligible.Known() {
			held++
			continue
		}
		jobs++
		nodes += q.Nodes
		limits += float64(q.Nodes) * planned(q.Limit).Hours()
		work := float64(q.Nodes) * min(d.runs[len(snap.Running)+i], waitHorizon).Hours()
		expected += work
		if q.Priority >= 0 {
			ahead += work
		}
		if q.Nodes <= free {
			fitting++
		}
		if q.Nodes >= req.Nodes {
			wider++
		}
		users[q.User] = struct{}{}
	}
	d.sheet.put("pending.jobs_log", math.Log1p(float64(jobs)))
	d.sheet.put("pending.held_log", math.Log1p(float64(held)))
	d.sheet.put("pending.users_log", math.Log1p(float64(len(users))))
	d.sheet.put("pending.size", share(nodes, now))
	d.sheet.put("pending.work_by_limit", share(limits, now))
	d.sheet.put("pending.work_expected", share(expected, now))
	d.sheet.put("pending.work_ahead", share(ahead, now))
	d.sheet.put("pending.fitting_log", math.Log1p(float64(fitting)))
	d.sheet.put("pending.as_wide_log", math.Log1p(float64(wider)))
	d.spread("pending.job_size", snap.Pending, func(q *segue.QueuedJob) float64 { return share(q.Nodes, now) }, 0.5, 0.75, 1)
	d.spread("pending.limit", snap.Pending, func(q *segue.QueuedJob) float64 { return planned(q.Limit).Hours() }, 0.25, 0.5, 0.75)
	d.spread("pending.age", snap.Pending, func(q *segue.QueuedJob) float64 { return max(0, snap.At.Sub(q.Submit)).Hours() }, 0.25, 0.5, 0.75, 1)
}

// release says when as many nodes as the request needs are free if nothing else
// starts: by the limits of the jobs that run, and by their expected run times.
func (d *Describer) release(now *Present, req segue.Request, free int) {
	snap := &now.Snapshot
	for _, by := range []struct {
		name string
		run  func(i int) time.Duration
	}{
		{"release.by_limit", func(i int) time.Duration { return planned(snap.Running[i].Limit) }},
		{"release.expected", func(i int) time.Duration { return d.runs[i] }},
	} {
		d.frees = d.frees[:0]
		for i := range snap.Running {
			q := &snap.Running[i]
			d.frees = append(d.frees, release{left(q, by.run(i), snap.At), q.Nodes})
		}
		sort.Slice(d.frees, func(i, j int) bool { return d.frees[i].after < d.frees[j].after })
		after, have := time.Duration(0), free
		for i := 0; i < len(d.frees) && have < req.Nodes; i++ {
			have += d.frees[i].nodes
			after = d.frees[i].after
		}
		d.sheet.put(by.name, after.Hours())
	}
}

// spread puts quantiles of a number over jobs; NaN without jobs.
func (d *Describer) spread(name string, jobs []segue.QueuedJob, of func(*segue.QueuedJob) float64, levels ...float64) {
	d.values = d.values[:0]
	for i := range jobs {
		d.values = append(d.values, of(&jobs[i]))
	}
	slices.Sort(d.values)
	for _, p := range levels {
		value := math.NaN()
		if n := len(d.values); n > 0 {
			value = d.values[int(math.Round(p*float64(n-1)))]
		}
		d.sheet.put(name+"."+percent(p), value)
	}
}

// percent returns for example "p50".
func percent(p float64) string { return "p" + strconv.Itoa(int(math.Round(100*p))) }

// standing describes the request's own user: jobs, recent waits, and whether a
// cap of theirs holds a job back.
func (d *Describer) standing(now *Present, req segue.Request) {
	snap := &now.Snapshot
	running, runningNodes := owned(snap.Running, req.User)
	pending, pendingNodes := owned(snap.Pending, req.User)
	capped := 0.0
	for i := range snap.Pending {
		if q := &snap.Pending[i]; q.User == req.User && strings.Contains(q.Reason, "Max") {
			capped = 1
		}
	}
	d.sheet.put("own.running", float64(running))
	d.sheet.put("own.running_size", share(runningNodes, now))
	d.sheet.put("own.pending", float64(pending))
	d.sheet.put("own.pending_size", share(pendingNodes, now))
	d.sheet.put("own.capped", capped)
	waits, n := 0.0, 0
	if user, known := now.History.users[req.User]; known {
		for i, seen := now.History.starts.len()-1, 0; i >= 0 && seen < recentScan && n < 10; i, seen = i-1, seen+1 {
			if s := now.History.starts.at(i); s.User == user {
				waits, n = waits+s.Wait.Hours(), n+1
			}
		}
	}
	d.sheet.put("own.wait_mean", waits/float64(n)) // NaN for none
}

// owned counts a user's jobs and their nodes.
func owned(jobs []segue.QueuedJob, user string) (count, nodes int) {
	for i := range jobs {
		if jobs[i].User == user && user != "" {
			count, nodes = count+1, nodes+jobs[i].Nodes
		}
	}
	return count, nodes
}
