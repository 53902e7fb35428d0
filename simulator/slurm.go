package simulator

// slurmPass plans anew from nothing, as Slurm's sched/backfill does: each job
// tested, in order, gets the earliest slot; it starts if that is now, and
// otherwise holds a reservation, widened to the grid of bf_resolution. Slots
// beyond bf_window are not reserved. Reservations last for this pass only.
//
// A pass over an unchanged state can start nothing that the pass before did
// not, unless a slot has come into the window meanwhile; so it is repeated only
// after a change or when that happens. (Slurm looks at nothing beyond the
// window; here the plan is as long as the limits of the running jobs.)
func (s *Sim) slurmPass(p *pool) {
	if s.conf.sharing[p.index] || s.conf.preempts {
		s.slurmSharedPass(p)
		return
	}
	last := lastThatFits(p)
	if last < 0 {
		return
	}
	prof := &s.scratch.profile
	s.quantised(p, prof)
	recheck := never
	tests := s.newTests()
	kept, i, started := 0, 0, 0
	for ; i <= last && p.free > 0 && tests.left > 0; i++ {
		w := &p.queue[i]
		if !s.testable(&tests, w) {
			p.queue[kept] = *w
			kept++
			continue
		}
		at, step := prof.earliest(w.nodes, w.limit)
		switch {
		case at == s.now:
			s.start(p, w.ref)
			started++
			prof.take(step, ceilTo(s.now+w.limit, s.conf.res), w.nodes)
			continue
		case at-s.now <= s.conf.window:
			prof.take(step, ceilTo(at+w.limit, s.conf.res), w.nodes)
		case at != never:
			recheck = min(recheck, at-s.conf.window)
		}
		p.queue[kept] = *w
		kept++
	}
	if started > 0 {
		p.queue = append(p.queue[:kept], p.queue[i:]...)
		recheck = s.now + 1
	}
	if recheck != never && len(p.queue) > 0 {
		p.backfillAt = min(p.backfillAt, ceilTo(max(recheck, s.now+1), s.conf.backfillEvery))
	}
}

// lastThatFits returns the last position in the queue of a job with at most the
// idle nodes: no job after it can start in this pass. -1 if there is none.
func lastThatFits(p *pool) int {
	i := len(p.queue) - 1
	for i >= 0 && (p.queue[i].nodes > p.free || p.free == 0) {
		i--
	}
	return i
}

// quantised fills prof with the free nodes from now on, each running job
// holding its nodes to the end of its limit, on the grid.
func (s *Sim) quantised(p *pool, prof *profile) {
	prof.reset(s.now, p.free)
	for i := range p.running {
		r := &p.running[i]
		prof.release(max(ceilTo(r.est, s.conf.res), s.now+1), r.nodes)
	}
}

// tests counts what bf_max_job_test and bf_max_job_user bound.
type tests struct {
	left    int
	perUser int
}

func (s *Sim) newTests() tests {
	t := tests{left: s.conf.Slurm.MaxJobTest, perUser: s.conf.Slurm.MaxJobUser}
	if t.perUser > 0 {
		s.scratch.userTests = append(s.scratch.userTests[:0], make([]int32, s.users.n)...)
	}
	return t
}

// testable counts the job as tested, unless a cap or bound forbids its test.
func (s *Sim) testable(t *tests, w *waiting) bool {
	if s.conf.caps || t.perUser > 0 {
		j := s.job(w.ref)
		if s.conf.caps && s.users.capped(s.conf, j) {
			return false
		}
		if t.perUser > 0 {
			if int(s.scratch.userTests[j.user]) >= t.perUser {
				return false
			}
			s.scratch.userTests[j.user]++
		}
	}
	t.left--
	return true
}
