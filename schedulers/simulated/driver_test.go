package simulated_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/schedulertest"
	"github.com/segue-project/segue/schedulers/simulated"
	"github.com/segue-project/segue/simulator"
)

var noon = segue.Seconds(1676376000) // 2023-02-14 12:00 UTC

// newDriver returns a cluster of nodes on which a submission runs as its
// arguments say: seconds, and an exit code.
func newDriver(t *testing.T, nodes int) *simulated.Driver {
	t.Helper()
	cfg := simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}, Backfill: simulator.EASY}
	sim, err := simulator.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	sim.AdvanceTo(noon)
	d, err := simulated.New(sim, cfg, func(s schedulers.Submission) simulated.Run {
		run, err := time.ParseDuration(s.Args[0])
		if err != nil {
			t.Error(err)
		}
		code, err := strconv.Atoi(s.Args[1])
		if err != nil {
			t.Error(err)
		}
		return simulated.Run{For: run, ExitCode: code}
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConformance(t *testing.T) {
	t.Parallel()
	d := newDriver(t, 4)
	schedulertest.Run(t, schedulertest.Harness{
		Driver: d, Nodes: 4,
		Job: func(nodes int, limit, run time.Duration, exitCode int) schedulers.Submission {
			return schedulers.Submission{
				Submission: segue.Submission{Args: []string{run.String(), strconv.Itoa(exitCode)}},
				Request:    segue.Request{Shape: segue.Shape{Nodes: nodes, Limit: limit}, User: "ada"},
			}
		},
		Pass: func(by time.Duration) { d.Advance(d.Now().Add(by)) },
	})
}
