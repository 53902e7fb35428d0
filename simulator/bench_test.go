package simulator_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
)

// BenchmarkReplay replays real and synthetic histories. The simulator is
// single-threaded, so that jobs/s are those of one core.
func BenchmarkReplay(b *testing.B) {
	b.Run("Lonestar6/slurm", func(b *testing.B) { replay(b, ls6Cluster(), ls6Jobs(b)) })
	b.Run("Lonestar6/slurm-and-a-cap", func(b *testing.B) {
		cfg := ls6Cluster()
		cfg.Limits.MaxRunningJobs = 8
		replay(b, cfg, ls6Jobs(b))
	})
	b.Run("KTH-SP2/none", func(b *testing.B) { replaySWF(b, kth, 100, simulator.NoBackfill) })
	b.Run("KTH-SP2/easy", func(b *testing.B) { replaySWF(b, kth, 100, simulator.EASY) })
	b.Run("KTH-SP2/conservative", func(b *testing.B) { replaySWF(b, kth, 100, simulator.Conservative) })
	b.Run("Lublin-256/easy", func(b *testing.B) { replaySWF(b, lublin, 256, simulator.EASY) })
	b.Run("Lublin-256/conservative", func(b *testing.B) { replaySWF(b, lublin, 256, simulator.Conservative) })
}

// BenchmarkLargeReplay replays a million jobs on 10,000 nodes. At 85 % load 28 %
// of the jobs wait for more than ten minutes and up to 3,600 wait at once; at
// 97 % the queue never empties.
func BenchmarkLargeReplay(b *testing.B) {
	for _, load := range []struct {
		name string
		part float64
	}{{"load-85", 0.85}, {"load-97", 0.97}} {
		jobs := largeWorkload(1_000_000, 10_000, load.part)
		for _, backfill := range []simulator.Backfill{simulator.EASY, simulator.SlurmBackfill} {
			b.Run(load.name+"/"+backfill.String(), func(b *testing.B) {
				replay(b, simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 10_000}}, Backfill: backfill}, jobs)
			})
		}
	}
}

// BenchmarkNaivePeer replays the same jobs by the simulator and by the naive one
// of the tests, which looks at every tick.
func BenchmarkNaivePeer(b *testing.B) {
	jobs := largeWorkload(200, 64, 0.9)
	for i := range jobs {
		jobs[i].Submit -= jobs[i].Submit % minutes(1)
		jobs[i].Run = jobs[i].Run.Truncate(time.Minute)
	}
	cfg := simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 64}}, Backfill: simulator.EASY}
	b.Run("simulator", func(b *testing.B) { replay(b, cfg, jobs) })
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			newOracle(cfg, jobs, time.Minute).starts()
		}
		perSecond(b, len(jobs), "jobs/s")
	})
}

// BenchmarkFork asks "what if it were submitted now" in the most congested state
// of the Lonestar6 log.
func BenchmarkFork(b *testing.B) {
	congested := congestedLonestar6(b)
	link := simulator.Job{Nodes: 8, Run: 48 * time.Hour, Limit: 48 * time.Hour}
	b.Run("copy", func(b *testing.B) {
		var fork *simulator.Sim
		for b.Loop() {
			fork = congested.Fork(fork)
		}
		perSecond(b, 1, "forks/s")
	})
	b.Run("until-it-starts", func(b *testing.B) {
		var fork *simulator.Sim
		for b.Loop() {
			fork = congested.Fork(fork)
			fork.StopArrivals()
			submitAndRun(b, fork, link)
		}
		perSecond(b, 1, "forks/s")
	})
	b.Run("curve-of-97", func(b *testing.B) {
		var world, fork *simulator.Sim
		for b.Loop() {
			world = congested.Fork(world)
			for lead := range 97 {
				world.AdvanceTo(congested.Now().Add(time.Duration(lead) * 30 * time.Minute))
				fork = world.Fork(fork)
				submitAndRun(b, fork, link)
			}
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms/curve")
	})
}

func submitAndRun(b *testing.B, s *simulator.Sim, j simulator.Job) {
	b.Helper()
	ref, err := s.Submit(j)
	if err != nil {
		b.Fatal(err)
	}
	if _, ok := s.RunUntilStarted(ref, segue.Never); !ok {
		b.Fatal("it never starts")
	}
}

func replay(b *testing.B, cfg simulator.Config, jobs []simulator.Job) {
	b.Helper()
	for b.Loop() {
		if _, err := simulator.Replay(cfg, jobs, nil); err != nil {
			b.Fatal(err)
		}
	}
	perSecond(b, len(jobs), "jobs/s")
}

func replaySWF(b *testing.B, trace string, nodes int, backfill simulator.Backfill) {
	b.Helper()
	jobs, _ := swfJobs(b, shared.Path(b, trace), int64(nodes))
	replay(b, simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}, Backfill: backfill}, jobs)
}

func perSecond(b *testing.B, n int, unit string) {
	b.Helper()
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), unit)
}

// congestedLonestar6 returns the day's beginning with the most jobs waiting.
func congestedLonestar6(b *testing.B) *simulator.Sim {
	b.Helper()
	jobs := ls6Jobs(b)
	s, err := simulator.New(ls6Cluster(), jobs)
	if err != nil {
		b.Fatal(err)
	}
	var congested *simulator.Sim
	most := 0
	for day := range 140 {
		s.AdvanceTo(jobs[0].Submit.Add(time.Duration(day*24) * time.Hour))
		if n := len(s.Snapshot(0).Pending); n > most {
			most, congested = n, s.Fork(nil)
		}
	}
	return congested
}

// largeWorkload draws jobs, mostly small ones, with a daily cycle whose peaks
// are half above its mean. load is the part of the nodes that they would keep
// busy.
func largeWorkload(n int, nodes int32, load float64) []simulator.Job {
	rng := rand.New(rand.NewPCG(7, 7))
	limits := [...]int{1, 2, 4, 8, 12, 24, 48}
	jobs := make([]simulator.Job, n)
	area := 0.0
	for i := range jobs {
		limit := time.Duration(limits[rng.IntN(len(limits))]) * time.Hour
		size := int32(1) << min(int(rng.ExpFloat64()*1.4), 10)
		run := time.Duration(float64(limit) * min(1.05, rng.ExpFloat64()*0.4)).Truncate(time.Second)
		jobs[i] = simulator.Job{Run: run, Limit: limit, Nodes: min(size, nodes), User: int32(rng.IntN(500))}
		area += float64(jobs[i].Nodes) * min(run, limit).Seconds()
	}
	gap := area / float64(n) / float64(nodes) / load // mean seconds between submissions
	at := 0.0
	for i := range jobs {
		at += rng.ExpFloat64() * gap / (1 + 0.5*math.Sin(at/86400*2*math.Pi))
		jobs[i].Submit = segue.Seconds(int64(at))
	}
	return jobs
}
