package predictor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Where every job does run to its limit and nobody else comes, what is forecast
// by the limits is what happens.
func TestForwardByLimitsForetellsAClusterWhereLimitsAreMet(t *testing.T) {
	t.Parallel()
	for _, backfill := range []simulator.Backfill{simulator.NoBackfill, simulator.EASY, simulator.SlurmBackfill} {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.IntRange(1, 6).Draw(t, "cluster")
				cluster := clusterOf(nodes, backfill)
				jobs := drawJobs(t, nodes, 2)
				for i := range jobs {
					jobs[i].Run = jobs[i].Limit
				}
				r := replay(t, cluster, jobs)
				r.AdvanceTo(at(time.Duration(rapid.IntRange(1, 3*24*60).Draw(t, "now, minutes")) * minute))
				req := request(rapid.IntRange(1, nodes).Draw(t, "request"))
				got := forecastOf(t, forward(t, cluster, predictor.Limits{}), r.present(), req)
				if diff := cmp.Diff([]time.Duration{min(happens(t, r, req), 14*day)}, got.Waits); diff != "" {
					t.Fatalf("forecast differs (-what happens +forecast):\n%s", diff)
				}
			})
		})
	}
}

// happens returns the wait of the request if it is submitted now and nobody
// comes later.
func happens(t *rapid.T, r *replayed, req segue.Request) time.Duration {
	fork := r.Fork(nil)
	fork.StopArrivals()
	ref, err := fork.Submit(simulator.Job{Submit: r.Now(), Run: req.Limit, Limit: req.Limit, Nodes: int32(req.Nodes), User: 3})
	if err != nil {
		t.Fatal(err)
	}
	start, ok := fork.RunUntilStarted(ref, r.Now().Add(100*day))
	if !ok {
		t.Fatal("the request never starts")
	}
	return start.Sub(r.Now())
}

func TestForwardByHand(t *testing.T) {
	t.Parallel()
	two, three := pending("ada", 6*hour), pending("ben", 9*hour)
	two.Nodes, three.Nodes = 2, 3
	waiting := func(q segue.QueuedJob) segue.QueuedJob { q.Eligible = segue.NoTime; return q }
	tests := map[string]struct {
		nodes   int
		running []segue.QueuedJob
		pending []segue.QueuedJob
		req     segue.Request
		want    time.Duration
	}{
		"an empty cluster":                      {nodes: 1, req: request(1)},
		"the last free node":                    {nodes: 2, running: []segue.QueuedJob{running("ada", 9*hour, hour)}, req: request(1)},
		"the only node is taken":                {nodes: 1, running: []segue.QueuedJob{running("ada", 9*hour, 2*hour)}, req: request(1), want: 7 * hour},
		"behind a job that waits":               {nodes: 2, running: []segue.QueuedJob{running("ada", 9*hour, 2*hour)}, pending: []segue.QueuedJob{two}, req: request(1), want: 13 * hour},
		"a job that could never start":          {nodes: 2, pending: []segue.QueuedJob{three}, req: request(2)},
		"a job that is not eligible":            {nodes: 2, pending: []segue.QueuedJob{waiting(two)}, req: request(2)},
		"more nodes than there are":             {nodes: 2, req: request(3), want: 14 * day},
		"a running job over its limit":          {nodes: 1, running: []segue.QueuedJob{running("ada", 9*hour, 10*hour)}, req: request(1), want: minute},
		"a running job without a limit":         {nodes: 1, running: []segue.QueuedJob{running("ada", segue.Unlimited, 10*hour)}, req: request(1), want: 14 * day},
		"more runs than the nodes in service":   {nodes: 1, running: []segue.QueuedJob{running("ada", 9*hour, 2*hour), running("ben", 9*hour, 5*hour)}, req: request(1), want: 4 * hour},
		"no node in service, and nothing is on": {nodes: 0, req: request(1)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := predictor.Present{History: &predictor.History{}, Owner: "asker", Snapshot: segue.Snapshot{
				At: tenthDay, Nodes: tt.nodes, Running: tt.running, Pending: tt.pending,
			}}
			cluster := clusterOf(max(tt.nodes, 1), simulator.NoBackfill)
			for _, f := range newForecasters(t, cluster)[2:] {
				if got := forecastOf(t, f, now, tt.req); got.Quantile(0) != tt.want && f.Name() == "forward-limits" {
					t.Errorf("%s: a wait of %s, want %s", f.Name(), got.Quantile(0), tt.want)
				}
			}
		})
	}
}

func TestForwardOnSharedNodes(t *testing.T) {
	t.Parallel()
	cluster := simulator.Config{Pools: []simulator.Pool{{Name: "gpus", Nodes: 1, GPUsPerNode: 4}}, Backfill: simulator.EASY}
	part := func(gpus int, elapsed time.Duration) segue.QueuedJob {
		q := running("ada", 9*hour, elapsed)
		q.GPUsPerNode = gpus
		return q
	}
	tests := map[string]struct {
		running []segue.QueuedJob
		gpus    int // of the request; 0 for the whole node
		want    time.Duration
	}{
		"a free GPU":                    {[]segue.QueuedJob{part(2, hour), part(1, hour)}, 1, 0},
		"not enough free GPUs":          {[]segue.QueuedJob{part(2, hour), part(1, 2*hour)}, 2, 7 * hour},
		"the whole node":                {[]segue.QueuedJob{part(2, hour), part(1, 2*hour)}, 0, 8 * hour},
		"part of a whole node in use":   {[]segue.QueuedJob{part(0, 3*hour)}, 1, 6 * hour},
		"part of an idle node":          {nil, 3, 0},
		"all GPUs, which is the node":   {[]segue.QueuedJob{part(1, hour)}, 4, 8 * hour},
		"many small jobs on the node":   {[]segue.QueuedJob{part(1, hour), part(1, 2*hour), part(1, 3*hour), part(1, 4*hour)}, 1, 5 * hour},
		"the last of them to wait for":  {[]segue.QueuedJob{part(1, hour), part(1, 2*hour), part(1, 3*hour), part(1, 4*hour)}, 3, 7 * hour},
		"as many as there are in a day": {[]segue.QueuedJob{part(4, hour)}, 4, 8 * hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := predictor.Present{History: &predictor.History{}, Snapshot: segue.Snapshot{
				At: tenthDay, Nodes: 1, GPUsPerNode: 4, Running: tt.running,
			}}
			req := request(1)
			req.GPUsPerNode = tt.gpus
			got := forecastOf(t, forward(t, cluster, predictor.Limits{}), now, req)
			if diff := cmp.Diff([]time.Duration{tt.want}, got.Waits); diff != "" {
				t.Errorf("wait differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestForwardRefusesTwoPools(t *testing.T) {
	t.Parallel()
	cluster := simulator.Config{Pools: []simulator.Pool{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}}}
	if _, err := predictor.NewForward(cluster, predictor.Limits{}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v, want one of kind invalid", err)
	}
	if _, err := predictor.NewMonteCarlo(cluster, predictor.MonteCarloConfig{}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v, want one of kind invalid", err)
	}
}

func TestNamesAreStable(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range newForecasters(t, clusterOf(1, simulator.EASY)) {
		names = append(names, f.Name())
	}
	want := []string{"recent", "recent-shape", "forward-limits", "forward-last-two", "forward-learned", "monte-carlo"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
}
