package simulator_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/simulator"
)

// batches makes a queue up as clusters have them: some jobs that need half of
// all nodes and more, and behind them batches of equal small ones.
func batches(r *rand.Rand, nodes int) []simulator.Job {
	var jobs []simulator.Job
	for range 12 {
		j := simulator.Job{
			Submit: minutes(r.IntN(30)), Nodes: 1 + r.Int32N(2), User: r.Int32N(3), Limit: time.Duration(2+r.IntN(18)) * time.Minute,
		}
		copies := 1 + r.IntN(16)
		if r.IntN(3) == 0 {
			j.Nodes, copies = int32(nodes/2+r.IntN(nodes/2+1)), 1
		}
		for range copies {
			j.Run = time.Duration(1+r.IntN(int(j.Limit/time.Minute))) * time.Minute
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func TestLongQueuesAgreeWithANaiveSimulator(t *testing.T) {
	t.Parallel()
	const nodes = 24
	for seed := range uint64(60) {
		cfg := simulator.Config{
			Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}, Backfill: simulator.SlurmBackfill,
			Slurm: simulator.SlurmParameters{
				MainInterval: time.Minute, BackfillInterval: 2 * time.Minute, Resolution: 2 * time.Minute, Window: time.Hour,
				CycleInterval: time.Minute, MaxJobTest: 1000, QueueDepth: 1000,
			},
		}
		jobs := batches(rand.New(rand.NewPCG(seed, 0)), nodes)
		got, err := simulator.Replay(cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := newOracle(cfg, jobs, time.Minute).starts()
		if diff := cmp.Diff(want, ticks(got.Starts, time.Minute)); diff != "" {
			t.Errorf("seed %d, %d jobs: starts (-naive +simulator):\n%s", seed, len(jobs), diff)
		}
	}
}
