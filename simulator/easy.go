package simulator

// easyPass starts jobs in order until the head does not fit, reserves the
// shadow time for the head, and starts every later job that fits now and either
// ends by its limit no later than the shadow time or uses nodes that the head
// will not need then.
func (s *Sim) easyPass(p *pool) {
	s.inOrder(p)
	free := p.free + s.freedNow(p)
	head := s.firstUncapped(p)
	if head < 0 || free <= 0 {
		return
	}
	shadow, extra := p.shadow(p.queue[head].nodes, s.now)
	kept := head + 1
	for i := head + 1; i < len(p.queue); i++ {
		w := &p.queue[i]
		if w.nodes <= free {
			late := s.now+w.limit > shadow
			if (!late || w.nodes <= extra) && !(s.conf.caps && s.users.capped(s.conf, s.job(w.ref))) {
				s.start(p, w.ref)
				free -= w.nodes
				if late {
					extra -= w.nodes
				}
				continue
			}
		}
		if kept != i {
			p.queue[kept] = *w
		}
		kept++
	}
	p.queue = p.queue[:kept]
}

func (s *Sim) firstUncapped(p *pool) int {
	for i := range p.queue {
		if !s.conf.caps || !s.users.capped(s.conf, s.job(p.queue[i].ref)) {
			return i
		}
	}
	return -1
}

// shadow returns the first instant at which n nodes are free if every running
// job runs to its limit, and how many nodes are free then beyond n. With no
// such instant (nodes out of service) it is never, and nothing is extra.
func (p *pool) shadow(n int32, now int64) (at int64, extra int32) {
	free := p.free
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
