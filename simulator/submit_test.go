package simulator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

func oneNode(backfill simulator.Backfill) simulator.Config {
	return simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 1, GPUsPerNode: 4}}, Backfill: backfill}
}

func newSim(t *testing.T, cfg simulator.Config, jobs ...simulator.Job) *simulator.Sim {
	t.Helper()
	s, err := simulator.New(cfg, jobs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func submit(t *testing.T, s *simulator.Sim, j simulator.Job) simulator.Ref {
	t.Helper()
	ref, err := s.Submit(j)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func hours(n float64) simulator.Job {
	d := time.Duration(n * float64(time.Hour))
	return simulator.Job{Nodes: 1, Run: d, Limit: d}
}

func TestSubmittedJobsMayDependOnAnyOther(t *testing.T) {
	t.Parallel()
	s := newSim(t, simulator.Config{Pools: []simulator.Pool{{Nodes: 4}}}, hours(2))
	s.AdvanceTo(minutes(60))
	next := hours(1)
	next.After = []simulator.Dependency{{Job: 0, Kind: simulator.AfterOK}}
	second := submit(t, s, next)
	next.After[0].Job = second
	fork := s.Fork(nil)
	third := submit(t, fork, next)
	fork.Run()
	for ref, want := range map[simulator.Ref]segue.Time{second: minutes(120), third: minutes(180)} {
		if got := fork.StartOf(ref); got != want {
			t.Errorf("job %d starts at %s, want %s", ref, clock(got), clock(want))
		}
	}
	s.Run()
	if got := s.EndOf(second); got != minutes(180) {
		t.Errorf("in the parent it ends at %s, want 3h", clock(got))
	}
}

func TestForksThatAddDifferentJobsKnowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	base := newSim(t, simulator.Config{Pools: []simulator.Pool{{Nodes: 2}}, Limits: simulator.Limits{MaxRunningJobs: 1}}, hours(1))
	base.AdvanceTo(minutes(10))
	first, second := base.Fork(nil), base.Fork(nil)
	for user, s := range []*simulator.Sim{first, second} {
		j := hours(1)
		j.User = int32(10 + 90*user)
		a, b := submit(t, s, j), submit(t, s, j)
		s.Run()
		if s.StartOf(a) != minutes(10) || s.StartOf(b) != minutes(70) {
			t.Errorf("fork %d: starts at %s and %s, want 10m and 1h10m", user, clock(s.StartOf(a)), clock(s.StartOf(b)))
		}
	}
}

func TestCancelTakesAJobFromWhereverItIs(t *testing.T) {
	t.Parallel()
	s := newSim(t, oneNode(simulator.Conservative), hours(5), hours(1))
	held := hours(1)
	held.After = []simulator.Dependency{{Job: 1}}
	later := hours(1)
	later.Submit = minutes(600)
	s.AdvanceTo(minutes(60))
	heldRef, laterRef, last := submit(t, s, held), submit(t, s, later), submit(t, s, hours(1))
	s.AdvanceTo(minutes(61))
	for _, ref := range []simulator.Ref{0, laterRef, heldRef} {
		if !s.Cancel(ref) {
			t.Errorf("job %d was not cancelled", ref)
		}
	}
	if s.Cancel(0) {
		t.Error("job 0 was cancelled twice")
	}
	s.Run()
	got := map[simulator.Ref][2]segue.Time{}
	for _, ref := range []simulator.Ref{0, 1, heldRef, laterRef, last} {
		got[ref] = [2]segue.Time{s.StartOf(ref), s.EndOf(ref)}
	}
	want := map[simulator.Ref][2]segue.Time{
		0: {minutes(0), minutes(61)}, 1: {minutes(61), minutes(121)}, last: {minutes(121), minutes(181)},
		heldRef: {segue.NoTime, minutes(61)}, laterRef: {segue.NoTime, minutes(61)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("starts and ends (-want +got):\n%s", diff)
	}
}

func TestClockStaysAtTheLastEventWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	s := newSim(t, oneNode(simulator.EASY), hours(1))
	s.Run()
	if s.Now() != minutes(60) {
		t.Errorf("the clock is at %s, want 1h", clock(s.Now()))
	}
	never := submit(t, s, simulator.Job{Nodes: 1, Run: time.Hour, Limit: time.Hour, Submit: minutes(300)})
	if _, ok := s.RunUntilStarted(never, minutes(200)); ok || s.Now() != minutes(200) {
		t.Errorf("the clock is at %s, want 3h20m", clock(s.Now()))
	}
	if start, ok := s.RunUntilStarted(never, segue.Never); !ok || start != minutes(300) {
		t.Errorf("it starts at %s, want 5h", clock(start))
	}
}

func TestJobPreemptedInTheInstantOfItsStartHasNotStarted(t *testing.T) {
	t.Parallel()
	cfg := oneNode(simulator.NoBackfill)
	cfg.Partitions = []simulator.Partition{{Preempt: simulator.PreemptRequeue}, {Tier: 1}}
	high := hours(1)
	high.Partition = 1
	high.After = []simulator.Dependency{{Job: 1, Kind: simulator.After}}
	s := newSim(t, cfg, high, simulator.Job{Nodes: 1, Run: time.Hour, Limit: time.Hour, Submit: minutes(60)})
	ref := submit(t, s, simulator.Job{Nodes: 1, Run: time.Hour, Limit: time.Hour, Submit: minutes(60)})
	if start, ok := s.RunUntilStarted(ref, segue.Never); !ok || start < minutes(60) || s.StartOf(ref) != start {
		t.Errorf("it starts at %s (%v)", clock(start), ok)
	}
}

func TestUnlimitedJobsInALongQueueOverflowNothing(t *testing.T) {
	t.Parallel()
	for backfill := simulator.NoBackfill; backfill <= simulator.SlurmBackfill; backfill++ {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			jobs := make([]simulator.Job, 2000)
			for i := range jobs {
				jobs[i] = simulator.Job{Submit: 1 << 60, Nodes: 1, Run: time.Hour, Limit: segue.Unlimited}
				if i%100 == 0 {
					jobs[i].Run = segue.Unlimited
				}
			}
			got, err := simulator.Replay(oneNode(backfill), jobs, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, end := range got.Ends {
				if !end.Known() || end < jobs[i].Submit {
					t.Fatalf("job %d ends at %d", i, int64(end))
				}
			}
		})
	}
}

func TestPartsOfNodesCanBeSubmittedWhereNoneWereBefore(t *testing.T) {
	t.Parallel()
	for backfill := simulator.NoBackfill; backfill <= simulator.SlurmBackfill; backfill++ {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			s := newSim(t, oneNode(backfill), hours(1))
			s.AdvanceTo(minutes(30))
			half := hours(1)
			half.GPUsPerNode = 2
			first, second, third := submit(t, s, half), submit(t, s, half), submit(t, s, half)
			s.Run()
			got := []segue.Time{s.StartOf(first), s.StartOf(second), s.StartOf(third)}
			if diff := cmp.Diff([]segue.Time{minutes(60), minutes(60), minutes(120)}, got); diff != "" {
				t.Errorf("starts (-want +got):\n%s", diff)
			}
		})
	}
}

