package simulator

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Forward simulates what a scheduler will do with the jobs of a snapshot and
// one more, under run times that the caller supposes. It is how a forecast
// asks "when would it start?", and knows only what the snapshot shows.
type Forward struct {
	cfg   Config
	base  *Sim
	fork  *Sim // the future under way
	probe *Sim // a submission tried in it
	users map[string]int32
	runs  []int64
	jobs  []Job
}

// NewForward returns a forward simulation under the scheduler of cfg, which
// must have one pool. Its number of nodes is taken from each snapshot.
func NewForward(cfg Config) (*Forward, error) {
	cfg.Outages = nil
	c, err := newConf(cfg)
	if err != nil {
		return nil, err
	}
	if len(c.Pools) != 1 {
		return nil, segue.Errorf(segue.Invalid, "forward simulation: the cluster has %d pools, want 1", len(c.Pools))
	}
	f := &Forward{cfg: c.Config, users: map[string]int32{}}
	for i, name := range cfg.Users {
		f.users[name] = int32(i)
	}
	return f, nil
}

// Load takes a snapshot. Jobs are numbered as in it: the running ones first,
// then the pending ones; a pending job that needs more nodes than are in
// service, or is not eligible, is left out of the simulation but keeps its
// number. The usage behind a fair-share factor begins at the snapshot.
func (f *Forward) Load(snap *segue.Snapshot) error {
	f.jobs = f.jobs[:0]
	cfg := f.cfg
	cfg.Pools = []Pool{cfg.Pools[0]}
	cfg.Pools[0].Nodes = max(snap.Nodes, nodesOf(snap.Running), 1)
	for i := range snap.Running {
		f.jobs = append(f.jobs, f.convert(&snap.Running[i], cfg.Pools[0].Nodes))
	}
	for i := range snap.Pending {
		f.jobs = append(f.jobs, f.convert(&snap.Pending[i], cfg.Pools[0].Nodes))
	}
	base, err := New(cfg, f.jobs)
	if err != nil {
		return segue.Errorf(segue.Invalid, "forward simulation: %w", err)
	}
	f.base = base
	base.record = nil
	base.arrived, base.now = len(base.table.order), int64(snap.At)
	base.usage.chargedTo = base.now
	base.resumeAll(snap)
	for i := range snap.Pending {
		q, ref := &snap.Pending[i], Ref(len(snap.Running)+i)
		if q.Nodes > int(base.pools[0].total) || !q.Eligible.Known() {
			continue
		}
		if base.conf.caps {
			base.users.submit(base.job(ref), 1)
		}
		base.enqueue(ref, int64(q.Eligible))
	}
	return nil
}

// nodesOf bounds the nodes that the jobs are on.
func nodesOf(jobs []segue.QueuedJob) int {
	n := 0
	for i := range jobs {
		n += jobs[i].Nodes
	}
	return n
}

func (f *Forward) convert(q *segue.QueuedJob, nodes int) Job {
	return Job{
		Submit: q.Submit, Run: q.Limit, Limit: max(q.Limit, time.Microsecond), Nodes: int32(min(max(q.Nodes, 1), nodes)),
		GPUsPerNode: int32(min(q.GPUsPerNode, f.cfg.Pools[0].GPUsPerNode)), User: f.user(q.User),
		Partition: f.partition(q.Partition), QOS: f.qos(q.QOS), Nice: int32(-min(max(q.Priority, -math.MaxInt32), math.MaxInt32)),
	}
}

func (f *Forward) user(name string) int32 {
	u, ok := f.users[name]
	if !ok {
		u = int32(len(f.users))
		f.users[name] = u
	}
	return u
}

func (f *Forward) partition(name string) int32 {
	for i := range f.cfg.Partitions {
		if f.cfg.Partitions[i].Name == name {
			return int32(i)
		}
	}
	return 0
}

func (f *Forward) qos(name string) int32 {
	for i := range f.cfg.QOS {
		if f.cfg.QOS[i].Name == name {
			return int32(i)
		}
	}
	return 0
}

