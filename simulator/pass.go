package simulator

// touch notes that a pool has changed, so that it is looked at again.
func (s *Sim) touch(p *pool) {
	s.touchMain(p)
	if s.conf.Backfill == SlurmBackfill {
		p.backfillAt = min(p.backfillAt, ceilTo(s.now, s.conf.backfillEvery))
	}
	s.passAt = min(s.passAt, p.mainAt, p.backfillAt)
}

// touchMain has the next main pass made as soon as Slurm's grid allows.
func (s *Sim) touchMain(p *pool) {
	p.mainAt = s.now
	if s.conf.Backfill == SlurmBackfill && s.conf.mainEvery > 0 {
		p.mainAt = ceilTo(s.now, s.conf.mainEvery)
	}
}

// touchOthers notes that a user's standing has changed, on which it depends what
// may start in other pools, and who holds others up there.
func (s *Sim) touchOthers(p *pool) {
	for i := range s.pools {
		if q := &s.pools[i]; q != p {
			s.touch(q)
		}
	}
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
		if min(p.mainAt, p.cycleAt) <= s.now {
			s.mainPass(p)
		}
		if p.backfillAt <= s.now {
			p.backfillAt = never
			s.slurmPass(p)
		}
		s.passAt = min(s.passAt, p.mainAt, p.cycleAt, p.backfillAt)
	}
	s.inPass = false
}

// mainPass starts jobs in order, and lets others overtake by the rule of the
// cluster where that rule works at every event.
func (s *Sim) mainPass(p *pool) {
	p.mainAt, p.cycleAt = never, never
	if p.queue.len() == 0 {
		return
	}
	if p.keepsPlan {
		s.startPlanned(p)
		return
	}
	depth := p.queue.len()
	if s.conf.Backfill == SlurmBackfill && ceilTo(s.now, s.conf.cycleEvery) > s.now {
		depth = s.conf.Slurm.QueueDepth
	}
	started, cut := s.inOrder(p, depth)
	switch s.conf.Backfill {
	case EASY:
		if p.sharing {
			s.replanPass(p)
		} else {
			s.easyPass(p)
		}
	case Conservative:
		s.replanPass(p)
	case SlurmBackfill:
		if started {
			p.backfillAt = min(p.backfillAt, ceilTo(s.now, s.conf.backfillEvery))
		}
		if cut {
			p.cycleAt = ceilTo(s.now, s.conf.cycleEvery)
		}
	}
}

// inOrder starts jobs until the first that does not fit, of the first depth
// jobs. It reports whether it started any, and whether the depth cut it short.
func (s *Sim) inOrder(p *pool, depth int) (some, cut bool) {
	started := s.scratch.started[:0]
	freed := s.freedNow(p)
	c := cursor{}
	for ; p.queue.has(c) && depth > 0; c = p.queue.next(c) {
		depth--
		ref := p.queue.at(c).ref
		j := s.job(ref)
		if s.passesOver(p, j) {
			continue
		}
		if !p.fits(j, freed) && !s.preemptFor(p, j) {
			depth = 1
			break
		}
		s.start(p, ref, nil)
		started = append(started, c)
	}
	cut = depth == 0 && p.queue.has(c)
	p.queue.remove(started)
	s.scratch.started = started
	return len(started) > 0, cut
}

// passesOver reports whether the job waits for something else than nodes and
// holds nobody up: a cap or, under EASY, nodes that are out of service.
func (s *Sim) passesOver(p *pool, j *job) bool {
	return (s.conf.caps && s.users.capped(s.conf, j)) ||
		(s.conf.Backfill == EASY && j.nodes > p.total-p.draining)
}

// freedNow returns the nodes of running jobs whose estimated end is now and
// whose end has not been processed: PerEvent counts them as free.
func (s *Sim) freedNow(p *pool) int32 {
	if s.conf.Events != PerEvent {
		return 0
	}
	n := int32(0)
	for r := range p.running.all() {
		if r.est > s.now {
			break
		}
		n += r.nodes
	}
	return n
}
