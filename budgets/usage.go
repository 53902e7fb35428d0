package budgets

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

// DefaultHalfLife is Slurm's default of PriorityDecayHalfLife.
const DefaultHalfLife = 7 * 24 * time.Hour

// NoDecay is the half-life of usage that is never forgotten.
const NoDecay time.Duration = math.MaxInt64

// rebaseAfter is the number of half-lives after which the reference instant
// moves on, long before 2^(t/half-life) loses digits or overflows.
const rebaseAfter = 32

// Usage is what each user and account used, in billable-seconds that halve
// every half-life. It belongs to one tree and one goroutine.
//
// Values are kept as they count at a reference instant, so that time passing
// costs nothing: a later charge simply weighs more. The reference moves by
// whole half-lives, which scales every value by an exact power of two: equal
// histories stay equal to the last bit, and a tie stays a tie.
type Usage struct {
	tree      *Tree
	halfLife  float64 // in microseconds; +Inf for NoDecay
	reference segue.Time
	at        segue.Time
	nodes     []float64 // billable-seconds of each node, as of reference

	// Scratch space of Tree.Factors; carries nothing from call to call.
	level []float64
	order []int32
}

// NewUsage returns a history without any usage that begins at the instant at.
// A halfLife of 0 is DefaultHalfLife, NoDecay switches decay off; a negative
// one is refused with kind Invalid.
func (t *Tree) NewUsage(at segue.Time, halfLife time.Duration) (*Usage, error) {
	if halfLife < 0 {
		return nil, segue.Errorf(segue.Invalid, "half-life of usage is %s, want more than 0 (or NoDecay)", halfLife)
	}
	if !at.Known() || at == segue.Never {
		return nil, segue.Errorf(segue.Invalid, "usage begins at an %s instant", at)
	}
	us := float64(halfLife / time.Microsecond)
	switch halfLife {
	case 0:
		us = float64(DefaultHalfLife / time.Microsecond)
	case NoDecay:
		us = math.Inf(1)
	}
	u := &Usage{tree: t, halfLife: us, reference: at, at: at, nodes: make([]float64, len(t.parent))}
	u.makeScratch()
	return u, nil
}

// Charge adds billable (billing weight per second of a running job, say its
// GPUs) over [from, to) to the user and to every account above: the exact
// integral of billable x 2^(-age/half-life) over the interval. An empty
// interval or a billable that is not positive adds nothing.
func (u *Usage) Charge(user int, from, to segue.Time, billable float64) {
	if from >= to || !from.Known() || to == segue.Never || !(billable > 0) {
		return
	}
	u.Decay(to)
	amount := billable * u.integral(from, to)
	for n := u.tree.firstUser + int32(user); n >= 0; n = u.tree.parent[n] {
		u.nodes[n] += amount
	}
}

// integral returns the seconds from from to to, each weighed as it counts at
// the reference instant.
func (u *Usage) integral(from, to segue.Time) float64 {
	us := float64(to - from)
	if math.IsInf(u.halfLife, 1) {
		return us / 1e6
	}
	atEnd := math.Exp2(float64(to-u.reference) / u.halfLife)
	return atEnd * u.halfLife / 1e6 / math.Ln2 * -math.Expm1(-math.Ln2*us/u.halfLife)
}

// Decay lets time pass until the instant to; an earlier one changes nothing.
func (u *Usage) Decay(to segue.Time) {
	u.at = max(u.at, to)
	if passed := float64(u.at - u.reference); passed > rebaseAfter*u.halfLife {
		u.rebase(int(passed / u.halfLife))
	}
}

func (u *Usage) rebase(halfLives int) {
	for i, v := range u.nodes {
		u.nodes[i] = math.Ldexp(v, -halfLives)
	}
	u.reference += segue.Time(float64(halfLives) * u.halfLife)
}

// Of returns the user's usage in billable-seconds, decayed to the latest
// instant that Charge or Decay saw.
func (u *Usage) Of(user int) float64 { return u.decayed(u.tree.firstUser + int32(user)) }

// Total returns the usage of the whole tree, decayed like Of.
func (u *Usage) Total() float64 { return u.decayed(root) }

func (u *Usage) decayed(node int32) float64 {
	return u.nodes[node] * math.Exp2(-float64(u.at-u.reference)/u.halfLife)
}

// CopyInto makes dst an independent copy of u. It allocates only if dst never
// held a usage of a tree as large.
func (u *Usage) CopyInto(dst *Usage) {
	nodes, level, order := dst.nodes, dst.level, dst.order
	*dst = *u
	dst.nodes = append(nodes[:0], u.nodes...)
	dst.level, dst.order = level, order
	dst.makeScratch()
}

func (u *Usage) makeScratch() {
	if n := len(u.nodes); len(u.level) < n {
		u.level = make([]float64, n)
		u.order = make([]int32, n)
	}
}
