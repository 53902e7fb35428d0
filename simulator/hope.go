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
	for !h.last.before(c) {
		if p.preempts || h.margin >= 0 || h.slots < h.again {
			return true
		}
		w := p.queue.at(h.last)
		h.until = s.now + w.limit
		h.margin = s.scratch.plan.margin(p, s.job(w.ref), h.until)
		if h.margin >= 0 {
			h.again = h.slots + h.slots/4
			return true
		}
		if h.last == (cursor{}) {
			return false
		}
		var some bool
		if h.last, some = p.queue.lastSmall(p.queue.previous(h.last), s.mostNodes(p)); !some {
			return false
		}
	}
	return false
}

// booked notes that a job has a slot that begins at the instant at.
func (h *hope) booked(at int64, j *job) {
	h.slots++
	if at < h.until {
		h.margin -= j.nodes
	}
}
