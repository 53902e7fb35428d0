package trees_test

import (
	"math/rand/v2"
	"testing"

	"github.com/segue-project/segue/predictor/trees"
)

// forest returns a forest of fully grown trees: so many of so many leaves, each
// split between two halves of what its node holds.
func forest(count, leaves, features int) *trees.Model {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &trees.Model{Objective: "reg:squarederror", Features: features}
	for range count {
		var t trees.Tree
		var grow func(leaves int) int
		grow = func(leaves int) int {
			at := len(t)
			t = append(t, trees.Node{Value: rng.Float32()})
			if leaves > 1 {
				left := grow(leaves / 2)
				right := grow(leaves - leaves/2)
				t[at] = trees.Node{Left: left, Right: right, Feature: rng.IntN(features), Value: rng.Float32()}
			}
			return at
		}
		grow(leaves)
		m.Trees = append(m.Trees, t)
	}
	return m
}

// BenchmarkDeepForest reads and asks a forest such as the published method's: 100
// trees of 1,500 leaves on 6,048 numbers.
func BenchmarkDeepForest(b *testing.B) {
	data, err := trees.Encode(forest(100, 1500, 6048))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := trees.Read(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("margin", func(b *testing.B) {
		e, err := trees.Read(data)
		if err != nil {
			b.Fatal(err)
		}
		row := make([]float32, e.Features())
		for i := range row {
			row[i] = float32(i%97) / 97
		}
		b.ReportAllocs()
		for b.Loop() {
			e.Margin(row)
		}
	})
}
