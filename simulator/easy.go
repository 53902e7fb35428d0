package simulator

// easyPass reserves the shadow time for the first job that does not fit, and
// starts every later one that fits now and either ends by its limit no later
// than the shadow time or uses nodes that the first will not need then.
func (s *Sim) easyPass(p *pool) {
	idle := p.free + s.freedNow(p)
	if idle <= 0 {
		return
	}
	head, shadow, extra := s.reserveForHead(p)
	if !p.queue.has(head) {
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
	s.leaveQueue(p, started)
}

// reserveForHead returns the first job that waits for nodes, when it can have
// them, and the nodes that it will leave then.
func (s *Sim) reserveForHead(p *pool) (head cursor, shadow int64, extra int32) {
	for p.queue.has(head) && s.passesOver(p, s.job(p.queue.at(head).ref)) {
		head = p.queue.next(head)
	}
	if p.queue.has(head) {
		shadow, extra = p.shadow(p.queue.at(head).nodes, s.now)
	}
	return head, shadow, extra
}

// shadow returns the first instant at which n nodes, of those in service, are
// free if every running job runs to its limit, and how many nodes are free then
// beyond n.
func (p *pool) shadow(n int32, now int64) (at int64, extra int32) {
	free := p.free - p.draining // the next nodes that come free leave service
	at = never
	for r := range p.running.all() {
		if r.est > at {
			break
		}
		if free += r.nodes; free >= n && r.est > now {
			at = r.est // where others may end too
		}
	}
	if at == never {
		return never, 0
	}
	return at, free - n
}
