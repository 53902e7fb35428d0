package simulator

// easyPass reserves the shadow time for the first job that does not fit, and
// starts every later one that fits now and either ends by its limit no later
// than the shadow time or uses nodes that the first will not need then.
func (s *Sim) easyPass(p *pool) {
	idle := p.free + s.freedNow(p)
	head, shadow, extra := s.reserveForHead(p)
	if idle <= 0 || !p.queue.has(head) {
		return
	}
	started := s.scratch.started[:0]
	for c := p.queue.next(head); idle > 0; c = p.queue.next(c) {
		c = p.queue.nextBackfill(c, idle, shadow-s.now, extra)
		if !p.queue.has(c) {
			break
		}
		w := p.queue.at(c)
		if s.conf.caps && s.users.capped(s.conf, s.job(w.ref)) {
			continue
		}
		s.start(p, w.ref, nil)
		started = append(started, c)
		idle -= w.nodes
		if s.now+w.limit > shadow {
			extra -= w.nodes
		}
	}
	p.queue.remove(started)
	s.scratch.started = started
}

// reserveForHead returns the first job that no cap holds and that could start
// some time, when that is, and the nodes that it will leave then.
func (s *Sim) reserveForHead(p *pool) (head cursor, shadow int64, extra int32) {
	for c := (cursor{}); p.queue.has(c); c = p.queue.next(c) {
		w := p.queue.at(c)
		if s.conf.caps && s.users.capped(s.conf, s.job(w.ref)) {
			continue
		}
		if shadow, extra = p.shadow(w.nodes, s.now); shadow != never {
			return c, shadow, extra
		}
	}
	return cursor{len(p.queue.blocks), 0}, never, 0
}

// shadow returns the first instant at which n nodes are free if every running
// job runs to its limit, and how many nodes are free then beyond n; never if
// too many nodes are out of service.
func (p *pool) shadow(n int32, now int64) (at int64, extra int32) {
	free := p.free - p.draining // the next nodes that come free leave service
	for i := 0; i < len(p.running); i++ {
		free += p.running[i].nodes
		if free < n || p.running[i].est <= now {
			continue
		}
		at = p.running[i].est
		for i++; i < len(p.running) && p.running[i].est == at; i++ {
			free += p.running[i].nodes
		}
		return at, free - n
	}
	return never, 0
}
