package trainer

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/simulator"
)

// copyOf returns a replay that shares nothing with r that can be written.
func copyOf(r Replay) Replay {
	r.Jobs = slices.Clone(r.Jobs)
	r.Cluster.Pools = slices.Clone(r.Cluster.Pools)
	r.Cluster.Outages = slices.Clone(r.Cluster.Outages)
	r.Cluster.Users = slices.Clone(r.Cluster.Users)
	if m := r.Cluster.Order.Multifactor; m != nil {
		c := *m
		r.Cluster.Order.Multifactor = &c
	}
	return r
}

// stressed returns the stress run of that name.
func stressed(t *testing.T, name string) stress {
	t.Helper()
	list := stresses()
	i := slices.IndexFunc(list, func(s stress) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("there is no stress run %q", name)
	}
	return list[i]
}

var fortnight = evaluation.Period{From: midnight(6), To: midnight(20)}

func TestStressLeavesTheReplayAlone(t *testing.T) {
	t.Parallel()
	r := busyReplay(5, 20)
	r.Cluster.Order = simulator.PublishedOrder()
	r.Cluster.Outages = append(make([]simulator.Outage, 0, 9), simulator.Outage{From: midnight(3), Until: midnight(4), Nodes: 8})
	want := copyOf(r)
	for _, s := range stresses() {
		changed := s.change(r, fortnight)
		if diff := cmp.Diff(want, r); diff != "" {
			t.Fatalf("%s has changed the replay that it was given (-before +after):\n%s", s.name, diff)
		}
		if cmp.Equal(want, changed) {
			t.Errorf("%s changes nothing", s.name)
		}
	}
}

func TestFewerNodes(t *testing.T) {
	t.Parallel()
	r := busyReplay(5, 20)
	r.Cluster.Pools[0].Nodes = 40
	r.Jobs[3].Nodes = 40
	r.Cluster.Outages = []simulator.Outage{{From: midnight(3), Until: midnight(4), Nodes: 40}}
	got := stressed(t, "fewer_nodes").change(r, fortnight)
	if n := got.Cluster.Pools[0].Nodes; n != 38 {
		t.Errorf("%d of 40 nodes are left, want 38", n)
	}
	if got.Jobs[3].Nodes != 38 || got.Cluster.Outages[0].Nodes != 38 {
		t.Errorf("a job of %d nodes and an outage of %d, want both cut to 38", got.Jobs[3].Nodes, got.Cluster.Outages[0].Nodes)
	}
	s := Setup{Cluster: got.Cluster, Jobs: got.Jobs, Pair: pair, Known: &r.Cluster}.withDefaults()
	if n := s.believe(segue.Snapshot{Nodes: 38}).Nodes; n != 40 {
		t.Errorf("the forecasters believe in %d nodes, want the old 40", n)
	}
	if n := s.believe(segue.Snapshot{Nodes: 30}).Nodes; n != 32 {
		t.Errorf("with 8 nodes down the forecasters believe in %d nodes, want 32", n)
	}
}

func TestHiddenPriority(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]simulator.Order{"first come first served": {}, "by age": simulator.PublishedOrder()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := busyReplay(5, 20)
			r.Cluster.Order = order
			r.Jobs[0].Nice = 10000
			got := stressed(t, "hidden_priority").change(r, fortnight)
			nice := map[int32]int32{}
			least, most := int32(math.MaxInt32), int32(math.MinInt32)
			for i, j := range got.Jobs[1:] {
				if first, known := nice[j.User]; known && first != j.Nice {
					t.Fatalf("user %d has the nice values %d and, of job %d, %d", j.User, first, i+1, j.Nice)
				}
				nice[j.User] = j.Nice
				least, most = min(least, j.Nice), max(most, j.Nice)
			}
			// 7000 points are a week of age, so 2000 are two days.
			if least < -2000 || most > 2000 || most-least < 1000 {
				t.Errorf("nice values from %d to %d, want them spread over -2000 to 2000", least, most)
			}
			if got.Jobs[0].Nice != 10000+nice[got.Jobs[0].User] {
				t.Errorf("a job with a nice value of 10000 has %d now", got.Jobs[0].Nice)
			}
			if m := got.Cluster.Order.Multifactor; m == nil || m.Age != 7000 || !m.AgeUncapped {
				t.Errorf("the queue is ordered by %+v", m)
			}
		})
	}
}

func TestUserCaps(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{0: 4, 9: 4, 4: 4, 3: 3} {
		r := busyReplay(5, 20)
		r.Cluster.Limits = simulator.Limits{MaxRunningJobs: limit, MaxNodes: 7}
		got := stressed(t, "user_caps").change(r, fortnight)
		if got.Cluster.Limits != (simulator.Limits{MaxRunningJobs: want, MaxNodes: 7}) {
			t.Errorf("where %d jobs may run, the limits are %+v, want %d running jobs", limit, got.Cluster.Limits, want)
		}
	}
}

func TestOutagesComeEveryWeekOfTheTestPeriod(t *testing.T) {
	t.Parallel()
	r := busyReplay(5, 20)
	before := simulator.Outage{From: midnight(3), Until: midnight(4), Nodes: 2}
	r.Cluster.Outages = []simulator.Outage{before}
	got := stressed(t, "outage").change(r, fortnight)
	want := []simulator.Outage{
		before, {From: midnight(8), Until: midnight(10), Nodes: 1}, {From: midnight(15), Until: midnight(17), Nodes: 1},
	}
	if diff := cmp.Diff(want, got.Cluster.Outages); diff != "" {
		t.Errorf("outages differ (-want +got):\n%s", diff)
	}
}

func TestStressOnAClusterAsSmallAsThePairKeepsItsNodes(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[int]int{1: 3, 2: 3, 3: 4, 8: 4} {
		r := busyReplay(5, 20)
		r.Cluster.Pools[0].Nodes = nodes
		b := &backtest{BacktestConfig: quickly(r)}
		b.Pair.Nodes = min(pair.Nodes, nodes)
		if got := len(b.stresses(r)); got != want {
			t.Errorf("%d stress runs for a pair of %d on %d nodes, want %d", got, b.Pair.Nodes, nodes, want)
		}
	}
}

func TestStressIsDescribedWithItsReplay(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range stresses() {
		name, what := s.describe(Replay{Name: "plain"})
		if seen[name] || what == "" {
			t.Errorf("the stress run %q is named twice or not explained", name)
		}
		seen[name] = true
	}
	if name, what := stressed(t, "user_caps").describe(Replay{Name: "faithful"}); name != "faithful_user_caps" ||
		what != "on the faithful replay, no user runs more than 4 jobs at once, which the forecasters do not know" {
		t.Errorf("described as %q: %q", name, what)
	}
}
