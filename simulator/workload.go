package simulator

import (
	"slices"

	"github.com/segue-project/segue"
)

// conf is a validated Config with what is derived from it; forks share it.
type conf struct {
	Config
	multifactor      *Multifactor
	dynamic          bool      // priorities change while jobs wait
	tierOffset       []float64 // per partition, added to keys or priorities
	conservativePlan bool      // reservations are kept between passes
	caps             bool
	preempts         bool
	sharing          []bool // per pool: some job takes part of a node
	users            int
	outages          []outageEvent
	mainEvery        int64
	backfillEvery    int64
	window, res      int64
}

// table is the immutable part of the jobs; forks share it.
type table struct {
	jobs    []job
	order   []Ref // by submission
	cancels []cancelEvent
	after   map[Ref][]Dependency
	begin   map[Ref]int64
	nice    map[Ref]int32
	group   map[Ref]int32 // singleton groups
}

type cancelEvent struct {
	at  int64
	ref Ref
}

const never = int64(segue.Never)

func newTable(c *conf, jobs []Job) (*table, error) {
	t := &table{jobs: make([]job, len(jobs)), order: make([]Ref, len(jobs))}
	for i := range jobs {
		if err := c.check(&jobs[i], len(jobs)); err != nil {
			return nil, segue.Errorf(segue.Invalid, "job %d: %w", i, err)
		}
		t.jobs[i] = compile(&jobs[i])
		t.order[i] = Ref(i)
		t.keepRare(Ref(i), &jobs[i])
	}
	sorted := slices.IsSortedFunc(t.jobs, func(a, b job) int { return int(min(max(a.submit-b.submit, -1), 1)) })
	if !sorted {
		slices.SortStableFunc(t.order, func(a, b Ref) int {
			return int(min(max(t.jobs[a].submit-t.jobs[b].submit, -1), 1))
		})
	}
	slices.SortFunc(t.cancels, func(a, b cancelEvent) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return int(a.ref - b.ref)
	})
	for _, deps := range t.after {
		for _, d := range deps {
			t.jobs[d.Job].flags |= hasDependents
		}
	}
	return t, nil
}

// compile returns the hot part of j.
func compile(j *Job) job {
	limit := j.Limit.Microseconds()
	k := job{
		submit: int64(j.Submit), run: min(j.Run.Microseconds(), limit), limit: limit,
		nodes: j.Nodes, gpus: j.GPUsPerNode, user: j.User, part: int16(j.Partition), qos: int16(j.QOS),
	}
	if j.CancelAt != 0 {
		k.flags |= hasCancel
	}
	if j.Begin != 0 {
		k.flags |= hasBegin
	}
	if len(j.After) > 0 {
		k.flags |= hasAfter
	}
	if j.Singleton != 0 {
		k.flags |= hasSingleton
	}
	if j.Fails || j.Run > j.Limit {
		k.flags |= fails
	}
	return k
}

// keepRare stores what few jobs have.
func (t *table) keepRare(ref Ref, j *Job) {
	if j.CancelAt != 0 {
		t.cancels = append(t.cancels, cancelEvent{int64(j.CancelAt), ref})
	}
	put(&t.begin, ref, int64(j.Begin), j.Begin != 0)
	put(&t.nice, ref, j.Nice, j.Nice != 0)
	put(&t.group, ref, j.Singleton, j.Singleton != 0)
	put(&t.after, ref, j.After, len(j.After) > 0)
}

func put[V any](m *map[Ref]V, ref Ref, v V, present bool) {
	if !present {
		return
	}
	if *m == nil {
		*m = map[Ref]V{}
	}
	(*m)[ref] = v
}

func newConf(cfg Config, jobs []Job) (*conf, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &conf{Config: cfg, sharing: make([]bool, len(cfg.Pools))}
	for i := range jobs {
		j := &jobs[i]
		c.users = max(c.users, int(j.User)+1)
		if j.GPUsPerNode > 0 && int(j.Partition) < len(cfg.Partitions) && j.Partition >= 0 {
			pool := cfg.Partitions[j.Partition].Pool
			c.sharing[pool] = c.sharing[pool] || int(j.GPUsPerNode) < cfg.Pools[pool].GPUsPerNode
		}
	}
	c.caps = cfg.Limits != Limits{}
	for _, q := range cfg.QOS {
		c.caps = c.caps || q.Limits != Limits{} || q.GroupNodes > 0
	}
	if m := cfg.Order.Multifactor; m != nil {
		d := m.withDefaults()
		c.multifactor, c.dynamic = &d, !d.static()
	}
	c.setTiers()
	anySharing := slices.Contains(c.sharing, true)
	c.conservativePlan = cfg.Backfill == Conservative && !c.caps && !c.preempts && !c.dynamic &&
		!anySharing && len(cfg.Outages) == 0 && !c.tiered()
	c.outages = outageTimeline(cfg.Outages)
	c.mainEvery, c.backfillEvery = cfg.Slurm.MainInterval.Microseconds(), cfg.Slurm.BackfillInterval.Microseconds()
	c.window, c.res = cfg.Slurm.Window.Microseconds(), cfg.Slurm.Resolution.Microseconds()
	return c, nil
}

// setTiers derives what partitions add to the order: a tier outranks every
// priority (Slurm sorts by tier first).
func (c *conf) setTiers() {
	step := float64(1 << 40) // above any priority
	if c.multifactor == nil {
		step = 1e15 // microseconds: 31 years, above any difference of submit times
	}
	c.tierOffset = make([]float64, len(c.Partitions))
	for i, p := range c.Partitions {
		c.tierOffset[i] = float64(p.Tier) * step
		c.preempts = c.preempts || p.Preempt != PreemptOff
	}
}

func (c *conf) tiered() bool {
	for _, p := range c.Partitions {
		if p.Tier != c.Partitions[0].Tier {
			return true
		}
	}
	return false
}

// check refuses a job that the cluster could never run.
func (c *conf) check(j *Job, jobs int) error {
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
		if d.Job < 0 || int(d.Job) >= jobs {
			return bad("dependency on job %d, want 0 to %d", d.Job, jobs-1)
		}
	}
	return nil
}

// maxInstant keeps sums of instants and limits far from overflow.
const maxInstant = 1 << 61