// What a snapshot cannot tell is left out: whether the last main pass was cut short
// by its depth, after which the next full one comes by itself.
func TestForwardFromASnapshotSeesWhatTheSimulationDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		backfill := simulator.Backfill(rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "backfill"))
		cfg := simulator.Config{
			Pools:    []simulator.Pool{{Name: "batch", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes")}},
			Backfill: backfill, Slurm: drawSlurm(t),
		}
		cfg.Slurm.QueueDepth = 1000
		jobs := plainJobs(cfg.Pools[0].Nodes).Draw(t, "jobs")
		for i := range jobs {
			jobs[i].Run = jobs[i].Limit
		}
		s, err := simulator.New(cfg, jobs)
		if err != nil {
			t.Fatal(err)
		}
		s.AdvanceTo(minutes(rapid.IntRange(0, 30).Draw(t, "at")).Add(time.Second))
		snap := s.Snapshot(0)
		f, err := simulator.NewForward(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Load(&snap); err != nil {
			t.Fatal(err)
		}
		request := segue.Request{User: "0", Shape: segue.Shape{Nodes: rapid.IntRange(1, cfg.Pools[0].Nodes).Draw(t, "request"), Limit: 7 * time.Minute}}
		wait, err := f.Wait(request, simulator.Future{Horizon: 1000 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		fork := s.Fork(nil)
		fork.StopArrivals()
		ref, err := fork.Submit(simulator.Job{Nodes: int32(request.Nodes), Run: request.Limit, Limit: request.Limit})
		if err != nil {
			t.Fatal(err)
		}
		start, ok := fork.RunUntilStarted(ref, segue.Never)
		if want := start.Sub(s.Now()); !ok || wait != want {
			t.Errorf("the snapshot gives a wait of %s, the simulation %s", wait, want)
		}
	})
}

func TestForwardPacksRunningPartsOfNodes(t *testing.T) {
	t.Parallel()
	snap := segue.Snapshot{At: minutes(60), Nodes: 2, GPUsPerNode: 4}
	for i, gpus := range []int{1, 3, 2, 2} {
		snap.Running = append(snap.Running, segue.QueuedJob{
			ID: segue.JobID{Number: int64(i)}, Start: minutes(0),
			Request: segue.Request{Shape: segue.Shape{Nodes: 1, GPUsPerNode: gpus, Limit: time.Duration(2+i) * time.Hour}},
		})
	}
	f, err := simulator.NewForward(simulator.Config{Pools: []simulator.Pool{{Nodes: 2, GPUsPerNode: 4}}, Backfill: simulator.EASY})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Load(&snap); err != nil {
		t.Fatal(err)
	}
	// The parts fill two nodes: {3, 1} until 3h, {2, 2} until 5h.
	wait, err := f.Wait(segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}}, simulator.Future{Horizon: 100 * time.Hour})
	if err != nil || wait != 2*time.Hour {
		t.Errorf("a whole node is free after %s (%v), want 2h", wait, err)
	}
}
