package simulator

// placeNew gives the job at queue position i its reservation: the earliest
// start that delays no reservation made before.
func (s *Sim) placeNew(p *pool, i int) {
	s.openPlan(p)
	w := &p.queue[i]
	at, step := p.plan.earliest(w.nodes, w.limit)
	w.planned = at
	p.plan.take(step, at+w.limit, w.nodes)
	p.plan.merge(step)
}

// openPlan makes the plan start now; the first time it is an empty machine.
func (s *Sim) openPlan(p *pool) {
	if len(p.plan.at) == 0 {
		p.plan.reset(s.now, p.total)
		return
	}
	p.plan.drop(s.now)
}

// startPlanned starts every job whose reservation begins now.
func (s *Sim) startPlanned(p *pool) {
	kept := 0
	for i := range p.queue {
		w := &p.queue[i]
		if w.planned <= s.now {
			s.start(p, w.ref)
			continue
		}
		if kept != i {
			p.queue[kept] = *w
		}
		kept++
	}
	p.queue = p.queue[:kept]
}

// giveBack returns the rest of a job that ended early to the plan, and takes
// every job that has not started out and places it again, in order.
func (s *Sim) giveBack(p *pool, ended running) {
	s.openPlan(p)
	p.change(s.now, ended.est, -ended.nodes)
	for i := range p.queue {
		w := &p.queue[i]
		if w.planned <= s.now {
			continue
		}
		p.change(w.planned, w.planned+w.limit, -w.nodes)
		at, step := p.plan.earliest(w.nodes, w.limit)
		w.planned = at
		p.plan.take(step, at+w.limit, w.nodes)
		p.plan.merge(step)
	}
}

// change takes n nodes of the plan from start to end; negative n gives back.
func (p *pool) change(start, end int64, n int32) {
	step := p.plan.split(start)
	p.plan.take(step, end, n)
	if k := p.plan.split(end); k > 0 {
		p.plan.merge(k)
	}
	p.plan.merge(step)
}
