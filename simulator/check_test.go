package simulator_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

func minutes(n int) segue.Time { return segue.Seconds(int64(n) * 60) }

// reporter is what rapid.T and testing.T have in common here.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// spell is one run of a job.
type spell struct {
	job        int
	start, end segue.Time
	last       bool // not ended by preemption or a failed node
}

func spells(r simulator.Result) []spell {
	var all []spell
	for _, a := range r.Attempts {
		all = append(all, spell{job: int(a.Job), start: a.Start, end: a.End})
	}
	for i := range r.Starts {
		if r.Starts[i].Known() {
			all = append(all, spell{job: i, start: r.Starts[i], end: r.Ends[i], last: true})
		}
	}
	return all
}

// checkUse recounts, at every start, what is in use then, and what each job may
// do, from the result alone.
func checkUse(t reporter, cfg simulator.Config, jobs []simulator.Job, r simulator.Result) {
	t.Helper()
	all := spells(r)
	for _, s := range all {
		checkSpell(t, cfg, jobs, r, s)
		checkConditions(t, jobs, r, s)
		if s.start < s.end {
			checkInstant(t, cfg, jobs, all, s.start)
		}
	}
	for i, q := range jobs {
		if end := r.Ends[i]; !r.Starts[i].Known() && end.Known() && q.CancelAt == 0 && len(q.After) == 0 &&
			!slices.ContainsFunc(r.Attempts, func(a simulator.Attempt) bool { return int(a.Job) == i && a.End == end }) {
			t.Errorf("job %d is gone at %s without a reason", i, clock(end))
		}
	}
}

// checkSpell checks one run by itself.
func checkSpell(t reporter, cfg simulator.Config, jobs []simulator.Job, r simulator.Result, s spell) {
	t.Helper()
	j := &jobs[s.job]
	length := min(j.Run, j.Limit)
	switch {
	case s.start < max(j.Submit, j.Begin):
		t.Errorf("job %d starts at %s, before its submission at %s or its begin at %s", s.job, clock(s.start), clock(j.Submit), clock(j.Begin))
	case s.last && s.end.Sub(s.start) != length:
		t.Errorf("job %d runs from %s to %s, want %s", s.job, clock(s.start), clock(s.end), length)
	case !s.last && s.end.Sub(s.start) > length:
		t.Errorf("job %d was stopped after %s, but would have ended after %s", s.job, s.end.Sub(s.start), length)
	case j.CancelAt != 0 && !startedBy(cfg, firstStart(r, simulator.Ref(s.job)), j.CancelAt):
		t.Errorf("job %d starts at %s, cancelled at %s", s.job, clock(s.start), clock(j.CancelAt))
	}
	for _, a := range r.Attempts {
		if int(a.Job) == s.job && a.Start < s.start && s.start < a.End.Add(cfg.RequeueDelay) {
			t.Errorf("job %d starts again at %s, stopped at %s with a requeue delay of %s", s.job, clock(s.start), clock(a.End), cfg.RequeueDelay)
		}
	}
}

// startedBy reports whether a start saves the job from a cancellation at the
// instant at. PerEvent makes a pass before the cancellations of an instant.
func startedBy(cfg simulator.Config, start, at segue.Time) bool {
	return start < at || (start == at && cfg.Events == simulator.PerEvent)
}

// checkConditions checks the dependencies of a job that has started.
func checkConditions(t reporter, jobs []simulator.Job, r simulator.Result, s spell) {
	t.Helper()
	for _, d := range jobs[s.job].After {
		other := &jobs[d.Job]
		start, end := r.Starts[d.Job], r.Ends[d.Job]
		good := start.Known() && !other.Fails && other.Run <= other.Limit
		switch {
		case d.Kind == simulator.After:
			if first := firstStart(r, d.Job); !started(first, d, s) && !(end.Known() && end.Add(d.Delay) <= s.start) {
				t.Errorf("job %d starts at %s, less than %s after the start of %d at %s", s.job, clock(s.start), d.Delay, d.Job, clock(first))
			}
		case !end.Known() || end > s.start:
			t.Errorf("job %d starts at %s, before the end of job %d at %s", s.job, clock(s.start), d.Job, clock(end))
		case d.Kind == simulator.AfterOK && !good:
			t.Errorf("job %d starts although job %d has failed", s.job, d.Job)
		}
	}
}

