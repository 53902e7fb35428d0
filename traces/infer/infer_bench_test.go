package infer_test

import (
	"testing"

	"github.com/segue-project/segue/traces/infer"
	"github.com/segue-project/segue/traces/synthetic"
)

func BenchmarkInfer(b *testing.B) {
	const jobs = 200_000
	history, err := synthetic.Jobs(synthetic.Config{Jobs: jobs, Nodes: 1000, Users: 4000})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		infer.Infer(history, infer.Config{})
	}
	b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
