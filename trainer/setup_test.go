package trainer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

func TestHiddenPrioritiesAreNotShownToForecasters(t *testing.T) {
	t.Parallel()
	known := []simulator.Job{{Nice: 5}, {}}
	s := Setup{
		Cluster:   simulator.Config{Pools: []simulator.Pool{{Nodes: 4}}},
		Known:     &simulator.Config{Pools: []simulator.Pool{{Nodes: 4}}},
		KnownJobs: known,
	}
	snap := segue.Snapshot{Nodes: 4, Pending: []segue.QueuedJob{
		{ID: segue.JobID{Number: 0}, Priority: 1995},
		{ID: segue.JobID{Number: 1}, Priority: -700},
		{ID: segue.JobID{Number: 2}, Priority: 9}, // the chain's own, which no history holds
	}}
	var got []int64
	for _, q := range s.believe(snap).Pending {
		got = append(got, q.Priority)
	}
	if diff := cmp.Diff([]int64{-5, 0, 9}, got); diff != "" {
		t.Errorf("priorities shown (-want +got):\n%s", diff)
	}
}

func TestRequestedLimitsDoNotGiveTheEndAway(t *testing.T) {
	t.Parallel()
	at := func(h int) segue.Time { return segue.Seconds(int64(h) * 3600) }
	history := []segue.Job{
		{User: "overran", Submit: at(0), Start: at(0), End: at(2) + 31e6, Limit: 2 * time.Hour, Nodes: 1},
		{User: "never ran", Submit: at(1), Start: segue.NoTime, End: at(3), Limit: 4 * time.Hour, Nodes: 1},
		{User: "unlimited", Submit: at(1), Start: at(2), End: at(3), Limit: segue.Unlimited, Nodes: 1},
		{User: "short", Submit: at(2), Start: at(2), End: at(3), Limit: 4 * time.Hour, Nodes: 1},
	}
	replays, err := Replays(history, simulator.Config{Pools: []simulator.Pool{{Nodes: 2}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	type times struct{ Run, Limit time.Duration }
	var got []times
	for _, j := range replays[0].RequestedLimits(history).Jobs {
		got = append(got, times{j.Run, j.Limit})
	}
	want := []times{
		{2 * time.Hour, 2 * time.Hour}, {time.Second, 4 * time.Hour}, {time.Hour, time.Hour}, {time.Hour, 4 * time.Hour},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run times and limits (-want +got):\n%s", diff)
	}
	if over := replays[0].Jobs[0].Limit; over == 2*time.Hour {
		t.Errorf("the replay itself was changed: the limit of the job that overran is %s", over)
	}
}
