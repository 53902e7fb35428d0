package simulator

import (
	"slices"

	"github.com/segue-project/segue"
)

// heldJob has been submitted and waits for dependencies, or for an earlier job
// of its singleton group.
type heldJob struct {
	ref  Ref
	open int32 // conditions not met
	at   int64 // earliest start that the met ones allow
}

// arrive takes a submission.
func (s *Sim) arrive(ref Ref) {
	j := s.job(ref)
	if s.observer != nil {
		s.observer.Submitted(ref, segue.Time(s.now))
	}
	if s.conf.caps {
		if !s.admits(j) {
			s.deferred = append(s.deferred, ref)
			return
		}
	}
	s.admit(ref)
}

// admit queues a submitted job, or holds it until it is eligible.
func (s *Sim) admit(ref Ref) {
	j := s.job(ref)
	if s.conf.caps {
		s.users.submitted[j.user]++
	}
	if j.flags&(hasBegin|hasAfter|hasSingleton) == 0 {
		s.enqueue(ref, s.now)
		return
	}
	h := heldJob{ref: ref, at: max(s.now, s.table.begin[ref])}
	for _, d := range s.table.after[ref] {
		if met, at := s.met(d); met {
			h.at = max(h.at, at)
		} else if !s.active(d.Job) && d.Kind == AfterOK {
			s.drop(ref, j)
			return
		} else {
			h.open++
		}
	}
	if j.flags&hasSingleton != 0 {
		h.open += s.activeInGroup(ref, s.table.group[ref])
	}
	s.hold(h)
}

// hold keeps the job, or releases it when nothing is open.
func (s *Sim) hold(h heldJob) {
	switch {
	case h.open > 0:
		s.held = append(s.held, h)
	case h.at > s.now || s.inPass:
		s.releases = insertArrival(s.releases, arrival{max(h.at, s.now), h.ref})
	default:
		s.enqueue(h.ref, s.now)
	}
}

// met reports whether the dependency is met, and from when it allows a start.
func (s *Sim) met(d Dependency) (ok bool, at int64) {
	if d.Kind == After {
		if start, running := s.startOfRunning(d.Job); running {
			return true, start + d.Delay.Microseconds()
		}
	}
	if s.active(d.Job) || (d.Kind == AfterOK && s.job(d.Job).flags&fails != 0) {
		return false, 0
	}
	return true, 0
}

// active reports whether the job is still to arrive, held, waiting or running.
func (s *Sim) active(ref Ref) bool {
	if i := int(ref) - len(s.table.jobs); i >= 0 {
		return s.extra[i].end == int64(segue.NoTime)
	}
	if s.keepsRecord {
		return s.finishes[ref] == int64(segue.NoTime)
	}
	if j := s.job(ref); j.submit > s.now {
		return true
	}
	for _, a := range s.ends {
		if a.ref == ref {
			return true
		}
	}
	for i := range s.pools {
		for k := range s.pools[i].queue {
			if s.pools[i].queue[k].ref == ref {
				return true
			}
		}
	}
	return slices.ContainsFunc(s.held, func(h heldJob) bool { return h.ref == ref }) ||
		slices.ContainsFunc(s.releases, func(a arrival) bool { return a.ref == ref }) ||
		slices.Contains(s.deferred, ref)
}

func (s *Sim) startOfRunning(ref Ref) (start int64, ok bool) {
	p := s.poolOf(s.job(ref))
	for i := range p.running {
		if p.running[i].ref == ref {
			return p.running[i].start, true
		}
	}
	return 0, false
}

// activeInGroup counts the jobs of the singleton group that are ahead of ref.
func (s *Sim) activeInGroup(ref Ref, group int32) int32 {
	n := int32(0)
	count := func(r Ref) {
		if r != ref && s.table.group[r] == group {
			n++
		}
	}
	for i := range s.pools {
		for k := range s.pools[i].queue {
			count(s.pools[i].queue[k].ref)
		}
		for k := range s.pools[i].running {
			count(s.pools[i].running[k].ref)
		}
	}
	for _, h := range s.held {
		count(h.ref)
	}
	for _, a := range s.releases {
		count(a.ref)
	}
	return n
}

