package simulator

// planRules says how much a planning pass reserves.
type planRules struct {
	reservations int   // how many waiting jobs get one
	window       int64 // none begins later than this
	res          int64 // grid of ends
	tests        tests
}

// replanPass is EASY and Conservative where the short form does not do: nodes
// are shared, or caps, tiers and outages change what can be planned. It plans
// anew at every pass; Conservative's jobs keep their order, so that none is
// delayed by a later one.
func (s *Sim) replanPass(p *pool) {
	s.inOrder(p)
	rules := planRules{reservations: len(p.queue), window: never, res: 1, tests: tests{left: len(p.queue)}}
	if s.conf.Backfill == EASY {
		rules.reservations = 1
	}
	s.planPass(p, rules)
}

// slurmSharedPass is slurmPass where nodes are shared or jobs preempt.
func (s *Sim) slurmSharedPass(p *pool) {
	s.planPass(p, planRules{
		reservations: len(p.queue), window: s.conf.window, res: s.conf.res, tests: s.newTests(),
	})
}

// planPass gives each tested job, in order, its earliest slot: it starts if that
// is now, and holds a reservation otherwise.
func (s *Sim) planPass(p *pool, rules planRules) {
	if len(p.queue) == 0 {
		return
	}
	f := &s.scratch.plan
	f.build(s, p, rules.res)
	s.scratch.reserved = s.scratch.reserved[:0]
	kept, started, i := 0, 0, 0
	recheck := never
	for ; i < len(p.queue) && rules.tests.left > 0; i++ {
		w := p.queue[i]
		if s.testable(&rules.tests, &w) {
			at := s.planOne(p, &w, &rules)
			if at == s.now {
				started++
				continue
			}
			if at != never && rules.reservations > 0 {
				recheck = min(recheck, at-rules.window)
			}
		}
		p.queue[kept] = w
		kept++
	}
	if started > 0 {
		p.queue = append(p.queue[:kept], p.queue[i:]...)
		recheck = s.now + 1
	}
	if s.conf.Backfill == SlurmBackfill && recheck != never && len(p.queue) > 0 {
		p.backfillAt = min(p.backfillAt, ceilTo(max(recheck, s.now+1), s.conf.backfillEvery))
	}
}

// planOne starts the job and returns now, or books its reservation and returns
// its start; never when it is to be looked at again only after a change.
func (s *Sim) planOne(p *pool, w *waiting, rules *planRules) int64 {
	f := &s.scratch.plan
	j := s.job(w.ref)
	at, chosen := f.earliest(p, j, w.limit)
	if at > s.now && s.preemptFor(p, w.ref, j) {
		f.build(s, p, rules.res)
		for _, r := range s.scratch.reserved {
			s.reserve(p, r, rules.res)
		}
		at, chosen = s.now, nil
	}
	switch {
	case at == s.now:
		physical := s.startOn(p, w.ref, chosen)
		f.book(p, j, at, ceilTo(at+w.limit, rules.res), chosen, physical)
		return at
	case at == never || rules.reservations == 0:
		return never
	case at-s.now > rules.window:
		return at
	}
	f.book(p, j, at, ceilTo(at+w.limit, rules.res), chosen, nil)
	s.scratch.reserved = append(s.scratch.reserved, w.ref)
	rules.reservations--
	return never
}

// reserve books the earliest slot of a job that had one in an earlier plan of
// this pass.
func (s *Sim) reserve(p *pool, ref Ref, res int64) {
	f, j := &s.scratch.plan, s.job(ref)
	if at, chosen := f.earliest(p, j, j.limit); at != never {
		f.book(p, j, at, ceilTo(at+j.limit, res), chosen, nil)
	}
}

// earliest returns the first slot of a job on whole or shared nodes.
func (f *sharedPlan) earliest(p *pool, j *job, length int64) (int64, []int32) {
	if p.shares(j) {
		return f.earliestShared(j, length)
	}
	at, _ := f.whole.earliest(j.nodes, length)
	return at, nil
}

func (f *sharedPlan) book(p *pool, j *job, at, end int64, chosen, physical []int32) {
	if p.shares(j) {
		f.takeShared(p, j, at, end, chosen, physical)
		return
	}
	f.whole.take(f.whole.split(at), end, j.nodes)
}

// startOn starts a job on the nodes that the plan chose and returns their slots
// in the pool.
func (s *Sim) startOn(p *pool, ref Ref, chosen []int32) []int32 {
	slots := s.scratch.slots[:0]
	for _, i := range chosen {
		if i == newNode {
			slots = append(slots, newNode)
		} else {
			slots = append(slots, s.scratch.plan.slots[i].physical)
		}
	}
	s.scratch.slots = slots
	s.start(p, ref)
	return slots
}
