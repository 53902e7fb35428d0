package trees_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
)

// queue is a model small enough to work out by hand: tree 0 splits feature 0 at
// 3 and, above it, feature 1 at -2.5; tree 1 splits feature 1 at 0; tree 2 is
// one leaf.
func queue() *trees.Model {
	return &trees.Model{
		Objective: "survival:aft", Features: 2, Base: 100,
		Trees: []trees.Tree{
			{
				{Left: 1, Right: 2, Feature: 0, Value: 3},
				{Value: 1},
				{Left: 3, Right: 4, Feature: 1, MissingLeft: true, Value: -2.5},
				{Value: 2},
				{Value: 4},
			},
			{
				{Left: 1, Right: 2, Feature: 1, Value: 0},
				{Value: 8},
				{Value: 16},
			},
			{{Value: 32}},
		},
	}
}

func read(t testing.TB, m *trees.Model) *trees.Ensemble {
	t.Helper()
	data, err := trees.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	e, err := trees.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRowsTakeThePathsOfTheModel(t *testing.T) {
	t.Parallel()
	e := read(t, queue())
	tests := map[string]struct {
		row  []float32
		want []float64 // of each tree
	}{
		"below every threshold":          {[]float32{0, -3}, []float64{1, 8, 32}},
		"above every threshold":          {[]float32{5, 5}, []float64{4, 16, 32}},
		"on the first threshold":         {[]float32{3, -3}, []float64{2, 8, 32}},
		"just below the first threshold": {[]float32{math.Nextafter32(3, 0), -3}, []float64{1, 8, 32}},
		"on every threshold":             {[]float32{3, -2.5}, []float64{4, 8, 32}},
		"on the threshold 0":             {[]float32{5, 0}, []float64{4, 16, 32}},
		"on it from below":               {[]float32{5, float32(math.Copysign(0, -1))}, []float64{4, 16, 32}},
		"just below the threshold 0":     {[]float32{5, -math.SmallestNonzeroFloat32}, []float64{4, 8, 32}},
		"first feature missing":          {[]float32{nan, -3}, []float64{2, 8, 32}},
		"second feature missing":         {[]float32{5, nan}, []float64{2, 16, 32}},
		"infinite":                       {[]float32{inf, -inf}, []float64{2, 8, 32}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := e.Clone()
			if diff := cmp.Diff(test.want, e.PerTree(test.row, nil)); diff != "" {
				t.Errorf("trees of %v (-want +got):\n%s", test.row, diff)
			}
			want := 100 + test.want[0] + test.want[1] + test.want[2]
			if got := e.Margin(test.row); got != want {
				t.Errorf("margin of %v: %v, want %v", test.row, got, want)
			}
		})
	}
}

func TestEnsembleKnowsItsModel(t *testing.T) {
	t.Parallel()
	e := read(t, queue())
	if e.Features() != 2 || e.Trees() != 3 || e.Base() != 100 || e.Objective() != "survival:aft" {
		t.Errorf("%d features, %d trees, base %v, objective %q", e.Features(), e.Trees(), e.Base(), e.Objective())
	}
}

func TestRowOfAnotherLengthPanics(t *testing.T) {
	t.Parallel()
	e := read(t, queue())
	for _, row := range [][]float32{nil, {1}, {1, 2, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a row of %d values was taken", len(row))
				}
			}()
			e.Margin(row)
		}()
	}
}

func TestMarginAllocatesNothing(t *testing.T) {
	e := read(t, queue())
	row := []float32{5, nan}
	out := e.PerTree(row, nil)
	got := testing.AllocsPerRun(100, func() {
		e.Margin(row)
		out = e.PerTree(row, out)
	})
	if got != 0 {
		t.Errorf("%v allocations for a row, want none", got)
	}
}

func TestAnyModelIsEvaluatedAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		data, err := trees.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		e, err := trees.Read(data)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			row := make([]float32, m.Features)
			for i := range row {
				row[i] = drawValue(t)
			}
			each := make([]float64, len(m.Trees))
			want := float64(m.Base)
			for i, tree := range m.Trees {
				each[i] = follow(tree, row)
				want += each[i]
			}
			if diff := cmp.Diff(each, e.PerTree(row, nil)); diff != "" {
				t.Fatalf("trees of %v (-want +got):\n%s", row, diff)
			}
			if got := e.Margin(row); got != want {
				t.Fatalf("margin of %v: %v, want %v", row, got, want)
			}
		}
	})
}

