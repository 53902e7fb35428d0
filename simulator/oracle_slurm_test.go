package simulator_test

// scheduleSlurm is schedule for Slurm's two passes: the main one after a
// change, and over the whole queue on its cycle; backfill at its interval.
func (o *oracle) scheduleSlurm() (again bool) {
	depth := 0
	if o.changed {
		depth = o.slurm.depth
	}
	if o.now%o.slurm.cycle == 0 {
		depth = len(o.queue)
	}
	o.changed = false
	for ; depth > 0 && len(o.queue) > 0 && o.jobs[o.queue[0]].nodes <= o.free(o.now); depth-- {
		again = o.start(0) || again
	}
	if o.now%o.slurm.interval == 0 {
		again = o.backfillSlurm() || again
	}
	return again
}

// backfillSlurm plans from nothing.
func (o *oracle) backfillSlurm() (again bool) {
	tested, ofUser := 0, map[int32]int{}
	var plan []oracleJob // with a reservation from planned
	for k := 0; k < len(o.queue) && tested < o.slurm.tests; k++ {
		j := o.jobs[o.queue[k]]
		if o.slurm.userTests > 0 && ofUser[j.user] == o.slurm.userTests {
			continue
		}
		tested++
		ofUser[j.user]++
		switch j.planned = o.slot(j, plan); {
		case j.planned == o.now:
			again = o.start(k) || again
			k--
		case j.planned-o.now <= o.slurm.window:
			plan = append(plan, j)
		}
	}
	return again
}

// slot returns the first instant from which the job fits for its limit.
func (o *oracle) slot(j oracleJob, plan []oracleJob) int64 {
	length := j.limit
	if o.slurm.outward {
		length = o.ceil(o.now+j.limit) - o.now
	}
	for t := o.now; ; t++ {
		fits := true
		for u := t; u < t+length && fits; u++ {
			fits = o.unplanned(u, plan) >= j.nodes
		}
		if fits {
			return t
		}
	}
}

// unplanned returns the nodes that are free at t, when reservations last to the
// next point of the grid, and running jobs too unless they are rounded outward.
func (o *oracle) unplanned(t int64, plan []oracleJob) int64 {
	free := o.nodes
	for i := range o.jobs {
		j := &o.jobs[i]
		end := o.idle(j)
		if !o.slurm.outward && end > o.now {
			end = o.ceil(end)
		}
		if j.start != unknown && t < end {
			free -= j.nodes
		}
	}
	for _, j := range plan {
		if j.planned <= t && t < o.ceil(j.planned+j.limit) {
			free -= j.nodes
		}
	}
	return free
}

func (o *oracle) ceil(t int64) int64 { return (t + o.slurm.res - 1) / o.slurm.res * o.slurm.res }
