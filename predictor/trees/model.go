package trees

import (
	"fmt"
	"math"

	"github.com/segue-project/segue"
)

// The bounds of what Encode writes and Read accepts. They keep the memory of a
// model in proportion to its bytes.
const (
	MaxFeatures  = 1 << 16 // Ensemble holds one row of features
	maxObjective = 64      // characters of Model.Objective
)

// Model is an ensemble of regression trees as it was trained.
type Model struct {
	// Objective is what the trees were trained for, such as "survival:aft": 1 to
	// 64 characters of printable ASCII. It is kept for people and changes no
	// result.
	Objective string
	// Features is the number of values in a row, 1 to MaxFeatures.
	Features int
	// Base is the margin before the first tree.
	Base float32
	// Trees are added up: at least one.
	Trees []Tree
}

// Tree is a binary tree. Its root is node 0; every other node is the child of
// exactly one node, which stands before it.
type Tree []Node

// Node is a split or a leaf.
type Node struct {
	// Left and Right are the indices of the children of a split, both 0 in a
	// leaf.
	Left, Right int
	// Feature is the index of the value that a split looks at, 0 in a leaf.
	Feature int
	// MissingLeft says that a row without the value (NaN) goes left.
	MissingLeft bool
	// Value is the threshold of a split: a row goes left if its value is below
	// it. In a leaf, Value is what the tree adds to the margin.
	Value float32
}

// Leaf reports whether the node has no children.
func (n Node) Leaf() bool { return n.Left == 0 && n.Right == 0 }

// check returns an error of kind Invalid that names the first rule that m
// breaks.
func (m *Model) check() error {
	switch {
	case m.Objective == "" || len(m.Objective) > maxObjective || !printable(m.Objective):
		return segue.Errorf(segue.Invalid, "objective %.70q is not 1 to %d characters of printable ASCII", m.Objective, maxObjective)
	case m.Features < 1 || m.Features > MaxFeatures:
		return segue.Errorf(segue.Invalid, "%d features, want 1 to %d", m.Features, MaxFeatures)
	case !finite(m.Base):
		return segue.Errorf(segue.Invalid, "the base margin is %v", m.Base)
	case len(m.Trees) == 0:
		return segue.Errorf(segue.Invalid, "no trees")
	}
	for i, t := range m.Trees {
		if err := t.check(m.Features); err != nil {
			return segue.Errorf(segue.Invalid, "tree %d: %w", i, err)
		}
	}
	return nil
}

// check wants every node but the root to have one parent, which stands before
// it: then the nodes are one tree. A row of features values is enough for it.
func (t Tree) check(features int) error {
	if len(t) == 0 {
		return fmt.Errorf("no nodes")
	}
	hasParent := make([]bool, len(t))
	for i, n := range t {
		if i > 0 && !hasParent[i] {
			return fmt.Errorf("node %d is no child of a node before it", i)
		}
		if !finite(n.Value) {
			return fmt.Errorf("node %d: its value is %v", i, n.Value)
		}
		if n.Leaf() {
			if n.Feature != 0 || n.MissingLeft {
				return fmt.Errorf("node %d: a leaf looks at feature %d", i, n.Feature)
			}
			continue
		}
		if n.Feature < 0 || n.Feature >= features {
			return fmt.Errorf("node %d: feature %d of %d", i, n.Feature, features)
		}
		if !finite(below(n.Value)) {
			return fmt.Errorf("node %d: no number is below its threshold %v", i, n.Value)
		}
		for _, child := range [...]int{n.Left, n.Right} {
			if child <= i || child >= len(t) || hasParent[child] {
				return fmt.Errorf("node %d of %d: its child %d is out of place", i, len(t), child)
			}
			hasParent[child] = true
		}
	}
	return nil
}

// below returns the greatest float32 that is less than v.
func below(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(-1))) }

// above returns the least float32 that is greater than v.
func above(v float32) float32 { return math.Nextafter32(v, float32(math.Inf(1))) }

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
