package simulator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue/simulator"
)

// everyPass replays with passes at every minute, or at every point of Slurm's
// grid.
func everyPass(t reporter, cfg simulator.Config, jobs []simulator.Job) simulator.Result {
	t.Helper()
	s, err := simulator.New(cfg, jobs)
	if err != nil {
		t.Fatalf("%v", err)
	}
	simulator.RunEveryPass(s, time.Minute)
	return s.Result()
}

func TestPassesThatAreSkippedWouldHaveStartedNothing(t *testing.T) {
	t.Parallel()
	for backfill := simulator.NoBackfill; backfill <= simulator.SlurmBackfill; backfill++ {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				cfg := cluster(t, backfill, simulator.PerInstant)
				cfg.Slurm.QueueDepth = 100 // or every main pass would look at others
				jobs := anyJobs(t, cfg)
				got, err := simulator.Replay(cfg, jobs, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(everyPass(t, cfg, jobs), got); diff != "" {
					t.Errorf("results (-every pass +simulator):\n%s", diff)
				}
			})
		})
	}
}

func TestPassesThatAreSkippedWouldHaveStartedNothingOnLonestar6(t *testing.T) {
	t.Parallel()
	jobs := ls6Jobs(t)[:3000]
	for name, slurm := range map[string]simulator.SlurmParameters{
		"as published": simulator.Published(), "with Slurm's defaults": {}, "with few tests": {MaxJobTest: 20, MaxJobUser: 5},
		"rounded outward": {RoundOutward: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := ls6Cluster()
			cfg.Slurm = slurm
			cfg.Slurm.QueueDepth = 10_000
			got, err := simulator.Replay(cfg, jobs, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(everyPass(t, cfg, jobs), got); diff != "" {
				t.Errorf("results (-every pass +simulator):\n%s", diff)
			}
		})
	}
}
