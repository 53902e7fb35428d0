package outcomes_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
)

const (
	minute = time.Minute
	hour   = time.Hour
)

func TestCurveByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		now        time.Duration
		nodes      int
		jobs       []simulator.Job
		link       simulator.Job
		step, most time.Duration
		wantStart  time.Duration
		want       []time.Duration // from a lead of 0 on
	}{
		"on an empty cluster the next link starts when it is submitted": {
			nodes: 2, link: link(1, 2*hour), step: hour,
			want: []time.Duration{0, -hour, -2 * hour},
		},
		"where both links do not fit, none is early": {
			nodes: 1, link: link(1, 2*hour), step: hour,
			want: []time.Duration{0, 0, 0},
		},
		"a rival comes after an hour and runs for 3": {
			nodes: 1, link: link(1, 2*hour), step: 30 * minute,
			jobs: []simulator.Job{job(hour, 3*hour, 3*hour, 1)},
			// Submitted with 1 h left the next link ties with the rival, whose
			// job number is lower.
			want: []time.Duration{3 * hour, 3 * hour, 3 * hour, 0, 0},
		},
		"the rival ends long before its limit": {
			nodes: 1, link: link(1, 2*hour), step: hour,
			jobs: []simulator.Job{job(hour/2, hour/3, 40*hour, 1)},
			want: []time.Duration{hour / 3, hour / 3, 0},
		},
		"the current link has to wait too": {
			now: hour, nodes: 2, link: link(2, 2*hour), step: hour,
			jobs:      []simulator.Job{job(0, 4*hour, 4*hour, 1), job(5*hour, hour, hour, 1)},
			wantStart: 4 * hour,
			want:      []time.Duration{hour, hour, 0}, // at 5 h the rival's number is lower
		},
		"a step that does not divide the limit": {
			nodes: 2, link: link(1, 100*minute), step: 30 * minute,
			want: []time.Duration{0, -30 * minute, -hour, -90 * minute},
		},
		"a step longer than the limit": {
			nodes: 2, link: link(1, 20*minute), step: 30 * minute,
			want: []time.Duration{0},
		},
		"no lead beyond the largest": {
			nodes: 2, link: link(1, 8*hour), step: hour, most: 150 * minute,
			want: []time.Duration{0, -hour, -2 * hour},
		},
		"the largest lead is at most the limit": {
			nodes: 2, link: link(1, hour), step: hour, most: 5 * hour,
			want: []time.Duration{0, -hour},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := clusterAt(t, tt.now, tt.nodes, tt.jobs...)
			want := outcomes.Curve{
				Submit: base.Now(), Start: max(base.Now(), at(tt.wantStart)), Outcomes: tt.want,
			}
			want.End = want.Start.Add(tt.link.Limit)
			for k := range tt.want {
				want.Leads = append(want.Leads, time.Duration(k)*tt.step)
			}
			got := curveOf(t, base, tt.link, outcomes.Grid{Step: tt.step, Max: tt.most})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("curve differs (-want +got):\n%s", diff)
			}
			if got.Reactive() != tt.want[0] {
				t.Errorf("reactive outcome %s, want %s", got.Reactive(), tt.want[0])
			}
		})
	}
}

func TestDefaultGridIsEveryHalfHourOfTheLink(t *testing.T) {
	t.Parallel()
	leads := outcomes.Grid{}.Leads(48 * hour)
	if len(leads) != 97 || leads[1] != 30*minute || leads[96] != 48*hour {
		t.Errorf("%d leads from %s by %s to %s, want 97 by 30m0s to 48h0m0s", len(leads), leads[0], leads[1], leads[len(leads)-1])
	}
}

func TestLaterArrivalsMatter(t *testing.T) {
	t.Parallel()
	base := clusterAt(t, 0, 1, job(hour, 3*hour, 3*hour, 1))
	if c := curveOf(t, base, link(1, 2*hour), outcomes.Grid{}); c.Reactive() != 3*hour {
		t.Errorf("with the rival, a reactive outcome of %s, want 3h", c.Reactive())
	}
	base.StopArrivals()
	if c := curveOf(t, base, link(1, 2*hour), outcomes.Grid{}); c.Reactive() != 0 {
		t.Errorf("without the rival, a reactive outcome of %s, want 0", c.Reactive())
	}
}

func TestLinkThatNeverStartsCountsAsStartedAtTheHorizon(t *testing.T) {
	t.Parallel()
	base := clusterAt(t, 0, 1)
	forever := simulator.Job{Submit: at(0), Run: 3 * outcomes.Horizon, Limit: 3 * outcomes.Horizon, Nodes: 1, User: 1}
	if _, err := base.Submit(forever); err != nil {
		t.Fatal(err)
	}
	got := curveOf(t, base, link(1, hour), outcomes.Grid{Step: hour})
	if got.Start != at(outcomes.Horizon) || got.Reactive() != outcomes.Horizon {
		t.Errorf("start %s and reactive outcome %s, want both at the horizon", got.Start, got.Reactive())
	}
}

