package simulator

import "slices"

// news is what held jobs may wait to hear of another job.
type news uint8

const (
	hasStarted news = iota
	hasStopped      // it ran, and waits again
	hasEnded        // without an error
	hasFailed       // it ended with an error
	isGivenUp       // it ended without having run
	kindsOfNews
)

// effect is what news does to a dependency.
type effect uint8

const (
	nothing effect = iota
	meets
	opens // it is not met (any more)
	dooms // it can never be met
)

// effects holds the effect of each news on each kind of dependency. As in
// Slurm, a job that is cancelled before it starts meets After.
var effects = [kindsOfNews][3]effect{
	hasStarted: {After: meets},
	hasStopped: {After: opens},
	hasEnded:   {AfterAny: meets, AfterOK: meets},
	hasFailed:  {AfterAny: meets, AfterOK: dooms},
	isGivenUp:  {AfterAny: meets, AfterOK: dooms, After: meets},
}

// tell passes news of a job on to the held ones.
func (s *Sim) tell(ref Ref, j *job, what news) {
	if len(s.held) == 0 || (j.flags&(hasDependents|hasSingleton) == 0 && !s.chained) {
		return
	}
	group := int32(0)
	if j.flags&hasSingleton != 0 && what >= hasEnded {
		group = s.rare(ref).Singleton
	}
	for i := range s.held {
		h := &s.held[i]
		h.changed = h.changed || (group != 0 && h.group == group)
		for _, d := range h.after {
			if d.Job == ref {
				h.hear(d, what, s.now)
			}
		}
	}
	s.dropDoomed()
	s.letChangedGo()
}

// hear takes the news of the job that d names.
func (h *heldJob) hear(d Dependency, what news, now int64) {
	switch effects[what][d.Kind] {
	case meets:
		h.open--
		h.changed = true
		if d.Kind == After {
			h.at = max(h.at, after(now, d.Delay.Microseconds()))
		}
	case opens:
		h.open++
	case dooms:
		h.doomed = true
	}
}

// dropDoomed and letChangedGo look for one job at a time, since what they do
// may change the list.
func (s *Sim) dropDoomed() {
	for {
		i := slices.IndexFunc(s.held, func(h heldJob) bool { return h.doomed })
		if i < 0 {
			return
		}
		ref := s.held[i].ref
		s.held = slices.Delete(s.held, i, i+1)
		s.drop(ref, s.job(ref))
	}
}

func (s *Sim) letChangedGo() {
	for {
		i := slices.IndexFunc(s.held, func(h heldJob) bool { return h.changed })
		if i < 0 {
			return
		}
		h := s.held[i]
		s.held[i].changed = false
		if h.open > 0 || (h.group != 0 && s.groupIsBusy(h.group, i)) {
			continue
		}
		s.held = slices.Delete(s.held, i, i+1)
		s.letGo(&h)
	}
}

// groupIsBusy reports whether a job of the singleton group runs or waits; held
// ones count before index ahead of s.held.
func (s *Sim) groupIsBusy(group int32, ahead int) bool {
	in := func(ref Ref) bool {
		return s.job(ref).flags&hasSingleton != 0 && s.rare(ref).Singleton == group
	}
	for i := range s.pools {
		p := &s.pools[i]
		for w := range p.queue.all() {
			if in(w.ref) {
				return true
			}
		}
		for r := range p.running.all() {
			if in(r.ref) {
				return true
			}
		}
	}
	return slices.ContainsFunc(s.releases, func(a arrival) bool { return in(a.ref) }) ||
		slices.ContainsFunc(s.held[:ahead], func(h heldJob) bool { return h.group == group })
}

// departure is a job that has ended while others that depend on it are still to
// be submitted.
type departure struct {
	ref   Ref
	good  bool  // without an error
	began int64 // when it started, or was given up
}

// remember keeps a departure while it may be asked for. The record knows more,
// but a fork has none.
func (s *Sim) remember(d departure, j *job) {
	if j.flags&hasDependents == 0 || int(d.ref) >= len(s.table.jobs) {
		return
	}
	isOver := func(d departure) bool { return len(s.deferred) == 0 && s.hasArrived(s.table.lastDependent[d.ref]) }
	s.gone = slices.DeleteFunc(s.gone, isOver)
	if !isOver(d) {
		s.gone = append(s.gone, d)
	}
}

func (s *Sim) hasArrived(ref Ref) bool {
	return s.arrived == len(s.table.order) || s.table.submittedBefore(ref, s.table.order[s.arrived])
}

// judge tells whether a dependency of a job that is being submitted is met, and
// from when it allows a start, open, or doomed.
func (s *Sim) judge(d Dependency) (from int64, e effect) {
	began, good, over := s.departureOf(d.Job)
	if !over {
		r, runs := s.poolOf(s.job(d.Job)).runningJob(d.Job)
		if !runs || d.Kind != After {
			return 0, opens
		}
		began = s.startOf(&r)
	}
	switch {
	case d.Kind == After:
		return after(began, d.Delay.Microseconds()), meets
	case d.Kind == AfterOK && !good:
		return 0, dooms
	}
	return 0, meets
}

// departureOf tells whether a job has ended for good, and how.
func (s *Sim) departureOf(ref Ref) (began int64, good, over bool) {
	if i := slices.IndexFunc(s.gone, func(d departure) bool { return d.ref == ref }); i >= 0 {
		return s.gone[i].began, s.gone[i].good, true
	}
	good = s.job(ref).flags&fails == 0
	switch o := s.outcomeOf(ref); {
	case o == nil:
		return noTime, good, !s.isActive(ref)
	case o.start == noTime:
		return o.end, false, o.end != noTime
	default:
		return o.start, good, o.end != noTime
	}
}

// isActive reports whether a job of the table is still to arrive, waits or runs.
func (s *Sim) isActive(ref Ref) bool {
	if !s.hasArrived(ref) || slices.Contains(s.deferred, ref) ||
		slices.ContainsFunc(s.held, func(h heldJob) bool { return h.ref == ref }) ||
		slices.ContainsFunc(s.releases, func(a arrival) bool { return a.ref == ref }) {
		return true
	}
	p := s.poolOf(s.job(ref))
	if _, runs := p.runningJob(ref); runs {
		return true
	}
	_, waits := p.queue.find(ref)
	return waits
}
