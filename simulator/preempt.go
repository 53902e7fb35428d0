package simulator

import (
	"cmp"
	"slices"

	"github.com/segue-project/segue"
)

// preemptFor makes room for a job, which then fits, by stopping jobs of lower
// tiers in the same pool; false, and nothing is touched, if all of them would
// not be enough.
func (s *Sim) preemptFor(p *pool, j *job) bool {
	if !s.conf.mayPreempt[j.part] {
		return false
	}
	victims, enough := s.victims(p, j)
	if enough {
		s.preempt(p, victims)
	}
	return enough
}

// victims returns the jobs to stop for j: the lowest tier first and the
// youngest of a tier first, but none that can be spared. false if all that may
// be stopped are not enough.
func (s *Sim) victims(p *pool, j *job) ([]running, bool) {
	room := &s.scratch.room
	room.of(s, p, nil)
	var victims []running
	for _, r := range s.preemptable(p, s.conf.Partitions[j.part].Tier) {
		if room.fits(j, p.gpus) {
			break
		}
		victims = append(victims, r)
		room.stop(s, p, &r)
	}
	if !room.fits(j, p.gpus) {
		return nil, false
	}
	for i := len(victims) - 2; i >= 0; i-- {
		fewer := slices.Delete(slices.Clone(victims), i, i+1)
		if room.of(s, p, fewer); room.fits(j, p.gpus) {
			victims = fewer
		}
	}
	return victims, true
}

// preemptable lists the running jobs that a job of the tier may stop, in the
// order in which they go.
func (s *Sim) preemptable(p *pool, tier int) []running {
	var able []running
	for r := range p.running.all() {
		if part := s.partitionOf(r); part.Preempt != PreemptOff && part.Tier < tier {
			able = append(able, *r)
		}
	}
	slices.SortFunc(able, func(a, b running) int {
		return cmp.Or(cmp.Compare(s.partitionOf(&a).Tier, s.partitionOf(&b).Tier),
			cmp.Compare(s.startOf(&b), s.startOf(&a)), cmp.Compare(b.ref, a.ref))
	})
	return able
}

func (s *Sim) partitionOf(r *running) *Partition { return &s.conf.Partitions[s.job(r.ref).part] }

// room is what is idle in a pool, as if some of its jobs did not run.
type room struct {
	free     int32
	draining int32
	slots    []slot
}

func (m *room) of(s *Sim, p *pool, without []running) {
	m.free, m.draining = p.free, p.draining
	m.slots = append(m.slots[:0], p.shared.slots...)
	for i := range without {
		m.stop(s, p, &without[i])
	}
}

// stop adds what a job would leave behind.
func (m *room) stop(s *Sim, p *pool, r *running) {
	m.add(r.nodes)
	for i := r.places; i != noPlace; i = p.shared.places[i].next {
		n := &m.slots[p.shared.places[i].slot]
		n.free += s.job(r.ref).gpus
		if n.jobs--; n.jobs == 0 {
			m.add(1)
		}
	}
}

// add adds whole nodes, of which some leave service at once.
func (m *room) add(nodes int32) {
	lost := min(m.draining, nodes)
	m.draining -= lost
	m.free += nodes - lost
}

func (m *room) fits(j *job, gpus int32) bool {
	nodes := max(m.free, 0)
	if j.shares(gpus) {
		for _, n := range m.slots {
			if n.hasRoom(j.gpus) {
				nodes++
			}
		}
	}
	return nodes >= j.nodes
}

// preempt stops running jobs: each is requeued or ends, by its partition's mode.
func (s *Sim) preempt(p *pool, victims []running) {
	for _, r := range victims {
		s.drain(p, s.stop(p, &r, segue.Preempted))
		if s.partitionOf(&r).Preempt == PreemptRequeue {
			s.requeue(r.ref)
		} else {
			s.ended(r.ref, s.startOf(&r), false)
		}
	}
}

// stop takes a running job off its nodes before its end and returns how many
// have come wholly free.
func (s *Sim) stop(p *pool, r *running, state segue.JobState) (freed int32) {
	if s.record != nil && int(r.ref) < len(s.table.jobs) {
		s.record.attempts = append(s.record.attempts, Attempt{
			Job: r.ref, Start: segue.Time(s.startOf(r)), End: segue.Time(s.now), State: state,
		})
	}
	if o := s.outcomeOf(r.ref); o != nil {
		o.start = noTime
	}
	s.ends.remove(r.ref)
	p.running.remove(r.est, r.ref)
	return s.release(p, r)
}

// requeue lets a stopped job wait again, after the requeue delay.
func (s *Sim) requeue(ref Ref) {
	s.releases = insertArrival(s.releases, arrival{after(s.now, s.conf.requeueDelay), ref})
	s.tell(ref, s.job(ref), hasStopped)
}
