package trainer

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
)

func TestScheduleByHand(t *testing.T) {
	t.Parallel()
	h := func(hours float64) segue.Time { return segue.Time(hours * 3600e6) }
	r := Replay{
		Cluster: simulator.Config{
			Pools:   []simulator.Pool{{Name: "batch", Nodes: 4}},
			Outages: []simulator.Outage{{From: h(6), Until: h(8), Nodes: 2, Drain: true}},
		},
		Jobs: []simulator.Job{
			{Submit: h(0), Nodes: 4, Run: 4 * time.Hour, Limit: 8 * time.Hour},
			{Submit: h(1), Nodes: 2, Run: time.Hour, Limit: 8 * time.Hour},
			{Submit: h(2), Nodes: 1, Run: 6 * time.Hour, Limit: 8 * time.Hour},
			{Submit: h(3), Nodes: 1, Run: time.Hour, Limit: 8 * time.Hour}, // never starts
		},
	}
	got, err := Measure(r, simulator.Result{
		Starts: []segue.Time{h(0), h(4), h(4), segue.NoTime},
		Ends:   []segue.Time{h(4), h(5), h(10), segue.NoTime},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Schedule{
		Jobs: 4, Nodes: 4, Unfinished: 1, First: h(0), Last: h(10), MakespanHours: 10,
		Utilisation: 24.0 / 36, // 16 + 2 + 6 of 4 x 10 - 2 x 2 node hours
		All:         JobClass{Name: "all jobs", Jobs: 3, NodeHours: 24, MeanWait: 5.0 / 3, P50: 2, P90: 2.8, P99: 2.98, Slowdown: (1 + 4 + 8.0/6) / 3},
		Loads: []JobClass{
			{Name: "light: less than the nodes in service", Jobs: 1, NodeHours: 16, Slowdown: 1},
			{Name: "medium: up to twice that", Jobs: 2, NodeHours: 8, MeanWait: 2.5, P50: 2.5, P90: 2.9, P99: 2.99, Slowdown: (4 + 8.0/6) / 2},
		},
		Sizes: []JobClass{
			{Name: "1 node", Jobs: 1, NodeHours: 6, MeanWait: 2, P50: 2, P90: 2, P99: 2, Slowdown: 8.0 / 6},
			{Name: "2 to 8 nodes", Jobs: 2, NodeHours: 18, MeanWait: 1.5, P50: 1.5, P90: 2.7, P99: 2.97, Slowdown: 2.5},
		},
		Usage: []simulator.Level{
			{At: h(0), Busy: 4},
			{At: h(1), Busy: 4, Requested: 2},
			{At: h(2), Busy: 4, Requested: 3},
			{At: h(3), Busy: 4, Requested: 4},
			{At: h(4), Busy: 3, Requested: 1}, // by the job that never starts
			{At: h(5), Busy: 1, Requested: 1},
			{At: h(6), Busy: 1, Out: 2, Requested: 1},
			{At: h(8), Busy: 1, Requested: 1},
			{At: h(10), Requested: 1},
		},
	}
	if diff := cmp.Diff(want, got, near()); diff != "" {
		t.Errorf("schedule (-want +got):\n%s", diff)
	}
}

func TestScheduleOfNothing(t *testing.T) {
	t.Parallel()
	r := Replay{Cluster: simulator.Config{Pools: []simulator.Pool{{Nodes: 4}}}}
	if got, err := Measure(r, simulator.Result{}); err != nil || got.Jobs != 0 || got.All.Jobs != 0 || len(got.Usage) > 0 {
		t.Errorf("schedule is %+v and the error %v, want an empty one and none", got, err)
	}
}

// TestScheduleAgreesWithThePublishedMeans wants the mean wait and the mean
// bounded slowdown that came with the reference schedules.
func TestScheduleAgreesWithThePublishedMeans(t *testing.T) {
	t.Parallel()
	h, err := traces.Load(shared.Path(t, "traces/KTH-SP2-1996.swf"), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		backfill       simulator.Backfill
		wait, slowdown float64 // seconds, 1
	}{
		"first come, first served": {simulator.NoBackfill, 354002.3164, 6818.585291},
		"EASY":                     {simulator.EASY, 6889.9387, 92.677016},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := simulator.Config{
				Pools: []simulator.Pool{{Name: "batch", Nodes: 100}}, Backfill: tt.backfill, Events: simulator.PerEvent,
			}
			replays, err := Replays(h.Jobs, cluster, false)
			if err != nil {
				t.Fatal(err)
			}
			result, err := Run(t.Context(), replays[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Measure(replays[0], result)
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(s.All.MeanWait) * 3600; math.Abs(got-tt.wait) > 1e-4 {
				t.Errorf("mean wait is %.4f s, want %.4f", got, tt.wait)
			}
			if got := float64(s.All.Slowdown); math.Abs(got-tt.slowdown) > 1e-6 {
				t.Errorf("mean bounded slowdown is %.6f, want %.6f", got, tt.slowdown)
			}
		})
	}
}