// follow evaluates a tree as its comments define it.
func follow(tree trees.Tree, row []float32) float64 {
	n := tree[0]
	for !n.Leaf() {
		left := row[n.Feature] < n.Value
		if row[n.Feature] != row[n.Feature] {
			left = n.MissingLeft
		}
		if left {
			n = tree[n.Left]
		} else {
			n = tree[n.Right]
		}
	}
	return float64(n.Value)
}

func drawModel(t *rapid.T) *trees.Model {
	m := &trees.Model{
		Objective: "reg:squarederror",
		Features:  rapid.IntRange(1, 5).Draw(t, "features"),
		Base:      drawLeaf(t),
	}
	for range rapid.IntRange(1, 5).Draw(t, "trees") {
		m.Trees = append(m.Trees, drawTree(t, m.Features))
	}
	return m
}

// drawTree grows a tree by splitting leaves, so that children of one node are
// not always neighbours and some branches are deep.
func drawTree(t *rapid.T, features int) trees.Tree {
	tree := trees.Tree{{Value: drawLeaf(t)}}
	for range rapid.IntRange(0, 20).Draw(t, "splits") {
		at := rapid.IntRange(0, len(tree)-1).Draw(t, "leaf")
		if !tree[at].Leaf() {
			continue
		}
		left, right := len(tree), len(tree)+1
		if rapid.Bool().Draw(t, "swapped") {
			left, right = right, left
		}
		tree[at] = trees.Node{
			Left: left, Right: right,
			Feature:     rapid.IntRange(0, features-1).Draw(t, "feature"),
			MissingLeft: rapid.Bool().Draw(t, "missing left"),
			Value:       drawThreshold(t),
		}
		tree = append(tree, trees.Node{Value: drawLeaf(t)}, trees.Node{Value: drawLeaf(t)})
	}
	return tree
}

// drawThreshold and drawValue often draw the same number.
func drawThreshold(t *rapid.T) float32 {
	return float32(rapid.IntRange(-3, 3).Draw(t, "threshold"))
}

func drawValue(t *rapid.T) float32 {
	v := float32(rapid.IntRange(-3, 3).Draw(t, "value"))
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return nan
	case 1:
		return math.Nextafter32(v, -inf)
	case 2:
		return rapid.Float32().Draw(t, "any value")
	}
	return v
}

func drawLeaf(t *rapid.T) float32 { return rapid.Float32Range(-1000, 1000).Draw(t, "leaf value") }

func TestModelThatBreaksARuleIsNotEncoded(t *testing.T) {
	t.Parallel()
	tests := map[string]func(m *trees.Model){
		"no objective":              func(m *trees.Model) { m.Objective = "" },
		"a long objective":          func(m *trees.Model) { m.Objective = string(make([]byte, 65)) },
		"a blank in the objective":  func(m *trees.Model) { m.Objective = "survival aft" },
		"no features":               func(m *trees.Model) { m.Features = 0 },
		"too many features":         func(m *trees.Model) { m.Features = trees.MaxFeatures + 1 },
		"no base":                   func(m *trees.Model) { m.Base = nan },
		"no trees":                  func(m *trees.Model) { m.Trees = nil },
		"an empty tree":             func(m *trees.Model) { m.Trees[1] = nil },
		"feature beyond the row":    func(m *trees.Model) { m.Trees[0][0].Feature = 2 },
		"feature below the row":     func(m *trees.Model) { m.Trees[0][0].Feature = -1 },
		"child beyond the tree":     func(m *trees.Model) { m.Trees[0][0].Right = 5 },
		"child below the tree":      func(m *trees.Model) { m.Trees[0][0].Right = -1 },
		"its own child":             func(m *trees.Model) { m.Trees[0][2].Left = 2 },
		"two parents":               func(m *trees.Model) { m.Trees[0][2].Left = 1 },
		"twice the same child":      func(m *trees.Model) { m.Trees[0][2].Left = 4 },
		"one child":                 func(m *trees.Model) { m.Trees[0][2].Left = 0 },
		"a node without a parent":   func(m *trees.Model) { m.Trees[0][0] = trees.Node{Value: 1} },
		"an infinite leaf":          func(m *trees.Model) { m.Trees[2][0].Value = inf },
		"a threshold that is none":  func(m *trees.Model) { m.Trees[0][0].Value = nan },
		"nothing below a threshold": func(m *trees.Model) { m.Trees[0][0].Value = -math.MaxFloat32 },
		"a leaf with a feature":     func(m *trees.Model) { m.Trees[2][0].Feature = 1 },
		"a leaf with a default":     func(m *trees.Model) { m.Trees[2][0].MissingLeft = true },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := queue()
			spoil(m)
			if _, err := trees.Encode(m); segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want one of kind invalid", err)
			}
		})
	}
}
