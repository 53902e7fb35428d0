package simulator_test

import (
	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/simulator"
)

// checkForks replays the jobs on forks only: the simulation is cut at every
// instant, and a fork of a fork goes on. Wherever the cut lies, the remaining
// life of the cluster must be the same, as far as its running jobs show it.
func checkForks(t reporter, cfg simulator.Config, jobs []simulator.Job) {
	t.Helper()
	whole, err := simulator.New(cfg, jobs)
	if err != nil {
		t.Fatalf("%v", err)
	}
	cut := whole.Fork(nil)
	for step := 0; ; step++ {
		cut = cut.Fork(nil)
		at, more := whole.Step()
		again, moreInFork := cut.Step()
		if at != again || more != moreInFork {
			t.Fatalf("step %d is at %v in the simulation and at %v in its fork", step, at, again)
		}
		if !more {
			return
		}
		for _, sim := range []*simulator.Sim{whole, cut} {
			if err := simulator.Audit(sim); err != nil {
				t.Fatalf("%v", err)
			}
		}
		for pool := range cfg.Pools {
			if diff := cmp.Diff(whole.Snapshot(pool), cut.Snapshot(pool)); diff != "" {
				t.Fatalf("the fork differs after step %d (at %s) (-simulation +fork):\n%s", step, clock(at), diff)
			}
		}
	}
}
