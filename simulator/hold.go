package simulator

import "github.com/segue-project/segue"

// heldJob has been submitted and waits for dependencies, or for an earlier job
// of its singleton group.
type heldJob struct {
	ref   Ref
	group int32 // singleton group, or 0
	open  int32 // dependencies that are not met
	at    int64 // earliest start that the met ones allow
	after []Dependency
	// doomed says that a dependency can never be met, changed that the job may
	// go now.
	doomed, changed bool
}

// arrive takes a submission.
func (s *Sim) arrive(ref Ref) {
	j := s.job(ref)
	if s.observer != nil {
		s.observer.Submitted(ref, segue.Time(s.now))
	}
	if j.flags&hasCancel != 0 && int64(s.rare(ref).CancelAt) <= s.now {
		s.giveUp(ref, j)
		return
	}
	if s.conf.caps && !s.admits(j) {
		s.deferUntilAdmitted(ref, j)
		return
	}
	s.admit(ref, j)
}

// admit queues a submitted job, or holds it until it is eligible.
func (s *Sim) admit(ref Ref, j *job) {
	if s.conf.caps {
		s.users.submit(j, 1)
	}
	h := heldJob{ref: ref, at: s.now}
	if j.flags&isHeld != 0 {
		rare := s.rare(ref)
		h.group, h.after = rare.Singleton, rare.After
		h.at = max(h.at, min(int64(rare.Begin), horizon))
		for _, d := range rare.After {
			from, effect := s.judge(d)
			switch effect {
			case dooms:
				s.drop(ref, j)
				return
			case opens:
				h.open++
			}
			h.at = max(h.at, from)
		}
	}
	if h.open > 0 || (h.group != 0 && s.groupIsBusy(h.group, len(s.held))) {
		s.held = append(s.held, h)
		return
	}
	s.letGo(&h)
}

// letGo queues a job with nothing open at its earliest start. A pass must not
// see the queue grow, so that during one it is queued right afterwards.
func (s *Sim) letGo(h *heldJob) {
	if h.at > s.now || s.inPass {
		s.releases = insertArrival(s.releases, arrival{max(h.at, s.now), h.ref})
		return
	}
	s.enqueue(h.ref, s.now)
}

// drop removes a submitted job that will never run (cancelled, or
// DependencyNeverSatisfied).
func (s *Sim) drop(ref Ref, j *job) {
	s.giveUp(ref, j)
	s.leave(j)
}

// giveUp notes that a job ends without having run.
func (s *Sim) giveUp(ref Ref, j *job) {
	if o := s.outcomeOf(ref); o != nil {
		o.end = s.now
	}
	s.remember(departure{ref: ref, began: s.now}, j)
	s.tell(ref, j, isGivenUp)
}
