package simulator

import (
	"github.com/segue-project/segue"
)

// pool is the state of a Pool.
type pool struct {
	index     int32
	total     int32 // nodes in service
	free      int32 // of these, wholly idle; PerEvent lets it fall below 0
	draining  int32 // busy nodes that leave service when they come free
	gpus      int32 // per node
	sharing   bool  // some job takes part of a node
	preempts  bool  // some of its jobs may preempt others
	keepsPlan bool  // Conservative's reservations are kept between passes
	queue     queue
	running   runningJobs
	plan      profile // when keepsPlan
	plannedAt int64   // the earliest of the jobs' reservations, or before; when keepsPlan
	future    profile // what the running jobs give back, on the grid of Slurm's plans
	shared    sharedNodes

	// When the next passes are due; never if nothing changed. The pass at cycleAt
	// goes through the whole queue.
	mainAt, cycleAt, backfillAt int64
}

func (c *conf) newPool(i int, sharing bool) pool {
	n := int32(c.Pools[i].Nodes)
	p := pool{
		index: int32(i), total: n, free: n, gpus: int32(c.Pools[i].GPUsPerNode), sharing: sharing,
		preempts: c.preemptsIn(i), keepsPlan: c.keepsPlan && !sharing, plannedAt: never, mainAt: never, cycleAt: never, backfillAt: never,
	}
	p.future.reset(noTime, 0)
	return p
}

// share prepares the pool for jobs that take part of a node.
func (p *pool) share() { p.sharing, p.keepsPlan = true, false }

func (p *pool) copyInto(d *pool) {
	queue, run, plan, future, shared := d.queue, d.running, d.plan, d.future, d.shared
	*d = *p
	p.queue.copyInto(&queue)
	p.plan.copyInto(&plan)
	p.future.copyInto(&future)
	p.shared.copyInto(&shared)
	d.queue, d.plan, d.future, d.shared = queue, plan, future, shared
	p.running.copyInto(&run)
	d.running = run
}

// runningJob returns a running job; false if it does not run here.
func (p *pool) runningJob(ref Ref) (running, bool) {
	for r := range p.running.all() {
		if r.ref == ref {
			return *r, true
		}
	}
	return running{}, false
}

// fits reports whether the job could start now on idle nodes. freed counts
// nodes that count as idle although their job has not ended (PerEvent).
func (p *pool) fits(j *job, freed int32) bool {
	if j.shares(p.gpus) {
		return p.shared.fits(p, j)
	}
	return j.nodes <= p.free+freed
}

// start takes the job's nodes and lets it run. The caller takes it out of the
// queue. slots names the shared nodes of a job that takes part of nodes; nil
// lets the pool choose.
func (s *Sim) start(p *pool, ref Ref, slots []int32) {
	j := s.job(ref)
	r := running{est: after(s.now, j.limit), nodes: j.nodes, ref: ref, places: noPlace}
	if j.shares(p.gpus) {
		if slots == nil {
			s.scratch.slots = p.shared.choose(j, s.scratch.slots[:0])
			slots = s.scratch.slots
		}
		r.nodes, r.places = 0, p.shared.place(p, j, slots)
	} else {
		p.free -= j.nodes
	}
	p.running.insert(r)
	s.foresee(p, r.est, r.nodes)
	s.ends.push(ending{end: after(s.now, s.runOf(ref, j)), est: r.est, ref: ref, pool: p.index})
	if s.conf.caps {
		s.users.started(j)
		s.touchOthers(p)
	}
	if o := s.outcomeOf(ref); o != nil {
		o.start = s.now
	}
	if s.conf.dynamic && s.calcAt == never {
		s.scheduleCalc()
	}
	s.tell(ref, j, hasStarted)
	if s.observer != nil {
		s.observer.Started(ref, segue.Time(s.now))
	}
}

// finish ends a running job whose end has been taken from s.ends.
func (s *Sim) finish(e ending) {
	p := &s.pools[e.pool]
	r := p.running.remove(e.est, e.ref)
	s.drain(p, s.release(p, &r))
	if p.keepsPlan && s.now < r.est {
		s.giveBack(p, s.now, r.est, r.nodes)
	}
	s.ended(e.ref, s.startOf(&r), s.job(e.ref).flags&fails == 0)
}

// ended notes that a job which started at start has ended for good.
func (s *Sim) ended(ref Ref, start int64, good bool) {
	j := s.job(ref)
	if o := s.outcomeOf(ref); o != nil {
		o.end = s.now
	}
	if s.observer != nil {
		s.observer.Ended(ref, segue.Time(start), segue.Time(s.now))
	}
	s.remember(departure{ref: ref, good: good, began: start}, j)
	if good {
		s.tell(ref, j, hasEnded)
	} else {
		s.tell(ref, j, hasFailed)
	}
	s.leave(j)
}

// foresee notes in p.future that nodes come free at an instant, as far as the
// scheduler knows.
func (s *Sim) foresee(p *pool, at int64, nodes int32) {
	if s.conf.Backfill == SlurmBackfill && nodes != 0 {
		p.future.change(ceilTo(at, s.conf.endGrid), nodes)
	}
}

func (s *Sim) startOf(r *running) int64 { return r.est - s.job(r.ref).limit }

// vacate frees the nodes of a job, and returns how many are wholly free now.
func (p *pool) vacate(nodes, places, gpus int32) (freed int32) {
	freed = nodes
	if places != noPlace {
		freed = p.shared.release(places, gpus)
	}
	p.free += freed
	return freed
}

// release gives back the nodes of a job that has been taken out of p.running, and
// returns how many have come wholly free.
func (s *Sim) release(p *pool, r *running) int32 {
	s.foresee(p, r.est, -r.nodes)
	j := s.job(r.ref)
	freed := int32(0)
	if s.conf.cleanUp > 0 {
		s.clean(p, r, j.gpus)
	} else {
		freed = p.vacate(r.nodes, r.places, j.gpus)
	}
	s.charge(j, s.startOf(r))
	s.touch(p)
	if s.conf.caps {
		s.users.stopped(j)
		s.touchOthers(p)
	}
	return freed
}
