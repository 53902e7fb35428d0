package simulator_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
)

// replayed reports jobs a second of whole replays.
func replayed(b *testing.B, cfg simulator.Config, jobs []simulator.Job) {
	b.Helper()
	for b.Loop() {
		if _, err := simulator.Replay(cfg, jobs, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(jobs))*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func BenchmarkReplay(b *testing.B) {
	b.Run("Lonestar6/slurm", func(b *testing.B) {
		replayed(b, ls6Cluster(76), ls6Jobs(b, 76))
	})
	b.Run("KTH-SP2/easy", func(b *testing.B) {
		jobs, _ := swfJobs(b, shared.Path(b, "traces/KTH-SP2-1996.swf"), 100)
		replayed(b, simulator.Config{Pools: []simulator.Pool{{Nodes: 100}}, Backfill: simulator.EASY}, jobs)
	})
	b.Run("Lublin-256/conservative", func(b *testing.B) {
		jobs, _ := swfJobs(b, shared.Path(b, "traces/lublin-256.swf"), 256)
		replayed(b, simulator.Config{Pools: []simulator.Pool{{Nodes: 256}}, Backfill: simulator.Conservative, Events: simulator.PerEvent}, jobs)
	})
	for _, backfill := range []simulator.Backfill{simulator.EASY, simulator.SlurmBackfill} {
		b.Run("10000 nodes/"+backfill.String(), func(b *testing.B) {
			replayed(b, simulator.Config{Pools: []simulator.Pool{{Nodes: 10_000}}, Backfill: backfill}, bigWorkload(1_000_000, 10_000))
		})
	}
}

// bigWorkload asks for about the whole machine, in jobs of 1 to 256 nodes that
// mostly run far below their limits.
func bigWorkload(n, nodes int) []simulator.Job {
	rng := rand.New(rand.NewPCG(1, 2))
	jobs := make([]simulator.Job, n)
	at := 0.0 // seconds
	for i := range jobs {
		size := int32(1) << rng.IntN(9)
		limit := time.Duration(1+rng.IntN(48)) * 30 * time.Minute
		run := time.Duration(float64(limit) * rng.Float64() * rng.Float64())
		jobs[i] = simulator.Job{
			Submit: segue.Seconds(int64(at)), Run: max(run, time.Second), Limit: limit, Nodes: size, User: int32(rng.IntN(500)),
		}
		// A mean job takes 57 nodes for 0.25 of 12.25 hours.
		at += rng.ExpFloat64() * 57 * 0.25 * 12.25 * 3600 / float64(nodes)
	}
	return jobs
}

// congested returns the Lonestar6 cluster at a busy hour of February.
func congested(b *testing.B) *simulator.Sim {
	b.Helper()
	s, err := simulator.New(ls6Cluster(76), ls6Jobs(b, 76))
	if err != nil {
		b.Fatal(err)
	}
	s.AdvanceTo(segue.TimeOf(time.Date(2023, 2, 17, 18, 0, 0, 0, time.UTC)))
	return s
}

func BenchmarkFork(b *testing.B) {
	s := congested(b)
	b.Run("state", func(b *testing.B) {
		var fork *simulator.Sim
		for b.Loop() {
			fork = s.Fork(fork)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "forks/s")
	})
	b.Run("until a submission starts", func(b *testing.B) {
		var fork *simulator.Sim
		for b.Loop() {
			fork = s.Fork(fork)
			ref, err := fork.Submit(simulator.Job{Run: 48 * time.Hour, Limit: 48 * time.Hour, Nodes: 1, Submit: s.Now()})
			if err != nil {
				b.Fatal(err)
			}
			fork.RunUntilStarted(ref, segue.Never)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "forks/s")
	})
}
