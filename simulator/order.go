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

// waiting is one eligible job in a pool's queue, with what the passes read.
type waiting struct {
	key      float64 // ascending is first
	limit    int64
	eligible int64
	planned  int64 // start of the reservation that Conservative keeps
	nodes    int32
	ref      Ref
}

func (w *waiting) before(v *waiting) bool {
	return w.key < v.key || (w.key == v.key && w.ref < v.ref)
}

// keyOf returns the queue key of a job that became eligible at eligible.
func (s *Sim) keyOf(ref Ref, j *job, eligible int64) float64 {
	m := s.conf.multifactor
	switch {
	case m == nil:
		return float64(j.submit) - s.conf.tierOffset[j.part]
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

func (s *Sim) staticTerms(m *Multifactor, ref Ref, j *job) float64 {
	part := &s.conf.Partitions[j.part]
	size := float64(j.nodes) / float64(s.conf.Pools[part.Pool].Nodes)
	if m.FavorSmall {
		size = 1 - size
	}
	return s.conf.tierOffset[j.part] + m.JobSize*size + m.Partition*part.Factor +
		m.QOS*s.conf.QOS[j.qos].Factor - float64(s.nice(ref))
}

// enqueue puts an eligible job into its pool's queue.
func (s *Sim) enqueue(ref Ref, eligible int64) {
	j := s.job(ref)
	p := s.poolOf(j)
	w := waiting{key: s.keyOf(ref, j, eligible), limit: j.limit, eligible: eligible, nodes: j.nodes, ref: ref}
	i := len(p.queue)
	for i > 0 && w.before(&p.queue[i-1]) {
		i--
	}
	p.queue = append(p.queue, waiting{})
	copy(p.queue[i+1:], p.queue[i:])
	p.queue[i] = w
	s.touch(p)
	if s.conf.conservativePlan {
		s.placeNew(p, i)
	}
}

// reprioritise computes every waiting job's priority anew (PriorityCalcPeriod)
// and sorts the queues where their order changed.
func (s *Sim) reprioritise() {
	m := s.conf.multifactor
	s.updateFairShare()
	for i := range s.pools {
		p := &s.pools[i]
		changed := false
		for k := range p.queue {
			w := &p.queue[k]
			w.key = -s.priority(m, w.ref, s.job(w.ref), w.eligible)
			changed = changed || (k > 0 && w.before(&p.queue[k-1]))
		}
		if changed {
			insertionSort(p.queue)
			s.touch(p)
		}
	}
}

// insertionSort sorts in place; queues are nearly sorted already.
func insertionSort(q []waiting) {
	for i := 1; i < len(q); i++ {
		w := q[i]
		k := i
		for k > 0 && w.before(&q[k-1]) {
			q[k] = q[k-1]
			k--
		}
		q[k] = w
	}
}