// startedFor tells held jobs that ref has started.
func (s *Sim) startedFor(ref Ref) {
	s.resolve(func(h *heldJob) {
		for _, d := range s.table.after[h.ref] {
			if d.Job == ref && d.Kind == After {
				h.open--
				h.at = max(h.at, s.now+d.Delay.Microseconds())
			}
		}
	})
}

// endedFor tells held jobs that ref has ended for good; those that needed it to
// succeed never run.
func (s *Sim) endedFor(ref Ref, j *job) {
	var lost []Ref
	group := s.table.group[ref]
	s.resolve(func(h *heldJob) {
		for _, d := range s.table.after[h.ref] {
			switch {
			case d.Job != ref || d.Kind == After:
			case d.Kind == AfterOK && j.flags&fails != 0:
				lost = append(lost, h.ref)
			default:
				h.open--
			}
		}
		if group != 0 && s.table.group[h.ref] == group {
			h.open--
		}
	})
	for _, r := range lost {
		s.held = slices.DeleteFunc(s.held, func(h heldJob) bool { return h.ref == r })
		s.drop(r, s.job(r))
	}
}

// resolve updates every held job and releases those with nothing open.
func (s *Sim) resolve(update func(*heldJob)) {
	held := s.held
	s.held = s.held[:0]
	var free []heldJob
	for _, h := range held {
		update(&h)
		if h.open > 0 {
			s.held = append(s.held, h)
		} else {
			free = append(free, h)
		}
	}
	for _, h := range free {
		s.hold(h)
	}
}

// drop removes a job that will never run (DependencyNeverSatisfied, cancelled).
func (s *Sim) drop(ref Ref, j *job) {
	if i := int(ref) - len(s.table.jobs); i >= 0 {
		s.extra[i].end = s.now
	} else if s.keepsRecord {
		s.finishes[ref] = s.now
	}
	s.leave(ref, j)
	if j.flags&(hasDependents|hasSingleton) != 0 {
		s.endedFor(ref, &job{flags: j.flags | fails})
	}
}

// cancelWaiting removes a job that has not started.
func (s *Sim) cancelWaiting(ref Ref) {
	j := s.job(ref)
	p := s.poolOf(j)
	if i := slices.IndexFunc(p.queue, func(w waiting) bool { return w.ref == ref }); i >= 0 {
		if s.conf.conservativePlan {
			w := p.queue[i]
			s.openPlan(p)
			p.change(w.planned, w.planned+w.limit, -w.nodes)
		}
		p.queue = slices.Delete(p.queue, i, i+1)
		s.touch(p)
		s.drop(ref, j)
		return
	}
	if i := slices.IndexFunc(s.held, func(h heldJob) bool { return h.ref == ref }); i >= 0 {
		s.held = slices.Delete(s.held, i, i+1)
		s.drop(ref, j)
		return
	}
	if i := slices.IndexFunc(s.releases, func(a arrival) bool { return a.ref == ref }); i >= 0 {
		s.releases = slices.Delete(s.releases, i, i+1)
		s.drop(ref, j)
		return
	}
	if i := slices.Index(s.deferred, ref); i >= 0 {
		s.deferred = slices.Delete(s.deferred, i, i+1)
		if s.keepsRecord {
			s.finishes[ref] = s.now
		}
	}
}

// submitHeld is what Submit does for a job with conditions of its own. The
// table is shared between forks, so only plain jobs can be added to it.
func (s *Sim) submitHeld(_ Ref, _ *Job) error {
	return segue.Errorf(segue.Invalid, "submit: Begin, CancelAt, After, Singleton and Nice are for jobs given to New; "+
		"submit the job at the instant when it is to be eligible")
}
