package trees_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
)

// Offsets in queue's file, whose objective has 12 characters and whose booster
// has 6.
const (
	atObjective = 136
	atEnsemble  = atObjective + 8 + 12 + 8 + 6
	atTree      = atEnsemble + 160
	atNodes     = atTree + 148
)

func encoded(t testing.TB) []byte {
	t.Helper()
	data, err := trees.Encode(queue())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestForeignOrDamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	put := func(at int, value uint32) func([]byte) []byte {
		return func(data []byte) []byte {
			binary.LittleEndian.PutUint32(data[at:], value)
			return data
		}
	}
	tests := map[string]func(data []byte) []byte{
		"empty":                        func([]byte) []byte { return nil },
		"JSON":                         func([]byte) []byte { return []byte(`{"learner": {}}`) },
		"with the magic of XGBoost":    func(data []byte) []byte { return append([]byte("binf"), data...) },
		"one byte more":                func(data []byte) []byte { return append(data, 0) },
		"4 billion features":           put(4, math.MaxUint32),
		"three classes":                put(8, 3),
		"an objective without end":     put(atObjective+4, math.MaxUint32),
		"another booster":              func(data []byte) []byte { copy(data[atEnsemble-6:], "gblike"); return data },
		"no trees":                     put(atEnsemble, 0),
		"2 billion trees":              put(atEnsemble, math.MaxInt32),
		"-1 trees":                     put(atEnsemble, math.MaxUint32),
		"no roots":                     put(atEnsemble+4, 0),
		"three outputs":                put(atEnsemble+24, 3),
		"no nodes":                     put(atTree+4, 0),
		"2 billion nodes":              put(atTree+4, math.MaxInt32),
		"-1 nodes":                     put(atTree+4, math.MaxUint32),
		"deleted nodes":                put(atTree+8, 1),
		"a root with a parent":         put(atNodes, 0),
		"a child beyond the tree":      put(atNodes+4, 5),
		"a child that leads back":      put(atNodes+2*20+4, 0),
		"half a leaf":                  put(atNodes+4, math.MaxUint32),
		"a feature beyond the row":     put(atNodes+12, 2),
		"a threshold that is NaN":      put(atNodes+16, math.Float32bits(nan)),
		"a threshold below all":        put(atNodes+16, math.Float32bits(-inf)),
		"a threshold above all":        put(atNodes+16, math.Float32bits(math.MaxFloat32)),
		"an infinite leaf":             put(atNodes+20+16, math.Float32bits(inf)),
		"a base that is NaN":           put(0, math.Float32bits(nan)),
		"statistics where there are 0": put(atNodes+5*20, 1),
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := trees.Read(damage(encoded(t))); segue.KindOf(err) != segue.Corrupt {
				t.Errorf("error is %v, want one of kind corrupt", err)
			}
		})
	}
}

func TestFileCutShortIsRefused(t *testing.T) {
	t.Parallel()
	data := encoded(t)
	for size := range data {
		if _, err := trees.Read(data[:size]); segue.KindOf(err) != segue.Corrupt {
			t.Errorf("the first %d of %d bytes: error is %v, want one of kind corrupt", size, len(data), err)
		}
	}
}

// TestFlippedBitIsRefusedOrHarmless flips every bit of a file in turn: what is
// still read has the shape of a model and gives a number.
func TestFlippedBitIsRefusedOrHarmless(t *testing.T) {
	t.Parallel()
	data := encoded(t)
	refused := 0
	for bit := range 8 * len(data) {
		flipped := slices.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if !survives(t, flipped) {
			refused++
		}
	}
	// Only the numbers of nodes, the base and the objective may change unseen.
	numbers := 8 * (4 + 12 + 9*4 + 3*4)
	if least := 8*len(data) - numbers; refused < least {
		t.Errorf("%d of %d flipped bits were refused, want at least %d", refused, 8*len(data), least)
	}
}

// survives reports whether data is read, and then uses what was read.
func survives(t *testing.T, data []byte) bool {
	t.Helper()
	e, err := trees.Read(data)
	if err != nil {
		if segue.KindOf(err) != segue.Corrupt {
			t.Errorf("error %v is not of kind corrupt", err)
		}
		return false
	}
	for _, value := range []float32{0, nan, 1e30, -1e30} {
		row := slices.Repeat([]float32{value}, e.Features())
		margin := e.Margin(row)
		for _, tree := range e.PerTree(row, nil) {
			if math.IsNaN(tree) || math.IsInf(tree, 0) {
				t.Errorf("a tree gives %v", tree)
			}
		}
		if math.IsNaN(margin) || math.IsInf(margin, 0) {
			t.Errorf("the margin is %v", margin)
		}
	}
	return true
}

func FuzzRead(f *testing.F) {
	data := encoded(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("binf"))
	forest := queue()
	for range 5 {
		forest.Trees = append(forest.Trees, forest.Trees...)
	}
	large, err := trees.Encode(forest)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(large)
	for at := 0; at < len(data); at += 97 {
		flipped := slices.Clone(data)
		flipped[at] ^= 0x80
		f.Add(flipped)
	}
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, data) })
}
