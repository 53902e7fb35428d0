package simulator

import (
	"cmp"
	"slices"

	"github.com/segue-project/segue"
)

// table is the immutable part of the jobs given to New; forks share it.
type table struct {
	jobs    []job
	order   []Ref         // by submission
	cancels []cancelEvent // by time
	rare    map[Ref]*Job  // of the jobs with isRare
	// lastDependent names, for each job that others depend on, the one of them
	// that is submitted last.
	lastDependent map[Ref]Ref
	users         int
}

type cancelEvent struct {
	at  int64
	ref Ref
}

func newTable(c *conf, jobs []Job) (*table, error) {
	t := &table{jobs: make([]job, len(jobs)), order: make([]Ref, len(jobs)), rare: map[Ref]*Job{}}
	for i := range jobs {
		if err := c.check(&jobs[i], Ref(i), len(jobs)); err != nil {
			return nil, segue.Errorf(segue.Invalid, "job %d: %w", i, err)
		}
		t.jobs[i] = compile(&jobs[i])
		t.order[i] = Ref(i)
		t.users = max(t.users, int(jobs[i].User)+1)
		if t.jobs[i].flags&isRare != 0 {
			t.addRare(Ref(i), jobs[i].clone())
		}
	}
	if !slices.IsSortedFunc(t.jobs, func(a, b job) int { return cmp.Compare(a.submit, b.submit) }) {
		slices.SortStableFunc(t.order, func(a, b Ref) int { return cmp.Compare(t.jobs[a].submit, t.jobs[b].submit) })
	}
	slices.SortFunc(t.cancels, func(a, b cancelEvent) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ref, b.ref))
	})
	t.linkDependents()
	return t, nil
}

func (t *table) addRare(ref Ref, j *Job) {
	t.rare[ref] = j
	if j.CancelAt != 0 {
		t.cancels = append(t.cancels, cancelEvent{int64(j.CancelAt), ref})
	}
}

// linkDependents marks the jobs that others depend on.
func (t *table) linkDependents() {
	for _, ref := range t.order {
		if t.jobs[ref].flags&hasAfter == 0 {
			continue
		}
		if t.lastDependent == nil {
			t.lastDependent = map[Ref]Ref{}
		}
		for _, d := range t.rare[ref].After {
			t.jobs[d.Job].flags |= hasDependents
			t.lastDependent[d.Job] = ref
		}
	}
}

// submittedBefore reports whether job a is submitted before job b.
func (t *table) submittedBefore(a, b Ref) bool {
	if x, y := t.jobs[a].submit, t.jobs[b].submit; x != y {
		return x < y
	}
	return a < b
}

// check refuses a job that the cluster could never run. self is the job's own
// name, jobs the number of jobs that it may depend on.
func (c *conf) check(j *Job, self Ref, jobs int) error {
	bad := func(format string, args ...any) error { return segue.Errorf(segue.Invalid, format, args...) }
	if j.Partition < 0 || int(j.Partition) >= len(c.Partitions) {
		return bad("partition %d, want 0 to %d", j.Partition, len(c.Partitions)-1)
	}
	pool := &c.Pools[c.Partitions[j.Partition].Pool]
	switch {
	case j.Nodes < 1 || int(j.Nodes) > pool.Nodes:
		return bad("%d nodes, want 1 to the pool's %d", j.Nodes, pool.Nodes)
	case j.GPUsPerNode < 0 || (j.GPUsPerNode > 0 && int(j.GPUsPerNode) > pool.GPUsPerNode):
		return bad("%d GPUs per node, want 0 (whole nodes) to the pool's %d", j.GPUsPerNode, pool.GPUsPerNode)
	case c.Events == PerEvent && j.GPUsPerNode > 0 && int(j.GPUsPerNode) < pool.GPUsPerNode:
		return bad("%d GPUs per node of %d: with Events PerEvent a job takes whole nodes", j.GPUsPerNode, pool.GPUsPerNode)
	case j.QOS < 0 || int(j.QOS) >= len(c.QOS):
		return bad("QOS %d, want 0 to %d", j.QOS, len(c.QOS)-1)
	case j.User < 0:
		return bad("user %d, want 0 or more", j.User)
	case j.Run < 0:
		return bad("run time %s, want 0 or more", j.Run)
	case j.Limit <= 0:
		return bad("time limit %s, want more than 0", j.Limit)
	case int64(j.Submit) < -maxInstant || int64(j.Submit) > maxInstant:
		return bad("submission at %d microseconds, out of range", int64(j.Submit))
	}
	for _, d := range j.After {
		switch {
		case d.Job < 0 || int(d.Job) >= jobs:
			return bad("dependency on job %d, want 0 to %d", d.Job, jobs-1)
		case d.Job == self:
			return bad("dependency on itself")
		case d.Kind > After:
			return bad("dependency of kind %d, want 0 to %d", d.Kind, After)
		case d.Delay < 0 || d.Delay > longest:
			return bad("dependency with a delay of %s, want 0 to %s", d.Delay, longest)
		}
	}
	return nil
}
