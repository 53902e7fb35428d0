package simulator

// touch notes that a pool has changed, so that it is looked at again.
func (s *Sim) touch(p *pool) {
	p.mainAt = s.now
	if s.conf.Backfill == SlurmBackfill {
		if s.conf.mainEvery > 0 {
			p.mainAt = ceilTo(s.now, s.conf.mainEvery)
		}
		p.backfillAt = min(p.backfillAt, ceilTo(s.now, s.conf.backfillEvery))
	}
	s.passAt = min(s.passAt, p.mainAt, p.backfillAt)
}

// passes makes the scheduling passes that are due.
func (s *Sim) passes() {
	if s.passAt > s.now {
		return
	}
	s.passAt = never
	s.inPass = true
	for i := range s.pools {
		p := &s.pools[i]
		if p.mainAt <= s.now {
			p.mainAt = never
			s.mainPass(p)
		}
		if p.backfillAt <= s.now {
			p.backfillAt = never
			s.slurmPass(p)
		}
		s.passAt = min(s.passAt, p.mainAt, p.backfillAt)
	}
	s.inPass = false
}

// mainPass starts jobs in order, and lets others overtake by the rule of the
// cluster where that rule works at every event.
func (s *Sim) mainPass(p *pool) {
	switch {
	case p.queue.len() == 0:
	case p.keepsPlan:
		s.startPlanned(p)
	case s.conf.Backfill == EASY && !p.sharing:
		s.inOrder(p, p.queue.len())
		s.easyPass(p)
	case s.conf.Backfill == EASY || s.conf.Backfill == Conservative:
		s.inOrder(p, p.queue.len())
		s.replanPass(p)
	case s.conf.Backfill == SlurmBackfill:
		if s.inOrder(p, s.conf.Slurm.QueueDepth) {
			p.backfillAt = min(p.backfillAt, ceilTo(s.now, s.conf.backfillEvery))
		}
	default:
		s.inOrder(p, p.queue.len())
	}
}

// inOrder starts jobs until the first that does not fit, of the first depth
// jobs. Jobs held by a cap are passed over. It reports whether it started any.
func (s *Sim) inOrder(p *pool, depth int) bool {
	started := s.scratch.started[:0]
	freed := s.freedNow(p)
	for c := (cursor{}); p.queue.has(c) && depth > 0; c = p.queue.next(c) {
		depth--
		ref := p.queue.at(c).ref
		j := s.job(ref)
		if s.conf.caps && s.users.capped(s.conf, j) {
			continue
		}
		if !p.fits(j, freed) && !s.preemptFor(p, j) {
			break
		}
		s.start(p, ref, nil)
		started = append(started, c)
	}
	p.queue.remove(started)
	s.scratch.started = started
	return len(started) > 0
}

// freedNow returns the nodes of running jobs whose estimated end is now and
// whose end has not been processed: PerEvent counts them as free.
func (s *Sim) freedNow(p *pool) int32 {
	if s.conf.Events != PerEvent {
		return 0
	}
	n := int32(0)
	for i := 0; i < len(p.running) && p.running[i].est <= s.now; i++ {
		n += p.running[i].nodes
	}
	return n
}
