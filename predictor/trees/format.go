package trees

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/segue-project/segue"
)

// The layout, all little-endian, from XGBoost 0.90's src/learner.cc,
// src/gbm/gbtree_model.h and include/xgboost/tree_model.h, as leaves mirrors
// them in internal/xgbin:
//
//	header     base f32, features u32, classes i32, 31 reserved words
//	strings    objective, booster: length u64, characters
//	ensemble   trees i32, roots i32, features i32, pad i32, i64, groups i32, 33 reserved words
//	each tree  roots i32, nodes i32, deleted i32, depth i32, features i32, 32 reserved words
//	           nodes: parent i32, left i32, right i32, feature u32, value f32
//	           statistics: 16 bytes for each node, all 0 here
//	groups     i32 for each tree, all 0
//
// Two things differ from what XGBoost wrote. The base is a margin, since leaves
// adds it to the margin as it stands. And leaves goes left if x <= threshold,
// XGBoost if x < threshold: the file holds the next float32 below, which means
// the same for every float32 x.
const (
	headerSize   = 136
	ensembleSize = 160
	treeSize     = 148
	nodeSize     = 20
	statsSize    = 16

	booster    = "gbtree"
	isLeft     = 1 << 31 // in a node's parent: it is the left child
	defaultBit = 1 << 31 // in a node's feature: a missing value goes left
	noNode     = ^uint32(0)
)

// Encode returns m in the format that Read reads. A model that breaks a rule of
// its types is refused with an error of kind Invalid that names the rule.
func Encode(m *Model) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, segue.Errorf(segue.Invalid, "encode trees: %w", err)
	}
	return m.appendTo(nil), nil
}

// appendTo appends the encoded model to dst. The model has been checked.
func (m *Model) appendTo(dst []byte) []byte {
	features := uint32(m.Features)
	dst = words(dst, headerSize, math.Float32bits(m.Base), features)
	dst = text(dst, m.Objective)
	dst = text(dst, booster)
	dst = words(dst, ensembleSize, uint32(len(m.Trees)), 1, features, 0, 0, 0, 1)
	for _, t := range m.Trees {
		dst = words(dst, treeSize, 1, uint32(len(t)), 0, 0, features)
		dst = t.appendTo(dst)
	}
	return append(dst, make([]byte, 4*len(m.Trees))...)
}

// appendTo appends the nodes and their statistics to dst.
func (t Tree) appendTo(dst []byte) []byte {
	parents := make([]uint32, len(t))
	parents[0] = noNode
	for i, n := range t {
		if n.Leaf() {
			dst = words(dst, nodeSize, parents[i], noNode, noNode, 0, math.Float32bits(n.Value))
			continue
		}
		parents[n.Left], parents[n.Right] = uint32(i)|isLeft, uint32(i)
		feature := uint32(n.Feature)
		if n.MissingLeft {
			feature |= defaultBit
		}
		dst = words(dst, nodeSize, parents[i], uint32(n.Left), uint32(n.Right), feature, math.Float32bits(below(n.Value)))
	}
	return append(dst, make([]byte, statsSize*len(t))...)
}

// words appends values to dst, and zeros up to size bytes.
func words(dst []byte, size int, values ...uint32) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return append(dst, make([]byte, size-4*len(values))...)
}

func text(dst []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, uint64(len(s))), s...)
}

// decode is the inverse of Encode, and refuses every input that Encode does not
// write: with that one comparison no field needs a check of its own beyond what
// keeps the reading in bounds.
func decode(data []byte) (*Model, error) {
	m, err := take(data)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if !bytes.Equal(m.appendTo(make([]byte, 0, len(data))), data) {
		return nil, errors.New("this is not as segue writes tree ensembles")
	}
	return m, nil
}

var errShort = errors.New("it ends too early")

// take reads the fields that matter. It reserves no more memory than in
// proportion to data.
func take(data []byte) (*Model, error) {
	rest := cursor{data: data}
	header := rest.next(headerSize)
	objective := rest.text()
	name := rest.text()
	ensemble := rest.next(ensembleSize)
	if rest.short {
		return nil, errShort
	}
	if name != booster {
		return nil, errors.New("this is no ensemble of XGBoost's gbtree")
	}
	m := &Model{
		Objective: objective,
		Features:  int(word(header, 1)),
		Base:      math.Float32frombits(word(header, 0)),
	}
	for range word(ensemble, 0) {
		size := int64(word(rest.next(treeSize), 1))
		nodes := rest.next(size * nodeSize)
		rest.next(size * statsSize)
		if rest.short {
			return nil, errShort
		}
		m.Trees = append(m.Trees, takeTree(nodes))
	}
	return m, nil
}

func takeTree(nodes []byte) Tree {
	t := make(Tree, len(nodes)/nodeSize)
	for i := range t {
		fields := nodes[i*nodeSize:]
		value := math.Float32frombits(word(fields, 4))
		if left := word(fields, 1); left != noNode {
			t[i] = Node{
				Left:        int(left),
				Right:       int(word(fields, 2)),
				Feature:     int(word(fields, 3) &^ defaultBit),
				MissingLeft: word(fields, 3)&defaultBit != 0,
				Value:       above(value),
			}
			continue
		}
		t[i] = Node{Value: value}
	}
	return t
}

// word returns the i-th 32-bit word of fields, 0 beyond their end.
func word(fields []byte, i int) uint32 {
	if len(fields) < 4*i+4 {
		return 0
	}
	return binary.LittleEndian.Uint32(fields[4*i:])
}

// cursor walks through data; short is set when data ended too early.
type cursor struct {
	data  []byte
	short bool
}

// next returns the next size bytes, nothing when there are fewer.
func (c *cursor) next(size int64) []byte {
	if c.short || size > int64(len(c.data)) {
		c.short = true
		return nil
	}
	taken := c.data[:size]
	c.data = c.data[size:]
	return taken
}

func (c *cursor) text() string {
	length := c.next(8)
	if c.short {
		return ""
	}
	return string(c.next(int64(min(binary.LittleEndian.Uint64(length), maxObjective+1))))
}
