package simulator

import (
	"slices"

	"github.com/segue-project/segue"
)

// preemptFor makes room for a job by preempting jobs of lower tiers in the same
// pool, the lowest tier first and the youngest of a tier first; false, and
// nothing is touched, if that would not be enough.
func (s *Sim) preemptFor(p *pool, _ Ref, j *job) bool {
	if !s.conf.preempts || p.shares(j) {
		return false
	}
	victims, room := s.victims(p, j)
	if room < j.nodes {
		return false
	}
	for _, v := range victims {
		s.preempt(p, v)
	}
	return j.nodes <= p.free
}

// victims returns the jobs to preempt for j, and the idle nodes there would be
// then.
func (s *Sim) victims(p *pool, j *job) (victims []Ref, room int32) {
	tier := s.conf.Partitions[j.part].Tier
	var able []running
	for _, r := range p.running {
		part := &s.conf.Partitions[s.job(r.ref).part]
		if part.Preempt != PreemptOff && part.Tier < tier && r.places == noPlace {
			able = append(able, r)
		}
	}
	slices.SortFunc(able, func(a, b running) int {
		ta, tb := s.conf.Partitions[s.job(a.ref).part].Tier, s.conf.Partitions[s.job(b.ref).part].Tier
		switch {
		case ta != tb:
			return ta - tb
		case a.start != b.start:
			return int(min(max(b.start-a.start, -1), 1))
		}
		return int(b.ref - a.ref)
	})
	room = p.free
	for _, r := range able {
		if room >= j.nodes {
			break
		}
		room += r.nodes
		victims = append(victims, r.ref)
	}
	return victims, room
}

// preempt stops a running job: it is requeued or ends, by its partition's mode.
func (s *Sim) preempt(p *pool, ref Ref) {
	mode := s.conf.Partitions[s.job(ref).part].Preempt
	s.stop(p, ref, segue.Preempted)
	if mode == PreemptCancel {
		s.drop(ref, s.job(ref))
		return
	}
	s.requeue(ref)
}

// stop takes a running job off its nodes before its end.
func (s *Sim) stop(p *pool, ref Ref, state segue.JobState) {
	i := slices.IndexFunc(p.running, func(r running) bool { return r.ref == ref })
	if s.keepsRecord {
		s.attempts = append(s.attempts, Attempt{
			Job: ref, Start: segue.Time(p.running[i].start), End: segue.Time(s.now), State: state,
		})
	}
	s.release(p, i)
	s.ends.remove(ref)
	if k := int(ref) - len(s.table.jobs); k >= 0 {
		s.extra[k].start = int64(segue.NoTime)
	} else if s.keepsRecord {
		s.starts[ref] = int64(segue.NoTime)
	}
}

// requeue lets a stopped job wait again, after the requeue delay.
func (s *Sim) requeue(ref Ref) {
	s.releases = insertArrival(s.releases, arrival{s.now + s.conf.RequeueDelay.Microseconds(), ref})
}
