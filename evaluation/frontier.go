package evaluation

import (
	"cmp"
	"math"
	"slices"
)

// Frontier is the least mean interruption that a policy reaches at each mean
// overlap: the lower convex hull of its points, cut where interruption would
// rise again.
//
// The hull, not the points, is the measure, because a policy that draws one of
// two parameter values at random before each start achieves every point on the
// line between the two, so no kink between neighbouring values is real.
//
// Right of the largest overlap on the hull the frontier is flat: nobody has to
// use all the overlap that is allowed. Left of the least overlap it is
// undefined, since no mixture of the policy's values reaches there; a policy
// that shall be mixed with waiting until the end says so by a row of reactive
// outcomes.
type Frontier struct {
	vertices []Vertex
}

// Vertex is a corner of a frontier and the row of outcomes that it stands for.
type Vertex struct {
	Point
	Row int
}

// NewFrontier returns the frontier of points; point k is row k of the policy.
func NewFrontier(points []Point) Frontier {
	var f Frontier
	f.rebuild(points)
	return f
}

// rebuild makes f the frontier of points in f's own memory, by Andrew's
// monotone chain.
func (f *Frontier) rebuild(points []Point) {
	hull := f.vertices[:0]
	for k, p := range points {
		hull = append(hull, Vertex{Point: p, Row: k})
	}
	slices.SortFunc(hull, func(a, b Vertex) int {
		return cmp.Or(cmp.Compare(a.Overlap, b.Overlap), cmp.Compare(a.Interruption, b.Interruption), a.Row-b.Row)
	})
	size := 0
	for _, v := range hull {
		if size > 0 && v.Interruption >= hull[size-1].Interruption {
			continue // more overlap that buys nothing
		}
		for size > 1 && !below(hull[size-2].Point, hull[size-1].Point, v.Point) {
			size--
		}
		hull[size] = v
		size++
	}
	f.vertices = hull[:size]
}

// below reports whether mid lies strictly below the line from a to b.
func below(a, mid, b Point) bool {
	return (mid.Overlap-a.Overlap)*(b.Interruption-a.Interruption) >
		(mid.Interruption-a.Interruption)*(b.Overlap-a.Overlap)
}

// Vertices returns the corners in order of rising overlap and falling
// interruption.
func (f Frontier) Vertices() []Vertex { return slices.Clone(f.vertices) }

// At returns the interruption at the given mean overlap, in hours; NaN left of
// the least overlap that the policy reaches.
func (f Frontier) At(overlap float64) float64 {
	a, b, share := f.mix(overlap)
	if math.IsNaN(share) {
		return math.NaN()
	}
	return between(f.vertices[a].Interruption, f.vertices[b].Interruption, share)
}

// mix returns the two vertices whose mixture has the given mean overlap and
// the share of the second; the share is NaN where the frontier is undefined.
func (f Frontier) mix(overlap float64) (a, b int, share float64) {
	right, exact := slices.BinarySearchFunc(f.vertices, overlap, func(v Vertex, o float64) int {
		return cmp.Compare(v.Overlap, o)
	})
	switch {
	case exact:
		return right, right, 0
	case right == 0:
		return 0, 0, math.NaN()
	case right == len(f.vertices):
		return right - 1, right - 1, 0
	}
	lo, hi := f.vertices[right-1].Overlap, f.vertices[right].Overlap
	return right - 1, right, (overlap - lo) / (hi - lo)
}

func between(a, b, share float64) float64 { return a + share*(b-a) }

// zeroHours is the longest interruption that counts as none: one minute.
const zeroHours = 1.0 / 60

// zeroShareAt returns the share of starts without interruption when o is
// driven at the given mean overlap: the mixture of the shares of the same two
// rows that f mixes there. NaN where f is undefined.
func (f Frontier) zeroShareAt(o Outcomes, overlap float64) float64 {
	a, b, share := f.mix(overlap)
	if math.IsNaN(share) {
		return math.NaN()
	}
	return between(zeroShare(o.X[f.vertices[a].Row]), zeroShare(o.X[f.vertices[b].Row]), share)
}

func zeroShare(xs []float64) float64 {
	zero := 0
	for _, x := range xs {
		if x <= zeroHours {
			zero++
		}
	}
	return float64(zero) / float64(len(xs))
}

// GapOverlaps are the mean overlaps, in hours, over which the gap closed is
// averaged.
var GapOverlaps = [...]float64{1, 2, 4}

// noGap is the difference between constant and oracle, in hours, below which
// there is nothing to close: one second.
const noGap = 1.0 / 3600

// GapClosed returns how far policy goes from constant to oracle:
//
//	(I_constant(O) - I_policy(O)) / (I_constant(O) - I_oracle(O)),
//
// averaged over [GapOverlaps]. 0 is no better than a constant lead, 1 is
// perfect, below 0 is worse than a constant lead.
//
// An overlap at which the constant lead is as good as the oracle (within a
// second) is left out, for every policy alike. The result is NaN when all are
// left out, and when policy cannot be held to one of the others.
func GapClosed(constant, policy, oracle Frontier) float64 {
	return gapClosed(constant.levels(), policy.levels(), oracle.levels())
}

// levels are the interruptions of a frontier at GapOverlaps.
type levels [len(GapOverlaps)]float64

func (f Frontier) levels() levels {
	var l levels
	for i, overlap := range GapOverlaps {
		l[i] = f.At(overlap)
	}
	return l
}

func gapClosed(constant, policy, oracle levels) float64 {
	sum, n := 0.0, 0
	for i := range GapOverlaps {
		gap := constant[i] - oracle[i]
		if gap < noGap {
			continue
		}
		sum += (constant[i] - policy[i]) / gap
		n++
	}
	return sum / float64(n)
}

// isGap reports whether there is anything to close at any of the overlaps.
func isGap(constant, oracle levels) bool {
	for i := range GapOverlaps {
		if constant[i]-oracle[i] >= noGap {
			return true
		}
	}
	return false
}
