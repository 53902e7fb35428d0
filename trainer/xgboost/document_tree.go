package xgboost

import (
	"fmt"
	"slices"

	"github.com/segue-project/segue/predictor/trees"
)

// jsonTree is one tree of the document: parallel lists with an entry for every
// node. Nodes that pruning removed are still there, but nothing leads to them.
type jsonTree struct {
	Left            []int32   `json:"left_children"`  // -1 in a leaf
	Right           []int32   `json:"right_children"` // -1 in a leaf
	SplitIndices    []int32   `json:"split_indices"`
	SplitConditions []float32 `json:"split_conditions"` // in a leaf: its value
	SplitTypes      []int32   `json:"split_type"`       // 0: numerical
	DefaultLeft     []int32   `json:"default_left"`
	LossChanges     []float32 `json:"loss_changes"`
	CategoryNodes   []int32   `json:"categories_nodes"`
}

func (t *jsonTree) leaf(node int32) bool { return t.Left[node] < 0 }

// categorical reports whether a split looks at categories.
func (t *jsonTree) categorical() bool {
	return len(t.CategoryNodes) > 0 || slices.ContainsFunc(t.SplitTypes, func(typ int32) bool { return typ != 0 })
}

// tree returns the tree with its nodes numbered in preorder.
func (t *jsonTree) tree(features int) (trees.Tree, error) {
	order, err := t.preorder(features)
	if err != nil {
		return nil, err
	}
	number := make([]int, len(t.Left))
	for i, node := range order {
		number[node] = i
	}
	planted := make(trees.Tree, len(order))
	for i, node := range order {
		planted[i].Value = t.SplitConditions[node]
		if !t.leaf(node) {
			planted[i].Left = number[t.Left[node]]
			planted[i].Right = number[t.Right[node]]
			planted[i].Feature = int(t.SplitIndices[node])
			planted[i].MissingLeft = t.DefaultLeft[node] != 0
		}
	}
	return planted, nil
}

// preorder returns the nodes that the root leads to, every parent before its
// children, and an error if they are no tree of splits on features.
func (t *jsonTree) preorder(features int) ([]int32, error) {
	if err := t.sameLength(); err != nil {
		return nil, err
	}
	nodes := int32(len(t.Left))
	met := make([]bool, nodes)
	order := make([]int32, 0, nodes)
	for ahead := []int32{0}; len(ahead) > 0; {
		node := ahead[len(ahead)-1]
		ahead = ahead[:len(ahead)-1]
		if node < 0 || node >= nodes || met[node] {
			return nil, fmt.Errorf("child %d of %d nodes is out of place", node, nodes)
		}
		met[node] = true
		order = append(order, node)
		if t.leaf(node) {
			continue
		}
		if feature := t.SplitIndices[node]; feature < 0 || int(feature) >= features {
			return nil, fmt.Errorf("node %d: feature %d of %d", node, feature, features)
		}
		ahead = append(ahead, t.Right[node], t.Left[node])
	}
	return order, nil
}

func (t *jsonTree) sameLength() error {
	nodes := len(t.Left)
	lengths := [...]int{len(t.Right), len(t.SplitIndices), len(t.SplitConditions), len(t.DefaultLeft), len(t.LossChanges)}
	for _, length := range lengths {
		if length != nodes || nodes == 0 {
			return fmt.Errorf("%d nodes, with lists of %v entries", nodes, lengths)
		}
	}
	return nil
}