func TestProbingLeavesTheClusterAsItWas(t *testing.T) {
	t.Parallel()
	jobs := []simulator.Job{
		job(0, 2*hour, 3*hour, 2), job(0, 5*hour, 6*hour, 1), job(hour, 4*hour, 4*hour, 3), job(7*hour, hour, hour, 1),
	}
	base := clusterAt(t, 90*minute, 3, jobs...)
	before := future(base)
	var p outcomes.Prober
	for range 2 { // the second time with used memory
		if _, err := p.Curve(base, link(2, 4*hour), outcomes.Grid{}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, future(base)); diff != "" {
		t.Errorf("the cluster's future has changed (-before +after):\n%s", diff)
	}
	base.Run()
	untouched := clusterAt(t, 0, 3, jobs...)
	untouched.Run()
	if diff := cmp.Diff(untouched.Result(), base.Result()); diff != "" {
		t.Errorf("the cluster runs on in another way (-want +got):\n%s", diff)
	}
}

func TestProberShowsTheClusterAtEverySubmitTime(t *testing.T) {
	t.Parallel()
	base := clusterAt(t, 0, 2, job(0, 3*hour, 5*hour, 1), job(hour, hour, hour, 1))
	var began int
	var seen []segue.Snapshot
	var r recorder
	p := outcomes.Prober{
		Began: func(world *simulator.Sim) { began++; world.Observe(&r) },
		At: func(lead time.Duration, world *simulator.Sim) error {
			if want := at(2*hour - lead); world.Now() != want {
				t.Errorf("with %s left it is %s, want %s", lead, world.Now(), want)
			}
			seen = append(seen, world.Snapshot(0))
			return nil
		},
	}
	if _, err := p.Curve(base, link(1, 2*hour), outcomes.Grid{Step: hour}); err != nil {
		t.Fatal(err)
	}
	if began != 1 {
		t.Errorf("the world began %d times, want once", began)
	}
	running, pending := []int{}, []int{}
	for _, s := range seen {
		running, pending = append(running, len(s.Running)), append(pending, len(s.Pending))
	}
	// At 0 h the first job and the link run; at 2 h the second job waits.
	if diff := cmp.Diff([][]int{{2, 2, 2}, {0, 0, 1}}, [][]int{running, pending}); diff != "" {
		t.Errorf("running and pending jobs differ (-want +got):\n%s", diff)
	}
	for _, e := range r.events {
		if e.Job > 3 {
			t.Errorf("the observer of the world saw the probe %d being %s", e.Job, e.What)
		}
	}
}

func TestCurveStopsAtTheFirstError(t *testing.T) {
	t.Parallel()
	calls := 0
	p := outcomes.Prober{At: func(time.Duration, *simulator.Sim) error { calls++; return io.ErrUnexpectedEOF }}
	_, err := p.Curve(clusterAt(t, 0, 1), link(1, 2*hour), outcomes.Grid{})
	if !errors.Is(err, io.ErrUnexpectedEOF) || calls != 1 {
		t.Errorf("error %v after %d calls, want the first one's", err, calls)
	}
}

func TestCurveRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		link simulator.Job
		grid outcomes.Grid
		want string
	}{
		"a step backwards": {
			link(1, hour),
			outcomes.Grid{Step: -hour},
			"grid of leads: step -1h0m0s, max 0s; want a step of at least 1s and a max of 0 or more",
		},
		"a step too small to be meant": {
			link(1, hour),
			outcomes.Grid{Step: time.Millisecond},
			"grid of leads: step 1ms, max 0s; want a step of at least 1s and a max of 0 or more",
		},
		"a largest lead below 0": {
			link(1, hour),
			outcomes.Grid{Max: -hour},
			"grid of leads: step 0s, max -1h0m0s; want a step of at least 1s and a max of 0 or more",
		},
		"a link larger than the cluster": {
			link(9, hour), outcomes.Grid{}, "submit: 9 nodes, want 1 to the pool's 2",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p outcomes.Prober
			_, err := p.Curve(clusterAt(t, 0, 2), tt.link, tt.grid)
			if err == nil || err.Error() != tt.want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error %v (%s), want %q (invalid)", err, segue.KindOf(err), tt.want)
			}
		})
	}
}

func TestLinksThatTakePartOfANodeShareIt(t *testing.T) {
	t.Parallel()
	for _, backfill := range []simulator.Backfill{simulator.NoBackfill, simulator.EASY, simulator.Conservative, simulator.SlurmBackfill} {
		for name, jobs := range map[string][]simulator.Job{
			"among jobs that take whole nodes":    {earlier()},
			"among jobs that take parts of nodes": {{Submit: at(-hour), Run: minute, Limit: minute, Nodes: 1, GPUsPerNode: 1}},
		} {
			t.Run(backfill.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				base, err := simulator.New(simulator.Config{
					Pools: []simulator.Pool{{Name: "gpus", Nodes: 1, GPUsPerNode: 4}}, Backfill: backfill,
				}, jobs)
				if err != nil {
					t.Fatal(err)
				}
				base.AdvanceTo(at(0))
				half := link(1, 2*hour)
				half.GPUsPerNode = 2
				c := curveOf(t, base, half, outcomes.Grid{Step: hour})
				if diff := cmp.Diff([]time.Duration{0, -hour, -2 * hour}, c.Outcomes); diff != "" {
					t.Errorf("outcomes of two halves of a node differ (-want +got):\n%s", diff)
				}
				half.GPUsPerNode = 3
				c = curveOf(t, base, half, outcomes.Grid{Step: hour})
				if diff := cmp.Diff([]time.Duration{0, 0, 0}, c.Outcomes); diff != "" {
					t.Errorf("outcomes of two times three quarters differ (-want +got):\n%s", diff)
				}
			})
		}
	}
}
