package simulator

// planRules says how much a planning pass reserves, and what came of it.
type planRules struct {
	reservations int   // how many waiting jobs get one
	window       int64 // none begins later than this
	res          int64 // grid of the ends of reservations
	endGrid      int64 // of those of running jobs
	outward      bool  // reservations begin on the grid too
	tests        tests

	started  bool
	inWindow int64 // when the next slot beyond the window comes into it
}

// replanPass is EASY and Conservative where the short form does not do: nodes
// are shared, or caps, tiers and outages change what can be planned. It plans
// anew at every pass; Conservative's jobs keep their order, so that none is
// delayed by a later one.
func (s *Sim) replanPass(p *pool) {
	r := planRules{reservations: p.queue.len(), window: never, res: 1, endGrid: 1, tests: tests{left: p.queue.len()}}
	if s.conf.Backfill == EASY {
		r.reservations = 1
	}
	s.planPass(p, &r)
}

// planPass gives each tested job, in order, its earliest slot: it starts if that
// is now, and holds a reservation otherwise. It stops when no later job could
// start now any more, whatever the slots of those before it.
func (s *Sim) planPass(p *pool, r *planRules) {
	r.inWindow = never
	if p.queue.len() == 0 || !s.hopeful(p, r) {
		return
	}
	f := &s.scratch.plan
	f.build(s, p, r.endGrid, nil)
	s.scratch.reserved = s.scratch.reserved[:0]
	started := s.scratch.started[:0]
	for c := (cursor{}); r.tests.left > 0 && s.stillHopeful(p, c); c = p.queue.next(c) {
		w := p.queue.at(c)
		j := s.job(w.ref)
		if !s.testable(&r.tests, j) {
			continue
		}
		switch at := s.planOne(p, w, j, r); {
		case at == s.now:
			started = append(started, c)
		case at != never:
			r.inWindow = min(r.inWindow, at-r.window)
		}
	}
	r.started = len(started) > 0
	s.leaveQueue(p, started)
}

// leaveQueue takes jobs that overtook others out of the queue. The pool is looked
// at again where that may let more start: one of those overtaken may be held by
// a cap now, and hold nobody up any more; the best choice of shared nodes
// may be another; and of nodes that leave service when they come free others may
// be the next.
func (s *Sim) leaveQueue(p *pool, started []cursor) {
	p.queue.remove(started)
	s.scratch.started = started
	if len(started) > 0 && (s.conf.caps || p.sharing || p.draining > 0) {
		s.touchMain(p)
	}
}

// planOne starts the job and returns now, or books its reservation and returns
// never; a slot beyond the window is returned and not booked.
func (s *Sim) planOne(p *pool, w *waiting, j *job, r *planRules) int64 {
	f := &s.scratch.plan
	at, chosen := f.earliest(p, j, r.length(s.now, w.limit))
	if at > s.now && s.conf.mayPreempt[j.part] {
		at, chosen = s.planPreempting(p, j, r)
	}
	switch {
	case at == s.now:
		slots := f.physical(chosen)
		s.start(p, w.ref, slots)
		f.book(p, j, at, ceilTo(at+w.limit, r.endGrid), chosen, slots)
		s.scratch.hope.booked(at, j)
		return at
	case at == never || r.reservations == 0:
		return never
	case at-s.now > r.window:
		return at
	}
	f.book(p, j, at, ceilTo(at+w.limit, r.res), chosen, nil)
	s.scratch.hope.booked(at, j)
	s.scratch.reserved = append(s.scratch.reserved, w.ref)
	r.reservations--
	return never
}

// length returns how long a job needs its nodes, from now or later. That a job ends
// before the point of the grid at which a reservation begins is the same as that,
// rounded up, it ends before the reservation's own beginning.
func (r *planRules) length(now, limit int64) int64 {
	if !r.outward {
		return limit
	}
	return ceilTo(now+limit, r.res) - now
}

// planPreempting stops jobs of lower tiers if the job can start then without
// delaying the reservations before it, and returns its earliest slot.
func (s *Sim) planPreempting(p *pool, j *job, r *planRules) (int64, []int32) {
	f := &s.scratch.plan
	if victims, enough := s.victims(p, j); enough {
		s.replan(p, r, victims)
		if at, chosen := f.earliest(p, j, r.length(s.now, j.limit)); at == s.now {
			s.preempt(p, victims)
			return at, chosen
		}
		s.replan(p, r, nil)
	}
	return f.earliest(p, j, r.length(s.now, j.limit))
}

// replan makes the plan of this pass anew, as if some jobs did not run.
func (s *Sim) replan(p *pool, r *planRules, without []running) {
	f := &s.scratch.plan
	f.build(s, p, r.endGrid, without)
	for _, ref := range s.scratch.reserved {
		j := s.job(ref)
		if at, chosen := f.earliest(p, j, r.length(s.now, j.limit)); at != never {
			f.book(p, j, at, ceilTo(at+j.limit, r.res), chosen, nil)
		}
	}
}
