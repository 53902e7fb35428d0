package simulator

// hope is the last job of a queue that could still start in a planning pass,
// beside the running jobs and the slots given so far. Later slots only make it
// harder, so that a pass which is past it has nothing left to do.
type hope struct {
	last   cursor
	until  int64 // end of its limit, if it starts now
	margin int32 // at least so many nodes are idle until then beside its own
	slots  int   // given in this pass
	again  int   // at so many it is looked at again
}

// hopeful finds the last job that the pass may come to and that is small enough
// for what is idle; false if there is none.
func (s *Sim) hopeful(p *pool, r *planRules) (some bool) {
	h := &s.scratch.hope
	*h = hope{last: p.queue.nth(p.queue.len()), margin: -1}
	if p.preempts {
		return true
	}
	if !s.conf.caps && r.tests.perUser == 0 {
		h.last = p.queue.nth(r.tests.left - 1)
	}
	h.last, some = p.queue.lastSmall(h.last, s.mostNodes(p))
	return some
}

// mostNodes bounds the nodes that a job can have now.
func (s *Sim) mostNodes(p *pool) int32 { return p.free + s.freedNow(p) + int32(len(p.shared.slots)) }

// stillHopeful moves the hope forward to a job that could still start now; false
// if there is none from c on. The longer a pass has gone on, the more rarely it
// looks: at worst the pass tests a few jobs in vain.
func (s *Sim) stillHopeful(p *pool, c cursor) bool {
	h := &s.scratch.hope
	switch {
	case h.last.before(c):
		return false
	case p.preempts || h.margin >= 0 || h.slots < h.again:
		return true
	}
	var some bool
	if h.last, h.margin, some = s.lastFitting(p, c, h.last); some {
		h.until = s.now + p.queue.at(h.last).limit
		h.again = h.slots + h.slots/4
	}
	return some
}

// lastFitting returns the last place from first to c of a job that could start
// now, with its margin; false if there is none.
func (s *Sim) lastFitting(p *pool, first, c cursor) (cursor, int32, bool) {
	f := &s.scratch.plan
	if !p.sharing {
		return p.queue.lastFitting(first, c, s.now, f.idle())
	}
	for {
		var some bool
		if c, some = p.queue.lastSmall(c, s.mostNodes(p)); !some || c.before(first) {
			return c, 0, false
		}
		w := p.queue.at(c)
		if margin := f.margin(p, s.job(w.ref), s.now+w.limit); margin >= 0 {
			return c, margin, true
		}
		if c == (cursor{}) {
			return c, 0, false
		}
		c = p.queue.previous(c)
	}
}

// booked notes that a job has a slot that begins at the instant at.
func (h *hope) booked(at int64, j *job) {
	h.slots++
	if at < h.until {
		h.margin -= j.nodes
	}
}
