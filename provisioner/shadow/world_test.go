package shadow_test

import (
	"testing"
	"time"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/provisioner/shadow"
	"github.com/segue-project/segue/simulator"
)

// Ada trains for a day on a cluster of two nodes on which nobody else is: whatever is
// submitted starts at once, unless the world has a reason against it.
func TestReasonsOfTheWorld(t *testing.T) {
	t.Parallel()
	const lead = 20 // of half hours
	for name, tt := range map[string]struct {
		change func(w *shadow.World)
		want   evaluation.Point // of a lead of ten hours
	}{
		"none":                {func(*shadow.World) {}, evaluation.Point{Overlap: 10}},
		"a limit of the user": {func(w *shadow.World) { w.Cluster.Limits.MaxRunningJobs = 1 }, evaluation.Point{}},
		"a node out of service": {func(w *shadow.World) {
			w.Cluster.Outages = []simulator.Outage{{From: at(0), Until: at(9 * day), Nodes: 1}}
		}, evaluation.Point{}},
		"a node that is back": {func(w *shadow.World) {
			w.Cluster.Outages = []simulator.Outage{{From: at(0), Until: at(hour), Nodes: 1}}
		}, evaluation.Point{Overlap: 10}},
		"a small cluster": {func(w *shadow.World) { w.Cluster.Pools[0].Nodes = 1 }, evaluation.Point{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l log
			l.job("ada", "train", 1, 0, 0, 24*hour, 24*hour)
			l.job("ada", "train", 1, 26*hour, 26*hour, 40*hour, 24*hour)
			l.late()
			cfg := config(t, l.jobs, 2)
			cfg.World.Cluster.Pools = []simulator.Pool{cfg.World.Cluster.Pools[0]}
			tt.change(&cfg.World)
			if got := judged(t, cfg).Leads[lead]; got != tt.want {
				t.Errorf("ten hours before the end it comes to %+v, want %+v", got, tt.want)
			}
		})
	}
}

// What waits goes before the successor or after it, by its recorded priority.
func TestTheWorldKeepsTheOrderOfTheQueue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		nice int32
		want time.Duration
	}{
		"as old as it is":   {0, 6 * hour},
		"of low priority":   {1000, 0},
		"and of a high one": {-1000, 6 * hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := busy()
			cfg := config(t, history, 1)
			cfg.World.Cluster.Order = simulator.Order{Multifactor: &simulator.Multifactor{Age: 100, MaxAge: 7 * day, AgeUncapped: true}}
			cfg.World.Jobs[1].Nice = tt.nice
			if got := judged(t, cfg).Judged[0].Outcome(history, shadow.AfterAny); got != tt.want {
				t.Errorf("submitted at the end it starts %s later, want %s", got, tt.want)
			}
		})
	}
}

// A job that the record holds back until an instant is not in the queue before.
func TestTheWorldReleasesWhatWasHeld(t *testing.T) {
	t.Parallel()
	history := busy()
	history[1].Submit, history[1].Eligible = at(2*hour), at(23*hour)
	cfg := config(t, history, 1)
	r := judged(t, cfg)
	if late, early := r.Leads[1], r.Leads[4]; late.Interruption != 6 || early.Interruption != 0 {
		t.Errorf("half an hour before the end it comes to %+v, two hours before to %+v; want 6 h and none", late, early)
	}
}
