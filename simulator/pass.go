package simulator

import "slices"

// touch notes that a pool has changed, so that it is looked at again.
func (s *Sim) touch(p *pool) {
	if s.conf.Backfill == SlurmBackfill {
		p.mainAt = s.now
		if s.conf.mainEvery > 0 {
			p.mainAt = ceilTo(s.now, s.conf.mainEvery)
		}
		p.backfillAt = min(p.backfillAt, ceilTo(s.now, s.conf.backfillEvery))
		s.passAt = min(s.passAt, p.mainAt, p.backfillAt)
		return
	}
	p.mainAt = s.now
	s.passAt = s.now
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
	if len(p.queue) == 0 {
		return
	}
	if s.conf.dynamic && s.calcAt == never {
		s.calcAt = s.now + s.conf.multifactor.CalcPeriod.Microseconds()
	}
	switch {
	case s.conf.conservativePlan:
		s.startPlanned(p)
	case s.conf.Backfill == EASY && !s.conf.sharing[p.index]:
		s.easyPass(p)
	case s.conf.Backfill == EASY || s.conf.Backfill == Conservative:
		s.replanPass(p)
	default:
		s.inOrder(p)
	}
}

// inOrder starts jobs until the first that does not fit. Jobs held by a cap
// are passed over.
func (s *Sim) inOrder(p *pool) {
	depth := len(p.queue)
	if s.conf.Backfill == SlurmBackfill {
		depth = min(depth, s.conf.Slurm.QueueDepth)
	}
	freed := s.freedNow(p)
	i, started := 0, 0
	for ; i < depth; i++ {
		w := &p.queue[i]
		j := s.job(w.ref)
		if s.conf.caps && s.users.capped(s.conf, j) {
			p.queue[i-started] = *w
			continue
		}
		if !p.fits(w, j, freed) && !s.preemptFor(p, w.ref, j) {
			break
		}
		s.start(p, w.ref)
		started++
	}
	p.queue = closeGap(p.queue, i, started)
}

// closeGap removes the started entries before index i, of which the others
// have been moved to the front already.
func closeGap(q []waiting, i, started int) []waiting {
	switch started {
	case 0:
		return q
	case i:
		return q[i:]
	}
	return slices.Delete(q, i-started, i)
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

// ceilTo returns the first multiple of grid that is not before t.
func ceilTo(t, grid int64) int64 {
	r := t % grid
	if r < 0 {
		r += grid
	}
	if r == 0 {
		return t
	}
	return t + grid - r
}
