package trainer

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces/infer"
)

// replayOf returns a plain replay of n equal jobs of one hour on ten nodes, one
// submitted an hour after the other, with its history.
func replayOf(n int) ([]segue.Job, Replay) {
	var history []segue.Job
	r := Replay{Name: "plain", Cluster: simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 10}}}}
	for i := range n {
		at := segue.Seconds(int64(i) * 3600)
		history = append(history, segue.Job{Submit: at, Start: at, End: at.Add(time.Hour), Nodes: 1, Limit: time.Hour, Priority: 1000})
		r.Jobs = append(r.Jobs, simulator.Job{Submit: at, Run: time.Hour, Limit: time.Hour, Nodes: 1})
	}
	return history, r
}

func nothingHeld(n int) *infer.Result {
	r := &infer.Result{Held: make([]segue.Time, n)}
	for i := range r.Held {
		r.Held[i] = segue.NoTime
	}
	return r
}

func TestAFaithfulReplayOfAHistoryThatGivesNothingAwayIsPlain(t *testing.T) {
	t.Parallel()
	history, plain := replayOf(3)
	got := plain.faithful(history, nothingHeld(3))
	plain.Name = "faithful"
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
}

func TestAFaithfulReplayHoldsWhatWasFound(t *testing.T) {
	t.Parallel()
	history, plain := replayOf(4)
	plain.Jobs[3].Nodes = 9
	history[1].Priority, history[2].Priority = 1500, 0
	found := nothingHeld(4)
	found.Limits.MaxRunning = infer.Limit{Found: true, Value: 8}
	found.Limits.MaxNodes = infer.Limit{Found: true, Value: 4}
	found.Dependencies = []infer.Dependency{{Job: 1, After: 0}}
	found.Held[2] = segue.Seconds(7300)
	found.Order = infer.Order{Found: true, AgePerHour: 10, Median: 1200}
	found.Nodes = []infer.NodeDay{{Day: 0, InService: 12, Busiest: 12}}

	got := plain.faithful(history, found)
	want := Replay{
		Name: "faithful",
		Cluster: simulator.Config{
			Pools:  []simulator.Pool{{Name: "batch", Nodes: 12}},
			Limits: simulator.Limits{MaxRunningJobs: 8},
			QOS:    []simulator.QOS{{Name: "normal", Limits: simulator.Limits{MaxNodes: 4}}, {Name: "large"}},
			Order:  simulator.Order{Multifactor: &simulator.Multifactor{Age: 1680, MaxAge: 168 * time.Hour, AgeUncapped: true}},
		},
		Jobs: []simulator.Job{
			{Submit: segue.Seconds(0), Run: time.Hour, Limit: time.Hour, Nodes: 1, Nice: 200},
			{Submit: segue.Seconds(3600), Run: time.Hour, Limit: time.Hour, Nodes: 1, Nice: -300, After: []simulator.Dependency{{Job: 0}}},
			{Submit: segue.Seconds(7200), Run: time.Hour, Limit: time.Hour, Nodes: 1, Begin: segue.Seconds(7300)},
			{Submit: segue.Seconds(10800), Run: time.Hour, Limit: time.Hour, Nodes: 9, Nice: 200, QOS: 1},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	if plain.Jobs[1].After != nil || plain.Jobs[0].Nice != 0 {
		t.Error("the plain replay changed with the faithful one")
	}
	if _, err := Run(t.Context(), got, nil); err != nil {
		t.Error(err)
	}
}

func TestALimitOfTheClusterGoesBeforeAFoundOne(t *testing.T) {
	t.Parallel()
	_, plain := replayOf(1)
	plain.Cluster.Limits.MaxRunningJobs = 3
	found := nothingHeld(1)
	found.Limits.MaxRunning = infer.Limit{Found: true, Value: 8}
	if got := plain.withUserLimits(found).Cluster.Limits.MaxRunningJobs; got != 3 {
		t.Errorf("limit is %d, want the cluster's 3", got)
	}
}

func TestRunTellsItsProgressAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, r := replayOf(50)
	var told []int
	result, err := Run(t.Context(), r, func(arrived int) { told = append(told, arrived) })
	if err != nil || len(result.Starts) != 50 || len(told) == 0 || told[len(told)-1] != 50 {
		t.Errorf("error %v, %d starts, told %v", err, len(result.Starts), told)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestProbeChainSubmitsEveryLinkAtTheLead(t *testing.T) {
	t.Parallel()
	_, r := replayOf(100)
	setup := Setup{Cluster: r.Cluster, Jobs: r.Jobs, Pair: segue.Shape{Nodes: 2, Limit: 5 * time.Hour}}
	for _, lead := range []time.Duration{0, 90 * time.Minute, 5 * time.Hour} {
		links, err := ProbeChain(setup, segue.Seconds(3600), 4, lead)
		if err != nil {
			t.Fatal(err)
		}
		for k, l := range links[1:] {
			if want := links[k].End.Add(-lead); l.Submit != want || l.Start != want {
				t.Errorf("lead %s: link %d is submitted at %s and starts at %s, want %s on an idle cluster", lead, k+2, l.Submit, l.Start, want)
			}
		}
	}
}
