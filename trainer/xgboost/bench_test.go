//go:build native

package xgboost_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/trainer/xgboost"
)

// BenchmarkTrain trains 100 rounds on 20,000 rows of 30 features.
func BenchmarkTrain(b *testing.B) {
	data, labels := ties(1, parityRows, parityCols)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				m := matrix(b, data, parityCols)
				setTargets(b, m, xgboost.AFT, labels)
				booster, err := xgboost.Train(context.Background(), xgboost.Config{Objective: xgboost.AFT, Rounds: 100, Threads: threads}, m, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
				booster.Close()
				m.Close()
			}
		})
	}
}

// BenchmarkEnsemble exports, reads and evaluates real ensembles.
func BenchmarkEnsemble(b *testing.B) {
	data, labels := ties(1, parityRows, parityCols)
	m := matrix(b, data, parityCols)
	setTargets(b, m, xgboost.SquaredError, labels)
	forest := xgboost.Forest(200)
	forest.MaxDepth = 10
	for name, cfg := range map[string]xgboost.Config{"boosted=300x6": {Rounds: 300}, "forest=200x10": forest} {
		doc := saved(b, train(b, cfg, m))
		file, err := xgboost.Export(doc)
		if err != nil {
			b.Fatal(err)
		}
		e, err := trees.Read(file)
		if err != nil {
			b.Fatal(err)
		}
		row := func(i int) []float32 { return data[i%parityRows*parityCols:][:parityCols] }
		b.Run(name+"/Export", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if _, err := xgboost.Export(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/Read", func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := trees.Read(file); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/Margin", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.Margin(row(i))
			}
		})
		b.Run(name+"/PerTree", func(b *testing.B) {
			b.ReportAllocs()
			var out []float64
			for i := 0; b.Loop(); i++ {
				out = e.PerTree(row(i), out)
			}
		})
	}
}
