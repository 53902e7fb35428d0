package simulator_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// promises drives a simulation and remembers, for each job, the earliest start
// that was promised to it.
type promises map[simulator.Ref]segue.Time

func (p promises) keep(ref simulator.Ref, at segue.Time) {
	if first, ok := p[ref]; !ok || at < first {
		p[ref] = at
	}
}

func (p promises) check(t *rapid.T, r simulator.Result) {
	for ref, at := range p {
		if r.Starts[ref] > at {
			t.Errorf("job %d starts at %s, was promised %s", ref, clock(r.Starts[ref]), clock(at))
		}
	}
}

func TestEASYNeverDelaysTheReservationOfTheHead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := simulator.Config{
			Pools:    []simulator.Pool{{Nodes: rapid.IntRange(1, 8).Draw(t, "nodes")}},
			Backfill: simulator.EASY, Events: drawEvents(t, simulator.EASY),
		}
		s, err := simulator.New(cfg, plainJobs(cfg.Pools[0].Nodes).Draw(t, "jobs"))
		if err != nil {
			t.Fatal(err)
		}
		promised := promises{}
		for _, more := s.Step(); more; _, more = s.Step() {
			snap := s.Snapshot(0)
			if len(snap.Pending) > 0 {
				head := &snap.Pending[0]
				promised.keep(simulator.Ref(head.ID.Number), headStart(&snap, head.Nodes))
			}
		}
		promised.check(t, s.Result())
	})
}

// headStart returns the first instant at which so many nodes are free if every
// running job lasts to its limit.
func headStart(snap *segue.Snapshot, nodes int) segue.Time {
	instants := []segue.Time{snap.At}
	for _, r := range snap.Running {
		instants = append(instants, r.Start.Add(r.Limit))
	}
	first := segue.Never
	for _, at := range instants {
		free := snap.Nodes
		for _, r := range snap.Running {
			if r.Start.Add(r.Limit) > at {
				free -= r.Nodes
			}
		}
		if free >= nodes && at < first {
			first = at
		}
	}
	return first
}

func TestConservativeDelaysNoReservation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := simulator.Config{
			Pools:    []simulator.Pool{{Nodes: rapid.IntRange(1, 8).Draw(t, "nodes")}},
			Backfill: simulator.Conservative, Events: drawEvents(t, simulator.Conservative),
		}
		s, err := simulator.New(cfg, plainJobs(cfg.Pools[0].Nodes).Draw(t, "jobs"))
		if err != nil {
			t.Fatal(err)
		}
		promised := promises{}
		for _, more := s.Step(); more; _, more = s.Step() {
			for ref, at := range simulator.Planned(s) {
				promised.keep(ref, at)
			}
		}
		promised.check(t, s.Result())
	})
}

// Where Conservative plans anew at every pass, as with shared nodes, a job
// submitted later changes no start of an earlier one, if all run to their
// limits.
func TestConservativeOnSharedNodesIsBlindToLaterJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := simulator.Config{Pools: []simulator.Pool{{Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"), GPUsPerNode: 4}}, Backfill: simulator.Conservative}
		jobs := plainJobs(cfg.Pools[0].Nodes).Draw(t, "jobs")
		for i := range jobs {
			jobs[i].GPUsPerNode = int32(rapid.IntRange(0, 4).Draw(t, "GPUs"))
			jobs[i].Run = jobs[i].Limit
		}
		jobs = append(jobs, simulator.Job{GPUsPerNode: 1, Nodes: 1, Run: 1e9, Limit: 1e9, Submit: jobs[0].Submit})
		all, err := simulator.Replay(cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for i := range jobs {
			if jobs[i].Submit >= jobs[last].Submit {
				last = i
			}
		}
		fewer := append(append([]simulator.Job(nil), jobs[:last]...), jobs[last+1:]...)
		without, err := simulator.Replay(cfg, fewer, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, start := range append(append([]segue.Time(nil), all.Starts[:last]...), all.Starts[last+1:]...) {
			if start != without.Starts[i] {
				t.Fatalf("job %d starts at %s, without the last job at %s", i, clock(start), clock(without.Starts[i]))
			}
		}
	})
}
