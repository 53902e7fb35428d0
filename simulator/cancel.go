package simulator

import "slices"

// Cancel ends a job now, as scancel does: it is taken from the queue, or off its
// nodes, and counts as failed. false if the job has ended before, or is a job of
// New that has not been submitted yet.
func (s *Sim) Cancel(ref Ref) bool {
	if i := slices.IndexFunc(s.inject, func(a arrival) bool { return a.ref == ref }); i >= 0 {
		s.inject = slices.Delete(s.inject, i, i+1)
		s.giveUp(ref, s.job(ref))
		return true
	}
	p := s.poolOf(s.job(ref))
	r, runs := p.runningJob(ref)
	if !runs {
		return s.cancelWaiting(ref)
	}
	s.ends.remove(ref)
	p.running.remove(r.est, ref)
	s.drain(p, s.release(p, &r))
	if p.keepsPlan {
		s.giveBack(p, s.now, r.est, r.nodes)
	}
	s.ended(ref, s.startOf(&r), false)
	return true
}

// cancelWaiting removes a submitted job that has not started; false if there is
// no such job.
func (s *Sim) cancelWaiting(ref Ref) bool {
	j := s.job(ref)
	p := s.poolOf(j)
	if c, ok := p.queue.find(ref); ok {
		w := *p.queue.at(c)
		p.queue.remove([]cursor{c})
		if p.keepsPlan {
			s.giveBack(p, w.planned, w.planned+w.limit, w.nodes)
		}
		s.touch(p)
		s.drop(ref, j)
		return true
	}
	if i := slices.IndexFunc(s.held, func(h heldJob) bool { return h.ref == ref }); i >= 0 {
		s.held = slices.Delete(s.held, i, i+1)
		s.drop(ref, j)
		return true
	}
	if i := slices.IndexFunc(s.releases, func(a arrival) bool { return a.ref == ref }); i >= 0 {
		s.releases = slices.Delete(s.releases, i, i+1)
		s.drop(ref, j)
		return true
	}
	if i := slices.Index(s.deferred, ref); i >= 0 {
		s.deferred = slices.Delete(s.deferred, i, i+1)
		s.users.total[j.user].deferred--
		s.giveUp(ref, j)
		return true
	}
	return false
}
