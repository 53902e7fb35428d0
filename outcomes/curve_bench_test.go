package outcomes_test

import (
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
)

// BenchmarkCurve makes a 97-point curve every twelve hours of February 2023 on
// the Lonestar6 log.
func BenchmarkCurve(b *testing.B) {
	h, err := traces.Load(shared.Path(b, "traces/ls6-a100-to-2023-02.log"), traces.Options{})
	if err != nil {
		b.Fatal(err)
	}
	w, err := simulator.FromHistory(h.Jobs, 76)
	if err != nil {
		b.Fatal(err)
	}
	cluster := simulator.Config{
		Pools: []simulator.Pool{{Nodes: 76}}, Order: simulator.PublishedOrder(),
		Backfill: simulator.SlurmBackfill, Slurm: simulator.Published(),
	}
	for name, nodes := range map[string]int32{"1 node": 1, "8 nodes": 8} {
		b.Run(name, func(b *testing.B) {
			const starts = 46 // every 12 hours of February, less the last days
			var prober outcomes.Prober
			for b.Loop() {
				s, err := simulator.New(cluster, w.Jobs)
				if err != nil {
					b.Fatal(err)
				}
				first := segue.TimeOf(time.Date(2023, 2, 1, 0, 0, 0, 0, time.UTC))
				for i := range starts {
					s.AdvanceTo(first.Add(time.Duration(i) * 12 * time.Hour))
					link := simulator.Job{Limit: 48 * time.Hour, Nodes: nodes, User: int32(len(w.Users))}
					if _, err := prober.Curve(s, link, outcomes.Grid{}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N)/starts, "ms/curve")
		})
	}
}