func started(first segue.Time, d simulator.Dependency, s spell) bool {
	return first.Known() && first.Add(d.Delay) <= s.start
}

func firstStart(r simulator.Result, job simulator.Ref) segue.Time {
	first := r.Starts[job]
	for _, a := range r.Attempts {
		if a.Job == job && (!first.Known() || a.Start < first) {
			first = a.Start
		}
	}
	return first
}

// checkInstant counts what is in use at the instant at.
func checkInstant(t reporter, cfg simulator.Config, jobs []simulator.Job, all []spell, at segue.Time) {
	t.Helper()
	used := map[string]int{}
	for _, s := range all {
		if s.start > at || at >= s.end {
			continue
		}
		j := &jobs[s.job]
		pool := poolOf(cfg, j)
		gpus, each := cfg.Pools[pool].GPUsPerNode, max(cfg.Pools[pool].GPUsPerNode, 1)
		if j.GPUsPerNode > 0 && int(j.GPUsPerNode) < gpus {
			each = int(j.GPUsPerNode)
		}
		used[fmt.Sprintf("GPUs of pool %d", pool)] += int(j.Nodes) * each
		used[fmt.Sprintf("jobs of user %d", j.User)]++
		used[fmt.Sprintf("nodes of user %d", j.User)] += int(j.Nodes)
		used[fmt.Sprintf("jobs of user %d in QOS %d", j.User, j.QOS)]++
		used[fmt.Sprintf("nodes of user %d in QOS %d", j.User, j.QOS)] += int(j.Nodes)
		used[fmt.Sprintf("nodes of QOS %d", j.QOS)] += int(j.Nodes)
		used[fmt.Sprintf("jobs of group %d", j.Singleton)]++
	}
	bound := func(limit int, format string, args ...any) {
		t.Helper()
		if n := used[fmt.Sprintf(format, args...)]; limit > 0 && n > limit {
			t.Errorf("%d %s in use at %s, want at most %d", n, fmt.Sprintf(format, args...), clock(at), limit)
		}
	}
	for p, pool := range cfg.Pools {
		bound(max(pool.GPUsPerNode, 1)*(pool.Nodes-outOfService(cfg, p, at)), "GPUs of pool %d", p)
	}
	for _, j := range jobs {
		bound(cfg.Limits.MaxRunningJobs, "jobs of user %d", j.User)
		bound(cfg.Limits.MaxNodes, "nodes of user %d", j.User)
		if len(cfg.QOS) > 0 {
			q := cfg.QOS[j.QOS]
			bound(q.Limits.MaxRunningJobs, "jobs of user %d in QOS %d", j.User, j.QOS)
			bound(q.Limits.MaxNodes, "nodes of user %d in QOS %d", j.User, j.QOS)
			bound(q.GroupNodes, "nodes of QOS %d", j.QOS)
		}
		if j.Singleton != 0 {
			bound(1, "jobs of group %d", j.Singleton)
		}
	}
}

func poolOf(cfg simulator.Config, j *simulator.Job) int {
	if len(cfg.Partitions) == 0 {
		return int(j.Partition)
	}
	return cfg.Partitions[j.Partition].Pool
}

// outOfService returns the nodes that failed outages keep away; nodes that
// drain may still be busy.
func outOfService(cfg simulator.Config, pool int, at segue.Time) int {
	n := 0
	for _, o := range cfg.Outages {
		if o.Pool == pool && !o.Drain && o.From <= at && at < o.Until {
			n += o.Nodes
		}
	}
	return n
}

// clock writes an instant as the time since the scenario's beginning: "1h30m".
func clock(t segue.Time) string {
	if !t.Known() {
		return "?"
	}
	d := t.Sub(0)
	text := d.String()
	if d%time.Minute == 0 && d != 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 && d != 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
