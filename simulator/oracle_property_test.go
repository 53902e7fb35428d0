package simulator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue/simulator"
)

// plainJobs draws whole-node jobs with many ties, on a grid of minutes.
func plainJobs(nodes int) *rapid.Generator[[]simulator.Job] {
	job := rapid.Custom(func(t *rapid.T) simulator.Job {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		return simulator.Job{
			Submit: minutes(rapid.IntRange(0, 20).Draw(t, "submit")),
			Run:    time.Duration(rapid.IntRange(0, limit+1).Draw(t, "run")) * time.Minute,
			Limit:  time.Duration(limit) * time.Minute,
			Nodes:  int32(rapid.IntRange(1, nodes).Draw(t, "nodes")),
			User:   int32(rapid.IntRange(0, 2).Draw(t, "user")),
		}
	})
	return rapid.SliceOfN(job, 1, 30)
}

func TestEveryStartAgreesWithANaiveSimulator(t *testing.T) {
	t.Parallel()
	for _, backfill := range []simulator.Backfill{
		simulator.NoBackfill, simulator.EASY, simulator.Conservative, simulator.SlurmBackfill,
	} {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				cfg := simulator.Config{
					Pools:    []simulator.Pool{{Name: "batch", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes")}},
					Backfill: backfill, Slurm: drawSlurm(t),
				}
				cfg.CleanUp = drawCleanUp(t, cfg)
				cfg.Slurm.MainInterval = time.Minute
				cfg.Slurm.BackfillInterval = max(cfg.Slurm.BackfillInterval, time.Minute)
				cfg.Slurm.Resolution = max(cfg.Slurm.Resolution, time.Minute)
				jobs := plainJobs(cfg.Pools[0].Nodes).Draw(t, "jobs")
				got, err := simulator.Replay(cfg, jobs, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := newOracle(cfg, jobs, time.Minute).starts()
				if diff := cmp.Diff(want, ticks(got.Starts, time.Minute)); diff != "" {
					t.Fatalf("starts (-naive +simulator):\n%s", diff)
				}
			})
		})
	}
}
