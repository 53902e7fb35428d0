package simulator

import "github.com/segue-project/segue"

// injected is a job that Submit added, and what became of it.
type injected struct {
	job
	outcome
	rare *Job // when it has one of the isRare flags; never changed
}

// outcome is when a job last started and ended, noTime when it has not.
type outcome struct{ start, end int64 }

var untouched = outcome{noTime, noTime}

// Submit adds a job that is submitted at j.Submit, or now if that is in the
// past. It may depend on every job that the simulation knows. A fork does not
// know how a job of New ended before the fork: it takes it to have failed only
// if its Fails or its limit says so.
func (s *Sim) Submit(j Job) (Ref, error) {
	j.Submit = max(j.Submit, segue.Time(s.now))
	ref := Ref(len(s.table.jobs) + len(s.extra))
	if err := s.conf.check(&j, ref, int(ref)); err != nil {
		return 0, segue.Errorf(segue.Invalid, "submit: %w", err)
	}
	in := injected{job: compile(&j), outcome: untouched}
	if in.flags&isRare != 0 {
		in.rare = j.clone()
	}
	for _, d := range j.After {
		if i := int(d.Job) - len(s.table.jobs); i >= 0 {
			s.extra[i].flags |= hasDependents
		} else {
			s.chained = true
		}
	}
	s.users.grow(s.conf, int(j.User)+1)
	if p := s.poolOf(&in.job); in.shares(p.gpus) {
		p.share()
	}
	s.extra = append(s.extra, in)
	s.inject = insertArrival(s.inject, arrival{in.submit, ref})
	return ref, nil
}

// StopArrivals makes the jobs that have not been submitted yet never arrive,
// as in a forecast that does not know them. Jobs given to Submit still do.
func (s *Sim) StopArrivals() { s.cut = true }

// StartOf returns when the job last started, NoTime if it has not. In a fork it
// knows the jobs given to Submit only.
func (s *Sim) StartOf(ref Ref) segue.Time {
	if o := s.outcomeOf(ref); o != nil {
		return segue.Time(o.start)
	}
	return segue.NoTime
}

// EndOf returns when the job ended, or was given up before it started; NoTime
// if it has not, and in a fork as StartOf.
func (s *Sim) EndOf(ref Ref) segue.Time {
	if o := s.outcomeOf(ref); o != nil {
		return segue.Time(o.end)
	}
	return segue.NoTime
}

// outcomeOf returns what became of the job, nil if that is not recorded.
func (s *Sim) outcomeOf(ref Ref) *outcome {
	switch i := int(ref) - len(s.table.jobs); {
	case i >= 0:
		return &s.extra[i].outcome
	case s.record != nil:
		return &s.record.outcomes[ref]
	}
	return nil
}
