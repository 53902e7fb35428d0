package simulator

import (
	"math"
	"time"

	"github.com/segue-project/segue/budgets"
)

// Order is the rule that sorts the queue; the zero Order is first come, first
// served. Ties go to the earlier submission.
type Order struct {
	// Multifactor is Slurm's priority/multifactor; nil means first come, first
	// served.
	Multifactor *Multifactor
}

// Multifactor holds Slurm's PriorityWeight* and their companions. A priority
// is the weighted sum of factors in [0, 1], less the job's nice value
// (priority_multifactor documentation of Slurm).
type Multifactor struct {
	Age, FairShare, JobSize, Partition, QOS float64 // PriorityWeight*

	MaxAge time.Duration // PriorityMaxAge; default 7 days
	// AgeUncapped lets the age factor grow past 1, as the published
	// provisioner's simulator does.
	AgeUncapped bool
	FavorSmall  bool          // PriorityFavorSmall
	CalcPeriod  time.Duration // PriorityCalcPeriod; default 5 minutes
	// HalfLife is PriorityDecayHalfLife of the usage behind the fair-share
	// factor; default 7 days.
	HalfLife time.Duration
	// Shares holds each user's account and shares for the fair-share factor.
	// Nil gives every user one equal share.
	Shares *budgets.Tree
}

// PublishedOrder returns the priority of the published provisioner's
// simulator: 7000 x age/7 days, not capped, plus 100 x nodes/all nodes.
func PublishedOrder() Order {
	return Order{Multifactor: &Multifactor{Age: 7000, JobSize: 100, AgeUncapped: true}}
}

func (m Multifactor) withDefaults() Multifactor {
	if m.MaxAge == 0 {
		m.MaxAge = 7 * 24 * time.Hour
	}
	if m.CalcPeriod == 0 {
		m.CalcPeriod = 5 * time.Minute
	}
	if m.HalfLife == 0 {
		m.HalfLife = 7 * 24 * time.Hour
	}
	return m
}

// static reports whether the order of two waiting jobs never changes, so that
// keys can be computed once.
func (m *Multifactor) static() bool {
	return (m.AgeUncapped || m.Age == 0) && m.FairShare == 0
}

// ahead reports whether v goes before w: by tier, priority, submission, and
// position in the history.
func (s *Sim) ahead(v, w *waiting) bool {
	if s.conf.tiers != nil {
		if a, b := s.conf.tiers[s.job(v.ref).part], s.conf.tiers[s.job(w.ref).part]; a != b {
			return a > b
		}
	}
	if v.key != w.key {
		return v.key < w.key
	}
	if a, b := s.job(v.ref).submit, s.job(w.ref).submit; a != b {
		return a < b
	}
	return v.ref < w.ref
}

// keyOf returns the queue key of a job that became eligible at eligible.
func (s *Sim) keyOf(ref Ref, j *job, eligible int64) float64 {
	m := s.conf.multifactor
	switch {
	case m == nil:
		return float64(j.submit)
	case s.conf.dynamic:
		return -s.priority(m, ref, j, eligible)
	}
	return m.Age*float64(eligible)/float64(m.MaxAge.Microseconds()) - s.staticTerms(m, ref, j)
}

// priority returns the multifactor priority now, as Slurm's whole number of at
// least 1.
func (s *Sim) priority(m *Multifactor, ref Ref, j *job, eligible int64) float64 {
	age := float64(s.now-eligible) / float64(m.MaxAge.Microseconds())
	if !m.AgeUncapped {
		age = min(age, 1)
	}
	p := m.Age*max(age, 0) + s.staticTerms(m, ref, j)
	if m.FairShare != 0 {
		p += m.FairShare * s.fairShare(j.user)
	}
	return max(1, math.Floor(p))
}

// staticTerms returns what does not change while the job waits.
func (s *Sim) staticTerms(m *Multifactor, ref Ref, j *job) float64 {
	part := &s.conf.Partitions[j.part]
	size := float64(j.nodes) / float64(s.conf.Pools[part.Pool].Nodes)
	if m.FavorSmall {
		size = 1 - size
	}
	p := m.JobSize*size + m.Partition*part.Factor + m.QOS*s.conf.QOS[j.qos].Factor
	if j.flags&hasNice != 0 {
		p -= float64(s.rare(ref).Nice)
	}
	return p
}

// enqueue puts an eligible job into its pool's queue.
func (s *Sim) enqueue(ref Ref, eligible int64) {
	if s.conf.dynamic && s.calcAt == never { // the first to wait after a quiet time
		s.updateFairShare()
		s.scheduleCalc()
	}
	j := s.job(ref)
	p := s.poolOf(j)
	w := waiting{key: s.keyOf(ref, j, eligible), limit: j.limit, eligible: eligible, nodes: j.nodes, ref: ref}
	if p.keepsPlan {
		w.planned = p.planEarliest(s.now, &w)
	}
	p.queue.insert(s.placeInQueue(&p.queue, &w), w)
	s.touch(p)
}

// placeInQueue returns where w belongs; mostly at the end.
func (s *Sim) placeInQueue(q *queue, w *waiting) cursor {
	b := len(q.blocks) - 1
	for b > 0 && s.ahead(w, &q.blocks[b].jobs[0]) {
		b--
	}
	if b < 0 {
		return cursor{}
	}
	i := len(q.blocks[b].jobs)
	for i > 0 && s.ahead(w, &q.blocks[b].jobs[i-1]) {
		i--
	}
	return cursor{b, i}
}

func (s *Sim) scheduleCalc() { s.calcAt = after(s.now, s.conf.multifactor.CalcPeriod.Microseconds()) }

// reprioritise computes every waiting job's priority anew (PriorityCalcPeriod)
// and sorts the queues whose order has changed. It happens again while jobs
// wait and anything else may still happen.
func (s *Sim) reprioritise() {
	s.calcAt = never
	if s.waiting() == 0 {
		return
	}
	s.updateFairShare()
	for i := range s.pools {
		if p := &s.pools[i]; s.renewKeys(&p.queue) {
			s.touch(p)
		}
	}
	if s.nextEvent() != never {
		s.scheduleCalc()
	}
}

func (s *Sim) waiting() (jobs int) {
	for i := range s.pools {
		jobs += s.pools[i].queue.len()
	}
	return jobs
}

// renewKeys reports whether the order has changed.
func (s *Sim) renewKeys(q *queue) bool {
	m := s.conf.multifactor
	changed := false
	var before *waiting
	for w := range q.all() {
		w.key = -s.priority(m, w.ref, s.job(w.ref), w.eligible)
		changed = changed || (before != nil && s.ahead(w, before))
		before = w
	}
	if changed {
		q.sort(s.ahead)
	}
	return changed
}
