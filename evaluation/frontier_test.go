package evaluation_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue/evaluation"
)

// nearly compares floats, and Numbers as floats, within rounding.
var nearly = cmp.Options{
	cmp.Transformer("float64", func(n evaluation.Number) float64 { return float64(n) }),
	cmpopts.EquateApprox(0, 1e-9),
	cmpopts.EquateNaNs(),
}

func TestFrontierIsTheLowerHullOfItsPoints(t *testing.T) {
	t.Parallel()
	// The corners are (0,10), (2,4) and (4,3): (3,9) lies above the line
	// between its neighbours, (6,3) has more overlap for the same
	// interruption, (8,5) has more of both.
	f := evaluation.NewFrontier([]evaluation.Point{
		{Overlap: 8, Interruption: 5},
		{Overlap: 0, Interruption: 10},
		{Overlap: 3, Interruption: 9},
		{Overlap: 2, Interruption: 4},
		{Overlap: 6, Interruption: 3},
		{Overlap: 4, Interruption: 3},
	})
	want := []evaluation.Vertex{
		{Point: evaluation.Point{Overlap: 0, Interruption: 10}, Row: 1},
		{Point: evaluation.Point{Overlap: 2, Interruption: 4}, Row: 3},
		{Point: evaluation.Point{Overlap: 4, Interruption: 3}, Row: 5},
	}
	if diff := cmp.Diff(want, f.Vertices()); diff != "" {
		t.Errorf("vertices (-want +got):\n%s", diff)
	}
	for overlap, want := range map[float64]float64{
		-1: math.NaN(), 0: 10, 0.5: 8.5, 1: 7, 2: 4, 3: 3.5, 4: 3, 100: 3,
	} {
		if diff := cmp.Diff(want, f.At(overlap), nearly); diff != "" {
			t.Errorf("interruption at overlap %v (-want +got):\n%s", overlap, diff)
		}
	}
}

func TestFrontierOfOnePointIsFlatToTheRightAndUndefinedToTheLeft(t *testing.T) {
	t.Parallel()
	f := evaluation.NewFrontier([]evaluation.Point{{Overlap: 1.5, Interruption: 2}})
	got := []float64{f.At(1), f.At(1.5), f.At(8)}
	if diff := cmp.Diff([]float64{math.NaN(), 2, 2}, got, nearly); diff != "" {
		t.Errorf("at 1, 1.5 and 8 h (-want +got):\n%s", diff)
	}
}

func TestFrontierWithoutPointsIsUndefinedEverywhere(t *testing.T) {
	t.Parallel()
	if got := evaluation.NewFrontier(nil).At(1); !math.IsNaN(got) {
		t.Errorf("got %v, want NaN", got)
	}
}

func TestFrontierIsConvexFallingAndBelowEveryPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.OneOf(rapid.Float64Range(0, 20), rapid.Map(rapid.IntRange(0, 4), func(i int) float64 { return float64(i) }))
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) evaluation.Point {
			return evaluation.Point{Overlap: coordinate.Draw(t, "overlap"), Interruption: coordinate.Draw(t, "interruption")}
		}), 1, 30).Draw(t, "points")
		f := evaluation.NewFrontier(points)

		corners := f.Vertices()
		slope := math.Inf(-1)
		for i := 1; i < len(corners); i++ {
			a, b := corners[i-1], corners[i]
			if b.Overlap <= a.Overlap || b.Interruption >= a.Interruption {
				t.Fatalf("corner %+v does not fall to the right of %+v", b, a)
			}
			next := (b.Interruption - a.Interruption) / (b.Overlap - a.Overlap)
			if next < slope-1e-9*math.Abs(slope) {
				t.Fatalf("slope %v after %v is not convex", next, slope)
			}
			slope = next
		}
		for _, v := range corners {
			if points[v.Row] != v.Point {
				t.Fatalf("corner %+v is not row %d, %+v", v.Point, v.Row, points[v.Row])
			}
		}
		for _, p := range points {
			if at := f.At(p.Overlap); !(at <= p.Interruption+1e-9) {
				t.Fatalf("frontier is %v at %+v", at, p)
			}
		}

		shuffled := append([]evaluation.Point(nil), points...)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		g := evaluation.NewFrontier(shuffled)
		for overlap := 0.0; overlap <= 20; overlap += 0.7 {
			if diff := cmp.Diff(f.At(overlap), g.At(overlap), nearly); diff != "" {
				t.Fatalf("another order of the points changes the frontier at %v:\n%s", overlap, diff)
			}
		}
	})
}

// line is a frontier from (0, from) that falls by slope per hour to 0.
func line(from, slope float64) evaluation.Frontier {
	return evaluation.NewFrontier([]evaluation.Point{{Interruption: from}, {Overlap: from / slope}})
}

func TestGapClosed(t *testing.T) {
	t.Parallel()
	constant := line(10, 1) // 9, 8, 6 at 1, 2, 4 h
	oracle := line(5, 1)    // 4, 3, 1
	for name, test := range map[string]struct {
		constant, policy, oracle evaluation.Frontier
		want                     float64
	}{
		"the constant lead closes nothing": {constant, constant, oracle, 0},
		"the oracle closes everything":     {constant, oracle, oracle, 1},
		"half way everywhere":              {constant, line(7.5, 1), oracle, 0.5},
		// 2, 0, 0 h: gains of 7, 8, 6 over gaps of 5.
		"better than the oracle is not cut": {constant, line(4, 2), oracle, (1.4 + 1.6 + 1.2) / 3},
		"worse than the constant lead":      {constant, line(12.5, 1), oracle, -0.5},
		"cannot be held to 1 h": {
			constant, evaluation.NewFrontier([]evaluation.Point{{Overlap: 1.5}}), oracle, math.NaN(),
		},
		// Constant is at 1, 0, 0 h and oracle at 0, 0, 0 h: only 1 h counts.
		"overlaps with nothing to gain do not count": {line(2, 1), line(1.5, 1), line(0.5, 1), 0.5},
		"nothing to gain anywhere":                   {line(0.5, 1), line(0.5, 1), line(0.5, 1), math.NaN()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluation.GapClosed(test.constant, test.policy, test.oracle)
			if diff := cmp.Diff(test.want, got, nearly); diff != "" {
				t.Errorf("gap closed (-want +got):\n%s", diff)
			}
		})
	}
}
