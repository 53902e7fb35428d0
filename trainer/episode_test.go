package trainer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// setupOf returns how pairs are probed quickly on a replay.
func setupOf(r Replay) Setup {
	return Setup{
		Cluster: r.Cluster, Jobs: r.Jobs, Pair: pair, Grid: outcomes.Grid{Step: 2 * hour}, Workers: 2,
		MonteCarlo: predictor.MonteCarloConfig{Replicas: 2, ArrivalDays: 4, ArrivalHorizon: day, Seed: 1},
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		from, until segue.Time
		want        []segue.Time
	}{
		"the last is before the end": {midnight(1), midnight(2), []segue.Time{midnight(1), midnight(1).Add(8 * hour), midnight(1).Add(16 * hour)}},
		"a part of a step":           {midnight(1), midnight(1).Add(hour), []segue.Time{midnight(1)}},
		"no time":                    {midnight(1), midnight(1), nil},
		"time that runs backwards":   {midnight(2), midnight(1), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Starts(tt.from, tt.until, 8*hour)); diff != "" {
				t.Errorf("starts differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEpisodesDoNotDependOnTheNumberOfWorkers(t *testing.T) {
	t.Parallel()
	starts := Starts(midnight(5), midnight(12), 9*hour)
	var want []Episode
	for _, workers := range []int{1, 2, 5, 1_000_000} {
		setup := setupOf(busyReplay(1, 20))
		setup.Workers = workers
		var calls, most atomic.Int64
		got, err := Collect(t.Context(), setup, starts, func(done int) {
			calls.Add(1)
			most.Store(max(most.Load(), int64(done)))
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(starts) || calls.Load() != int64(len(starts)) || most.Load() != int64(len(starts)) {
			t.Errorf("%d workers: %d episodes and %d calls up to %d, want %d", workers, len(got), calls.Load(), most.Load(), len(starts))
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers give other episodes than one (-one +more):\n%s", workers, diff)
		}
	}
}

func TestEpisodeHoldsAForecastForEveryLead(t *testing.T) {
	t.Parallel()
	episodes, err := Collect(t.Context(), setupOf(busyReplay(1, 20)), []segue.Time{midnight(9)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := episodes[0]
	if e.Curve.Submit != midnight(9) || len(e.Curve.Leads) != 7 {
		t.Fatalf("a curve from %s with %d leads, want one from %s with 7", e.Curve.Submit, len(e.Curve.Leads), midnight(9))
	}
	if len(e.Forecasts) != 7 {
		t.Errorf("%d forecasters were asked, want 7", len(e.Forecasts))
	}
	for name, forecasts := range e.Forecasts {
		for k, f := range forecasts {
			if want := e.Curve.End.Add(-e.Curve.Leads[k]); f.At != want || f.Source != name || f.Empty() {
				t.Errorf("%s with a lead of %s: %d waits at %s by %s, want some at %s", name, e.Curve.Leads[k], len(f.Waits), f.At, f.Source, want)
			}
		}
	}
}

func TestOnlyTheNamedForecastersAreAsked(t *testing.T) {
	t.Parallel()
	setup := setupOf(busyReplay(1, 20))
	setup.Forecasters = []string{"forward-limits", "", "forward-limits"}
	episodes, err := Collect(t.Context(), setup, []segue.Time{midnight(9)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := episodes[0].Forecasts; len(f) != 1 || f["forward-limits"] == nil {
		t.Errorf("%d forecasters were asked, want forward-limits only", len(f))
	}
}

func TestCollectStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int64
	_, err := Collect(ctx, setupOf(busyReplay(1, 40)), Starts(midnight(5), midnight(40), hour), func(int) {
		done.Add(1)
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	if n := done.Load(); n > 2 {
		t.Errorf("%d episodes were finished by 2 workers, want no more than one each", n)
	}
	if _, err := Collect(ctx, setupOf(busyReplay(1, 40)), []segue.Time{midnight(5)}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a cancelled context, want that it was cancelled", err)
	}
}

func TestCollectNamesTheStartThatFailed(t *testing.T) {
	t.Parallel()
	setup := setupOf(busyReplay(1, 20))
	setup.Pair.GPUsPerNode = 4 // which the cluster does not have
	_, err := Collect(t.Context(), setup, []segue.Time{midnight(7)}, nil)
	want := "collect episodes: start 2023-01-07T00:00:00Z: submit: 4 GPUs per node, want 0 (whole nodes) to the pool's 0"
	if err == nil || err.Error() != want || segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v (%s), want %q (invalid)", err, segue.KindOf(err), want)
	}
}

func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Setup)
		starts []segue.Time
		want   string
	}{
		"two pools": {
			change: func(s *Setup) { s.Cluster.Pools = append(s.Cluster.Pools, simulator.Pool{Name: "more", Nodes: 1}) },
			want:   "the cluster has 2 pools, want 1",
		},
		"no jobs":       {change: func(s *Setup) { s.Jobs = nil }, want: "the history has no jobs"},
		"no workers":    {change: func(s *Setup) { s.Workers = -1 }, want: "-1 workers, want 1 or more, or 0 for as many as there are processors"},
		"a huge pair":   {change: func(s *Setup) { s.Pair.Nodes = 9 }, want: "a pair of 9 nodes on a cluster of 8"},
		"a pair of 0":   {change: func(s *Setup) { s.Pair.Nodes = 0 }, want: "request: nodes is 0, want at least 1"},
		"no time":       {change: func(s *Setup) { s.Pair.Limit = 0 }, want: "request: time limit is 0s, want more than 0"},
		"no time limit": {change: func(s *Setup) { s.Pair.Limit = segue.Unlimited }, want: "a pair without a time limit, of which neither job ever ends"},
		"a step backwards": {
			change: func(s *Setup) { s.Grid.Step = -hour },
			want:   "grid of leads: step -1h0m0s, max 0s; want a step of at least 1s and a max of 0 or more",
		},
		"no replicas": {
			change: func(s *Setup) { s.MonteCarlo.Replicas = -1 },
			want:   "Monte Carlo config: -1 replicas (want 1 to 100000), arrivals over 24h0m0s (want 0 or more) from 4 days (want 1 or more)",
		},
		"a start before the history": {
			starts: []segue.Time{midnight(0)},
			want:   "a start at 2022-12-31T00:00:00Z, outside the history, whose jobs are submitted from 2023-01-01T00:00:00Z to 2023-01-20T23:34:00Z",
		},
		"a start after the history": {
			starts: []segue.Time{midnight(21)},
			want:   "a start at 2023-01-21T00:00:00Z, outside the history, whose jobs are submitted from 2023-01-01T00:00:00Z to 2023-01-20T23:34:00Z",
		},
		"starts out of order": {
			starts: []segue.Time{midnight(7), midnight(6)},
			want:   "a start at 2023-01-06T00:00:00Z after one at 2023-01-07T00:00:00Z",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setup := setupOf(busyReplay(1, 20))
			if tt.change != nil {
				tt.change(&setup)
			}
			_, err := Collect(t.Context(), setup, append([]segue.Time{midnight(5)}, tt.starts...), nil)
			if want := "collect episodes: " + tt.want; err == nil || err.Error() != want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error %v (%s), want %q (invalid)", err, segue.KindOf(err), want)
			}
		})
	}
}

// What comes after a moment, and how long jobs run on after it, no forecast of
// that moment knows, except the one that is said to.
func TestForecastsInABacktestKnowNothingLater(t *testing.T) {
	t.Parallel()
	r := busyReplay(3, 20)
	collect := func(jobs []simulator.Job) Episode {
		setup := setupOf(r)
		setup.Jobs = jobs
		episodes, err := Collect(t.Context(), setup, []segue.Time{midnight(9)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return episodes[0]
	}
	first := collect(r.Jobs)
	const k = 3 // the forecasts with that lead and longer ones are made by then
	now := first.Curve.End.Add(-first.Curve.Leads[k])
	other := collect(otherLife(t, r, now, first.Curve.Submit))
	if other.Curve.Start != first.Curve.Start {
		t.Fatalf("the link starts at %s and at %s", first.Curve.Start, other.Curve.Start)
	}
	if cmp.Equal(first.Curve.Outcomes, other.Curve.Outcomes) {
		t.Error("the outcomes are the same: the futures do not differ enough")
	}
	for name, forecasts := range first.Forecasts {
		same := cmp.Equal(forecasts[k:], other.Forecasts[name][k:])
		if cheats := name == "forward-true"; same == cheats {
			t.Errorf("%s: the same forecasts in another future: %t", name, same)
		}
	}
}

// otherLife returns the jobs of a replay with another future from the instant
// now on: jobs that run then, with a pair's first job among them, run to their
// limits, and those that come later do so all at once.
func otherLife(t *testing.T, r Replay, now, submit segue.Time) []simulator.Job {
	t.Helper()
	setup := setupOf(r).withDefaults()
	cluster, err := simulator.New(setup.Cluster, setup.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	cluster.AdvanceTo(submit)
	if _, err := cluster.Submit(setup.link()); err != nil {
		t.Fatal(err)
	}
	cluster.AdvanceTo(now)
	jobs := append([]simulator.Job(nil), r.Jobs...)
	for i := range jobs {
		switch {
		case jobs[i].Submit >= now:
			jobs[i].Submit = now.Add(time.Minute)
		case !cluster.EndOf(simulator.Ref(i)).Known():
			jobs[i].Run = jobs[i].Limit
		}
	}
	return jobs
}
