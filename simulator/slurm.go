package simulator

// slurmPass plans anew from nothing, as Slurm's sched/backfill does: each job
// tested, in order, gets the earliest slot; it starts if that is now, and
// otherwise holds a reservation, widened to the grid of bf_resolution. Slots
// beyond bf_window are not reserved. Reservations last for this pass only.
// (Slurm looks at nothing beyond the window; here the plan is as long as the
// limits of the running jobs.)
//
// A pass over an unchanged state starts nothing that the pass before did not,
// unless a bound or a cap kept that from testing everything, a slot has come
// into the window meanwhile, nodes wait to leave service, or ends are rounded from now on. So it is repeated only after a change or in these cases;
// a test compares this with a pass at every point of the grid.
func (s *Sim) slurmPass(p *pool) {
	if p.queue.len() == 0 {
		return
	}
	r := planRules{
		reservations: p.queue.len(), window: s.conf.window, res: s.conf.res, endGrid: s.conf.endGrid, outward: s.conf.Slurm.RoundOutward, tests: s.newTests(),
	}
	bounded := p.queue.len() > r.tests.left || r.tests.perUser > 0 || s.conf.caps
	s.planPass(p, &r)
	again := r.inWindow
	if r.started && (bounded || p.preempts || p.sharing || p.draining > 0) {
		again = s.now + 1
	}
	if r.outward && s.mostNodes(p) > 0 && s.nextEvent() != never {
		again = s.now + 1
	}
	if again != never && p.queue.len() > 0 {
		p.backfillAt = min(p.backfillAt, ceilTo(max(again, s.now+1), s.conf.backfillEvery))
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
func (s *Sim) testable(t *tests, j *job) bool {
	if s.conf.caps && s.users.capped(s.conf, j) {
		return false
	}
	if t.perUser > 0 {
		if int(s.scratch.userTests[j.user]) >= t.perUser {
			return false
		}
		s.scratch.userTests[j.user]++
	}
	t.left--
	return true
}
