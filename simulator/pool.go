package simulator

import (
	"slices"

	"github.com/segue-project/segue"
)

// pool is the state of a Pool.
type pool struct {
	index    int32
	total    int32 // nodes in service
	free     int32 // of these, wholly idle
	draining int32 // busy nodes that leave service when they come free
	gpus     int32 // per node
	queue    []waiting
	running  []running // by estimated end, then ref
	plan     profile   // Conservative's, kept between passes
	shared   sharedNodes

	mainAt, backfillAt int64 // when the next passes are due; never if nothing changed
}

// running is a running job.
type running struct {
	est, start int64 // est is the end by its limit
	nodes      int32 // whole nodes; 0 for a job on shared nodes
	ref        Ref
	places     int32 // first of its places on shared nodes, or noPlace
}

func (p *pool) copyInto(d *pool) {
	queue, run, plan, shared := d.queue, d.running, d.plan, d.shared
	*d = *p
	d.queue = append(queue[:0], p.queue...)
	d.running = append(run[:0], p.running...)
	p.plan.copyInto(&plan)
	p.shared.copyInto(&shared)
	d.plan, d.shared = plan, shared
}

// runningBefore orders by estimated end, then job.
func runningBefore(est int64, ref Ref, r *running) bool {
	return est < r.est || (est == r.est && ref < r.ref)
}

// find returns the position of a running job in p.running.
func (p *pool) find(est int64, ref Ref) int {
	lo, hi := 0, len(p.running)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if runningBefore(est, ref, &p.running[mid]) || p.running[mid].ref == ref {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

func (p *pool) addRunning(r running) {
	i := len(p.running)
	p.running = append(p.running, r)
	for i > 0 && runningBefore(r.est, r.ref, &p.running[i-1]) {
		p.running[i] = p.running[i-1]
		i--
	}
	p.running[i] = r
}

// fits reports whether the job could start now on idle nodes. freed counts
// nodes that count as free although their job has not ended (PerEvent).
func (p *pool) fits(w *waiting, j *job, freed int32) bool {
	if p.shares(j) {
		return p.shared.fits(p, j)
	}
	return w.nodes <= p.free+freed
}

// shares reports whether the job takes less than whole nodes.
func (p *pool) shares(j *job) bool { return j.gpus > 0 && j.gpus < p.gpus }

// start takes the job's nodes and lets it run. The caller takes it out of the
// queue.
func (s *Sim) start(p *pool, ref Ref) {
	j := s.job(ref)
	r := running{est: s.now + j.limit, start: s.now, nodes: j.nodes, ref: ref, places: noPlace}
	if p.shares(j) {
		slots := s.scratch.slots
		if len(slots) == 0 {
			slots = p.shared.choose(j, slots)
		}
		r.nodes, r.places = 0, p.shared.place(p, j, slots)
		s.scratch.slots = slots[:0]
	} else {
		p.free -= j.nodes
	}
	p.addRunning(r)
	s.ends.push(ending{end: s.now + s.runOf(ref, j), est: r.est, ref: ref, pool: p.index})
	if s.conf.caps {
		s.users.started(j)
	}
	if j.flags&hasDependents != 0 {
		s.startedFor(ref)
	}
	if s.observer != nil {
		s.observer.Started(ref, segue.Time(s.now))
	}
	if i := int(ref) - len(s.table.jobs); i >= 0 {
		s.extra[i].start = s.now
		s.watched = s.watched || ref == s.watch
	} else if s.keepsRecord {
		s.starts[ref] = s.now
	}
}

// finish ends a running job whose end has been taken from s.ends.
func (s *Sim) finish(e ending) {
	p := &s.pools[e.pool]
	i := p.find(e.est, e.ref)
	r := p.running[i]
	s.release(p, i)
	if s.conf.conservativePlan && s.now < r.est {
		s.giveBack(p, r)
	}
	j := s.job(e.ref)
	if i := int(e.ref) - len(s.table.jobs); i >= 0 {
		s.extra[i].end = s.now
	} else if s.keepsRecord {
		s.finishes[e.ref] = s.now
	}
	if s.observer != nil {
		s.observer.Ended(e.ref, segue.Time(r.start), segue.Time(s.now))
	}
	s.leave(e.ref, j)
	if j.flags&(hasDependents|hasSingleton) != 0 {
		s.endedFor(e.ref, j)
	}
}

// release returns the nodes of the running job at index i and forgets it.
func (s *Sim) release(p *pool, i int) {
	r := p.running[i]
	p.running = slices.Delete(p.running, i, i+1)
	j := s.job(r.ref)
	if r.places != noPlace {
		p.shared.release(p, r.places, j.gpus)
	} else {
		p.free += r.nodes
	}
	if p.draining > 0 {
		n := min(p.draining, p.free)
		p.free -= n
		p.total -= n
		p.draining -= n
	}
	if s.conf.caps {
		s.users.stopped(j)
	}
	s.charge(j, r.start)
	s.touch(p)
}
