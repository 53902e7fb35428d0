package synthetic_test

import (
	"testing"

	"github.com/segue-project/segue/traces/synthetic"
)

func BenchmarkGenerate(b *testing.B) {
	for name, cfg := range map[string]synthetic.Config{
		"76 nodes":              {},
		"1000 nodes":            {Nodes: 1000, Users: 4000},
		"1000 nodes, GPUs each": {Nodes: 1000, Users: 4000, PartNode: 0.6},
	} {
		b.Run(name, func(b *testing.B) {
			cfg.Jobs = b.N
			jobs, err := synthetic.Generate(cfg)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for range jobs {
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