// resumeAll puts the running jobs onto nodes. A snapshot does not tell which
// jobs share a node: those with more GPUs are placed first, each on the fullest
// node that has room. The pool then has the snapshot's nodes, or what the jobs
// need.
func (s *Sim) resumeAll(snap *segue.Snapshot) {
	p := &s.pools[0]
	order := make([]Ref, len(snap.Running))
	for i := range order {
		order[i] = Ref(i)
	}
	slices.SortStableFunc(order, func(a, b Ref) int { return cmp.Compare(s.job(b).gpus, s.job(a).gpus) })
	for _, ref := range order {
		s.resume(p, ref, int64(snap.Running[ref].Start))
	}
	s.calcAt = never // it was armed in the past
	busy := p.total - p.free
	p.total = max(int32(snap.Nodes), busy, 1)
	p.free = p.total - busy
	s.conf.Pools[0].Nodes = int(p.total)
	if p.keepsPlan {
		p.openPlan(s.now)
		for r := range p.running.all() {
			p.plan.take(s.now, r.est, r.nodes)
		}
	}
}

// resume puts a job that runs since start onto nodes. One that is over its
// limit is about to be ended.
func (s *Sim) resume(p *pool, ref Ref, start int64) {
	j, now := s.job(ref), s.now
	if start+j.limit < now {
		j.limit = now - start + time.Minute.Microseconds()
		j.run = j.limit
	}
	s.now = start
	if s.conf.caps {
		s.users.submit(j, 1)
	}
	s.start(p, ref, nil)
	s.now = now
}

// Future is what a Forward supposes beyond the snapshot.
type Future struct {
	// Runs holds how long each job runs, from its start, by the snapshot's
	// numbers; nil means to its limit. A running job whose time is already over
	// ends at once.
	Runs []time.Duration
	// Arrivals are later submissions, by time if ArrivalHorizon is given.
	Arrivals []Job
	// ArrivalHorizon is for how long after a request's own submission others arrive;
	// 0 means that all do.
	ArrivalHorizon time.Duration
	// Horizon bounds the wait.
	Horizon time.Duration
}

// Wait returns how long the request, submitted now, would wait, at most the
// horizon.
func (f *Forward) Wait(req segue.Request, future Future) (time.Duration, error) {
	var wait [1]time.Duration
	err := f.Waits(req, future, []time.Duration{0}, wait[:])
	return wait[0], err
}

// Waits returns in waits how long the request would wait if it were submitted
// after each of the delays, which must ascend.
func (f *Forward) Waits(req segue.Request, future Future, delays, waits []time.Duration) error {
	f.fork = f.base.Fork(f.fork)
	s := f.fork
	if future.Runs != nil {
		f.setRuns(future.Runs)
	}
	arrivals := future.Arrivals
	now := segue.Time(s.now)
	q := segue.QueuedJob{Request: req}
	fits := req.Nodes <= int(s.pools[0].total)
	for i, delay := range delays {
		waits[i] = future.Horizon
		if !fits {
			continue
		}
		at := now.Add(delay)
		for len(arrivals) > 0 && (future.ArrivalHorizon == 0 || arrivals[0].Submit < at.Add(future.ArrivalHorizon)) {
			if _, err := s.Submit(arrivals[0]); err != nil {
				return err
			}
			arrivals = arrivals[1:]
		}
		s.AdvanceTo(at)
		probe := s
		if i < len(delays)-1 {
			f.probe = s.Fork(f.probe)
			probe = f.probe
		}
		q.Submit = at
		ref, err := probe.Submit(f.convert(&q, int(s.pools[0].total)))
		if err != nil {
			return err
		}
		if start, ok := probe.RunUntilStarted(ref, at.Add(future.Horizon)); ok {
			waits[i] = start.Sub(at)
		}
	}
	return nil
}

// setRuns gives the fork's jobs other run times than their limits.
func (f *Forward) setRuns(runs []time.Duration) {
	s := f.fork
	f.runs = f.runs[:0]
	for _, d := range runs {
		f.runs = append(f.runs, d.Microseconds())
	}
	s.runs = f.runs
	for i := range s.ends {
		e := &s.ends[i]
		j := s.job(e.ref)
		e.end = max(e.est-j.limit+s.runOf(e.ref, j), s.now+1)
	}
	s.ends.init()
}

// User returns the index by which the simulation knows a user, for arrivals.
func (f *Forward) User(name string) int32 { return f.user(name) }
