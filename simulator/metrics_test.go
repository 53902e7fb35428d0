package simulator_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// Two nodes, of which one fails from 1h to 2h and takes the run of a along:
//
//	node 1 | a (failed) |            a              |
//	node 2 |       b            |      c      |
//	       0            1h      2h    3h     4h
func failingNode(t *testing.T) (simulator.Config, []simulator.Job, simulator.Result) {
	t.Helper()
	s := parseScenarios(t, "inline", `
scenario a node fails
pool batch nodes=1
pool other nodes=1
partition one pool=batch
partition two pool=other
outage batch nodes=1 from=1h until=2h
job a partition=one run=2h
job b partition=two run=2h
job c partition=two at=1h run=1h
job gone partition=two at=1h cancel=90m
`)[0]
	got, err := simulator.Replay(s.cfg, s.jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.cfg, s.jobs, got
}

func TestSummaryCountsRunsWaitsAndNodesInService(t *testing.T) {
	t.Parallel()
	cfg, jobs, result := failingNode(t)
	got, err := simulator.Summarise(cfg, jobs, result)
	if err != nil {
		t.Fatal(err)
	}
	// a starts for good after 2h, b at once, c after 1h. In 4h two nodes serve 8
	// node hours less the outage's one; a used 1 and 2, b 2, c 1.
	waits := simulator.Waits{Mean: time.Hour, P50: time.Hour, P90: 108 * time.Minute, P99: 118*time.Minute + 48*time.Second, Max: 2 * time.Hour}
	all := simulator.Class{Name: "all jobs", Jobs: 3, NodeHours: 5, Wait: waits, Slowdown: (2 + 1 + 2) / 3.0}
	one := all
	one.Name = "1 node"
	want := simulator.Summary{
		Unfinished: 1, Makespan: 4 * time.Hour, Utilisation: 6.0 / 7, All: all, Sizes: []simulator.Class{one},
		Loads: []simulator.Class{
			{
				Name: "light: less than the nodes in service", Jobs: 2, NodeHours: 4, Slowdown: 1.5,
				Wait: simulator.Waits{Mean: time.Hour, P50: time.Hour, P90: 108 * time.Minute, P99: 118*time.Minute + 48*time.Second, Max: 2 * time.Hour},
			},
			{
				Name: "medium: up to twice that", Jobs: 1, NodeHours: 1, Slowdown: 2,
				Wait: simulator.Waits{Mean: time.Hour, P50: time.Hour, P90: time.Hour, P99: time.Hour, Max: time.Hour},
			},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestLevelsFollowRequeuedAndCancelledJobs(t *testing.T) {
	t.Parallel()
	cfg, jobs, result := failingNode(t)
	want := [][]simulator.Level{
		{
			{At: minutes(0), Busy: 1},
			{At: minutes(60), Out: 1, Requested: 1},
			{At: minutes(120), Busy: 1},
			{At: minutes(240)},
		},
		{
			{At: minutes(0), Busy: 1},
			{At: minutes(60), Busy: 1, Requested: 2},
			{At: minutes(90), Busy: 1, Requested: 1},
			{At: minutes(120), Busy: 1},
			{At: minutes(180)},
		},
	}
	for pool := range want {
		got, err := simulator.Levels(cfg, pool, jobs, result)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[pool], got); diff != "" {
			t.Errorf("levels of pool %d (-want +got):\n%s", pool, diff)
		}
	}
}

func TestDecimatedLevelsKeepTheArea(t *testing.T) {
	t.Parallel()
	area := func(levels []simulator.Level, until segue.Time) (busy float64) {
		for k, l := range levels {
			end := until
			if k+1 < len(levels) {
				end = levels[k+1].At
			}
			busy += l.Busy * end.Sub(l.At).Hours()
		}
		return busy
	}
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyCluster(t)
		jobs := anyJobs(t, cfg)
		result, err := simulator.Replay(cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		levels, err := simulator.Levels(cfg, 0, jobs, result)
		if err != nil {
			t.Fatal(err)
		}
		if len(levels) == 0 {
			return
		}
		n := rapid.IntRange(1, 20).Draw(t, "points")
		few := simulator.Decimate(levels, n)
		if len(few) > max(n, 1) {
			t.Fatalf("%d levels, want at most %d", len(few), n)
		}
		until := levels[len(levels)-1].At
		if want, got := area(levels, until), area(few, until); math.Abs(want-got) > 1e-6*max(want, 1) {
			t.Errorf("%g busy node hours, want %g", got, want)
		}
		for _, l := range levels {
			if l.Busy < -1e-9 || l.Requested < -1e-9 || l.Busy > float64(cfg.Pools[0].Nodes)+1e-9 {
				t.Errorf("impossible level %+v", l)
			}
		}
	})
}
