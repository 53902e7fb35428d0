package trainer

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// queuedHistory returns a recorded history of some days: waves of jobs of three
// users with priorities, some cancelled, one pending, one running at the end.
func queuedHistory(days int) []segue.Job {
	rng := rand.New(rand.NewPCG(1, 2))
	var jobs []segue.Job
	for d := 1; d <= days; d++ {
		for range 12 {
			submit := midnight(d).Add(time.Duration(rng.IntN(24*60)) * minute)
			wait := time.Duration(rng.ExpFloat64() * float64(d%5) * float64(hour)).Truncate(time.Second)
			j := segue.Job{
				ID: segue.JobID{Number: int64(len(jobs))}, User: []string{"ada", "ben", "cleo"}[rng.IntN(3)],
				Nodes: int32(1 + rng.IntN(3)), Limit: time.Duration(1+rng.IntN(12)) * hour, Priority: int64(1000 + rng.IntN(300)),
				Submit: submit, Eligible: segue.NoTime, Start: submit.Add(wait), State: segue.Completed,
			}
			j.End = j.Start.Add(min(time.Duration(rng.ExpFloat64()*float64(4*hour))+minute, j.Limit))
			if rng.IntN(10) == 0 {
				j.End, j.Start, j.State = j.Start, segue.NoTime, segue.Cancelled
			}
			jobs = append(jobs, j)
		}
	}
	last := &jobs[len(jobs)-1]
	last.Start, last.End, last.State = segue.NoTime, segue.NoTime, segue.Pending
	jobs[len(jobs)-2].End = segue.NoTime
	return jobs
}

func askedOf(t *testing.T, history []segue.Job) []Asked {
	t.Helper()
	asked, err := AskRecorded(context.Background(), RecordedConfig{
		History: history, Cluster: simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 12}}, Backfill: simulator.EASY},
		From: midnight(3), Monte: predictor.MonteCarloConfig{Replicas: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// rewritten returns the history with everything changed that had not happened
// before an instant: waits, run times, states, and the jobs submitted later.
func rewritten(history []segue.Job, at segue.Time) []segue.Job {
	var jobs []segue.Job
	for _, j := range history {
		if j.Submit > at {
			j.Priority, j.User, j.Nodes = 9999, "dan", 9
		}
		if j.Start.Known() && j.Start >= at {
			j.Start = j.Start.Add(100 * hour)
		}
		if j.End.Known() && j.End >= at {
			j.End, j.State = j.End.Add(200*hour), segue.Failed
		}
		jobs = append(jobs, j)
	}
	return jobs
}

func TestNothingLaterReachesAForecastOfRecordedWaits(t *testing.T) {
	t.Parallel()
	const days = 9
	history := queuedHistory(days)
	before := askedOf(t, history)
	origins := RecordedOrigins(midnight(5), midnight(days), 2*day)
	baselines := Baselines(before, origins)
	for _, at := range []segue.Time{midnight(4), midnight(6).Add(7*hour + 11*minute), midnight(8)} {
		after := askedOf(t, rewritten(history, at))
		others := Baselines(after, origins)
		n := 0
		for i := range before {
			if before[i].At >= at { // what happens at the instant itself is changed too
				break
			}
			n++
			if diff := cmp.Diff(before[i].Told, after[i].Told); diff != "" {
				t.Fatalf("the future from %s on changed what was told at %s:\n%s", at, before[i].At, diff)
			}
			if diff := cmp.Diff(before[i].Features, after[i].Features, cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("the future from %s on changed features at %s:\n%s", at, before[i].At, diff)
			}
			for k := range baselines {
				if diff := cmp.Diff(baselines[k].Forecasts[i], others[k].Forecasts[i]); diff != "" {
					t.Fatalf("the future from %s on changed %s at %s:\n%s", at, baselines[k].Name, before[i].At, diff)
				}
			}
		}
		if n == 0 {
			t.Fatalf("no submission before %s", at)
		}
	}
}

func TestWhatCameOfASubmission(t *testing.T) {
	t.Parallel()
	asked := askedOf(t, queuedHistory(5))
	counted, cancelled := 0, 0
	for i := range asked {
		switch a := &asked[i]; {
		case a.Counts:
			counted++
		case !a.Started && a.Left != segue.Never:
			cancelled++
		}
		if len(asked[i].Features) != len(RecordedFeatures()) {
			t.Fatalf("%d features, want %d", len(asked[i].Features), len(RecordedFeatures()))
		}
	}
	last := asked[len(asked)-1]
	for i := range asked {
		if asked[i].Job == 5*12-1 {
			last = asked[i]
		}
	}
	if counted == 0 || cancelled == 0 || last.Left != segue.Never || last.Counts {
		t.Errorf("%d count, %d were cancelled, the pending one %+v; want some of both, and one that never left", counted, cancelled, last)
	}
}

func TestWaitAsKnownAtAnInstant(t *testing.T) {
	t.Parallel()
	noon := midnight(1).Add(12 * hour)
	tests := map[string]struct {
		left     segue.Time
		started  bool
		want     time.Duration
		wantOver bool
	}{
		"it has started":                   {noon.Add(-hour), true, 2 * hour, true},
		"it starts later":                  {noon.Add(hour), true, 3 * hour, false},
		"it starts at the instant itself":  {noon, true, 3 * hour, false},
		"it was cancelled":                 {noon.Add(-hour), false, 2 * hour, false},
		"it waits for ever":                {segue.Never, false, 3 * hour, false},
		"it started within half a minute":  {noon.Add(-3 * hour).Add(30 * time.Second), true, 0, true},
		"it started after a minute":        {noon.Add(-3 * hour).Add(minute), true, 0, true},
		"it started after over one minute": {noon.Add(-3 * hour).Add(61 * time.Second), true, 61 * time.Second, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Asked{At: noon.Add(-3 * hour), Left: tt.left, Started: tt.started}
			if wait, over := a.Wait(noon); wait != tt.want || over != tt.wantOver {
				t.Errorf("waited %s, over: %t; want %s, %t", wait, over, tt.want, tt.wantOver)
			}
		})
	}
}

func TestHistoriesThatCannotBeAskedAbout(t *testing.T) {
	t.Parallel()
	one := simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 12}}}
	backwards := queuedHistory(4)
	backwards[0].Start = backwards[0].Submit.Add(-hour)
	tests := map[string]struct {
		cfg  RecordedConfig
		want string
	}{
		"no jobs":                {RecordedConfig{Cluster: one, From: midnight(1)}, "no job was submitted"},
		"none in the period":     {RecordedConfig{History: queuedHistory(4), Cluster: one, From: midnight(40)}, "no job was submitted"},
		"no pool":                {RecordedConfig{History: queuedHistory(4)}, "0 pools"},
		"times that contradict":  {RecordedConfig{History: backwards, Cluster: one, From: midnight(1)}, "its start"},
		"fewer than no replicas": {RecordedConfig{History: queuedHistory(4), Cluster: one, From: midnight(1), Monte: predictor.MonteCarloConfig{Replicas: -1}}, "-1 replicas"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := AskRecorded(context.Background(), tt.cfg)
			if err == nil || segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want an invalid one that says %q", err, tt.want)
			}
		})
	}
}
