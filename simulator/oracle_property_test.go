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
		}
	})
	return rapid.SliceOfN(job, 1, 30)
}

func TestEveryStartAgreesWithANaiveSimulator(t *testing.T) {
	t.Parallel()
	for _, backfill := range []simulator.Backfill{simulator.NoBackfill, simulator.EASY, simulator.Conservative} {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				cfg := simulator.Config{
					Pools:    []simulator.Pool{{Name: "batch", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes")}},
					Backfill: backfill,
				}
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
