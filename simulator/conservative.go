package simulator

// Conservative keeps its plan between passes where nothing but submissions and
// ends changes it: conf.keepsPlan, pool.keepsPlan.

// planEarliest gives the job its reservation: the earliest start that delays no
// reservation made before.
func (p *pool) planEarliest(now int64, w *waiting) int64 {
	p.openPlan(now)
	at, _ := p.plan.earliest(position{}, w.nodes, w.limit)
	p.plan.take(at, at+w.limit, w.nodes)
	p.plannedAt = min(p.plannedAt, at)
	return at
}

// openPlan makes the plan start now; the first time it is an empty machine.
func (p *pool) openPlan(now int64) {
	if len(p.plan.parts) == 0 {
		p.plan.reset(now, p.total)
		return
	}
	p.plan.forget(now)
}

// startPlanned starts every job whose reservation begins now, and has the next
// pass made when the next reservation begins.
func (s *Sim) startPlanned(p *pool) {
	if p.plannedAt > s.now {
		p.mainAt = p.plannedAt
		return
	}
	p.plannedAt = never
	started := s.scratch.started[:0]
	for c := (cursor{}); p.queue.has(c); c = p.queue.next(c) {
		if w := p.queue.at(c); w.planned > s.now {
			p.plannedAt = min(p.plannedAt, w.planned)
		} else {
			s.start(p, w.ref, nil)
			started = append(started, c)
		}
	}
	p.queue.remove(started)
	s.scratch.started = started
	p.mainAt = p.plannedAt
}

// giveBack returns n nodes from start to end to the plan, takes every job that
// is not about to start out of it and places it again, in order.
func (s *Sim) giveBack(p *pool, start, end int64, n int32) {
	p.openPlan(s.now)
	p.plan.take(max(start, s.now), end, -n)
	for w := range p.queue.all() {
		if w.planned <= s.now {
			continue
		}
		p.plan.take(w.planned, w.planned+w.limit, -w.nodes)
		w.planned = p.planEarliest(s.now, w)
	}
}
