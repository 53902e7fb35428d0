package outcomes_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
)

// never lets every link end before the next is submitted.
func never(int, time.Duration, *simulator.Sim) (bool, error) { return false, nil }

// leadOf submits as soon as no more than lead remains.
func leadOf(lead time.Duration) outcomes.Decider {
	return func(_ int, remaining time.Duration, _ *simulator.Sim) (bool, error) { return remaining <= lead, nil }
}

func TestChainByHand(t *testing.T) {
	t.Parallel()
	hours := func(submit, start, end, outcome int) outcomes.Link {
		h := func(n int) time.Duration { return time.Duration(n) * hour }
		return outcomes.Link{Submit: at(h(submit)), Start: at(h(start)), End: at(h(end)), Outcome: h(outcome)}
	}
	tests := map[string]struct {
		nodes  int
		jobs   []simulator.Job
		links  int
		decide outcomes.Decider
		want   []outcomes.Link
	}{
		"one link": {
			nodes: 1, links: 1, decide: never,
			want: []outcomes.Link{hours(0, 0, 4, 0)},
		},
		"five links, each submitted when the one before ends": {
			nodes: 1, links: 5, decide: never,
			want: []outcomes.Link{hours(0, 0, 4, 0), hours(4, 4, 8, 0), hours(8, 8, 12, 0), hours(12, 12, 16, 0), hours(16, 16, 20, 0)},
		},
		"five links, each submitted an hour early": {
			nodes: 2, links: 5, decide: leadOf(hour),
			want: []outcomes.Link{hours(0, 0, 4, 0), hours(3, 3, 7, -1), hours(6, 6, 10, -1), hours(9, 9, 13, -1), hours(12, 12, 16, -1)},
		},
		"each submitted as soon as the one before runs": {
			nodes: 3, links: 3, decide: leadOf(4 * hour),
			want: []outcomes.Link{hours(0, 0, 4, 0), hours(0, 0, 4, -4), hours(0, 0, 4, -4)},
		},
		"a rival comes between": {
			nodes: 1, links: 3, decide: leadOf(hour), jobs: []simulator.Job{job(2*hour, 3*hour, 3*hour, 1)},
			want: []outcomes.Link{hours(0, 0, 4, 0), hours(3, 7, 11, 3), hours(10, 11, 15, 0)},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := outcomes.Follow(clusterAt(t, 0, tt.nodes, tt.jobs...), link(1, 4*hour), tt.links, hour, tt.decide, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("chain differs (-want +got):\n%s", diff)
			}
			if wait := got[len(got)-1].Wait(); wait != got[len(got)-1].Start.Sub(got[len(got)-1].Submit) {
				t.Errorf("the last link waits %s", wait)
			}
		})
	}
}

func TestDeciderIsAskedWhileTheLinkRuns(t *testing.T) {
	t.Parallel()
	type question struct {
		Link      int
		Remaining time.Duration
		At        segue.Time
	}
	var asked []question
	decide := func(k int, remaining time.Duration, world *simulator.Sim) (bool, error) {
		asked = append(asked, question{k, remaining, world.Now()})
		return k == 2 && remaining <= hour, nil
	}
	_, err := outcomes.Follow(clusterAt(t, 0, 2), link(1, 150*minute), 3, hour, decide, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []question{
		{1, 2 * hour, at(30 * minute)}, {1, hour, at(90 * minute)}, // and so to the end, at 2 h 30
		{2, 2 * hour, at(3 * hour)}, {2, hour, at(4 * hour)},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("questions differ (-want +got):\n%s", diff)
	}
}

// A chain of two is a point of the curve.
func TestSecondLinkIsAPointOfTheCurve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 4).Draw(t, "cluster")
		base, err := simulator.New(simulator.Config{
			Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}, Backfill: simulator.EASY,
		}, drawJobs(t, nodes, false))
		if err != nil {
			t.Fatal(err)
		}
		base.AdvanceTo(at(time.Duration(rapid.IntRange(0, 600).Draw(t, "now, minutes")) * minute))
		l := link(int32(rapid.IntRange(1, nodes).Draw(t, "nodes")), 3*hour)
		var p outcomes.Prober
		c, err := p.Curve(base, l, outcomes.Grid{})
		if err != nil {
			t.Fatal(err)
		}
		for k, lead := range c.Leads {
			chain, err := outcomes.Follow(base, l, 2, outcomes.DefaultStep, leadOf(lead), nil)
			if err != nil {
				t.Fatal(err)
			}
			if chain[0].Start != c.Start || chain[1].Outcome != c.Outcomes[k] {
				t.Fatalf("with a lead of %s the chain starts at %s and has the outcome %s; on the curve %s and %s",
					lead, chain[0].Start, chain[1].Outcome, c.Start, c.Outcomes[k])
			}
		}
		reactive, err := outcomes.Follow(base, l, 2, outcomes.DefaultStep, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		if reactive[1].Outcome != c.Reactive() || reactive[1].Submit != c.End {
			t.Fatalf("a reactive chain has the outcome %s, the curve %s", reactive[1].Outcome, c.Reactive())
		}
	})
}

func TestFollowLeavesTheClusterAsItWas(t *testing.T) {
	t.Parallel()
	base := clusterAt(t, hour, 2, job(0, 2*hour, 3*hour, 2), job(hour, 4*hour, 4*hour, 1), job(7*hour, hour, hour, 1))
	before := future(base)
	var worlds []*simulator.Sim
	_, err := outcomes.Follow(base, link(1, 4*hour), 4, hour, leadOf(hour), func(world *simulator.Sim) { worlds = append(worlds, world) })
	if err != nil {
		t.Fatal(err)
	}
	if len(worlds) != 1 || worlds[0] == base {
		t.Errorf("%d worlds began, want one that is not the cluster itself", len(worlds))
	}
	if diff := cmp.Diff(before, future(base)); diff != "" {
		t.Errorf("the cluster's future has changed (-before +after):\n%s", diff)
	}
}

func TestFollowRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		links int
		step  time.Duration
		link  simulator.Job
		want  string
	}{
		"no links":         {0, hour, link(1, hour), "chain: 0 links every 1h0m0s, want at least 1 link and a step of at least 1s"},
		"no step":          {2, 0, link(1, hour), "chain: 2 links every 0s, want at least 1 link and a step of at least 1s"},
		"too large a link": {2, hour, link(3, hour), "submit: 3 nodes, want 1 to the pool's 2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := outcomes.Follow(clusterAt(t, 0, 2), tt.link, tt.links, tt.step, never, nil)
			if err == nil || err.Error() != tt.want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error %v (%s), want %q (invalid)", err, segue.KindOf(err), tt.want)
			}
		})
	}
	failing := func(int, time.Duration, *simulator.Sim) (bool, error) { return false, io.ErrUnexpectedEOF }
	if _, err := outcomes.Follow(clusterAt(t, 0, 2), link(1, hour), 2, time.Second, failing, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want the decider's", err)
	}
}
