package predictor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// record returns a job of four hours by hours of submission, start and end; 0
// is not known.
func record(id int64, submit, start, end int) segue.Job {
	instant := func(h int) segue.Time {
		if h == 0 {
			return segue.NoTime
		}
		return segue.Seconds(int64(h) * 3600)
	}
	return segue.Job{
		ID: segue.JobID{Number: id}, User: "ada", Nodes: 2, Limit: 4 * hour, State: segue.Completed, ExitCode: 1,
		Submit: instant(submit), Eligible: segue.NoTime, Start: instant(start), End: instant(end),
	}
}

func TestRecordedAtNoon(t *testing.T) {
	t.Parallel()
	noon := segue.Seconds(12 * 3600)
	with := func(j segue.Job, change func(*segue.Job)) segue.Job { change(&j); return j }
	tests := map[string]struct {
		job                                          segue.Job
		wantRunning, wantPending, wantHeld, wantPast int
	}{
		"it ran":                         {job: record(1, 1, 2, 3), wantPast: 1},
		"it runs":                        {job: record(1, 9, 11, 14), wantRunning: 1},
		"nobody knows when it will end":  {job: record(1, 9, 11, 0), wantRunning: 1},
		"it waits":                       {job: record(1, 9, 13, 14), wantPending: 1},
		"it was cancelled as it waited":  {job: record(1, 9, 0, 11)},
		"it will be cancelled":           {job: record(1, 9, 0, 13), wantPending: 1},
		"it comes later":                 {job: record(1, 13, 14, 15)},
		"it comes at noon":               {job: record(1, 12, 12, 15)},
		"it starts at noon":              {job: record(1, 9, 12, 15), wantPending: 1},
		"it ends at noon":                {job: record(1, 9, 10, 12), wantRunning: 1},
		"it has no submission":           {job: record(1, 0, 10, 11)},
		"it waits for another job still": {job: with(record(1, 9, 14, 15), func(j *segue.Job) { j.Eligible = noon.Add(hour) }), wantHeld: 1},
		"eligible since ten":             {job: with(record(1, 9, 14, 15), func(j *segue.Job) { j.Eligible = noon.Add(-2 * hour) }), wantPending: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := predictor.RecordedAt([]segue.Job{tt.job}, noon, 5)
			snap := now.Snapshot
			if snap.At != noon || snap.Nodes != 5 {
				t.Errorf("a snapshot of %d nodes at %s, want 5 at %s", snap.Nodes, snap.At, noon)
			}
			held := 0
			for _, q := range snap.Pending {
				if !q.Eligible.Known() {
					held++
				}
			}
			got := []int{len(snap.Running), len(snap.Pending) - held, held, now.History.EndedJobs()}
			if diff := cmp.Diff([]int{tt.wantRunning, tt.wantPending, tt.wantHeld, tt.wantPast}, got); diff != "" {
				t.Errorf("running, pending, held and past jobs differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJobIsShownAsTheSchedulerWould(t *testing.T) {
	t.Parallel()
	running, waiting := record(7, 9, 11, 14), record(8, 10, 15, 16)
	running.Account, running.Partition, running.QOS = "lab", "gpu", "high"
	waiting.Nodes, waiting.Limit = 0, 0
	waiting.Eligible = segue.Seconds(11 * 3600)
	want := segue.Snapshot{
		At: segue.Seconds(12 * 3600), Nodes: 5,
		Running: []segue.QueuedJob{{
			ID: segue.JobID{Number: 7},
			Request: segue.Request{
				Shape: segue.Shape{Nodes: 2, Limit: 4 * hour}, User: "ada", Account: "lab", Partition: "gpu", QOS: "high",
			},
			Submit: segue.Seconds(9 * 3600), Eligible: segue.Seconds(9 * 3600), Start: segue.Seconds(11 * 3600),
		}},
		Pending: []segue.QueuedJob{{
			ID:      segue.JobID{Number: 8},
			Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: segue.Unlimited}, User: "ada"},
			Submit:  segue.Seconds(10 * 3600), Eligible: segue.Seconds(11 * 3600), Start: segue.NoTime,
		}},
	}
	got := predictor.RecordedAt([]segue.Job{waiting, running}, want.At, 5)
	if diff := cmp.Diff(want, got.Snapshot); diff != "" {
		t.Errorf("snapshot differs (-want +got):\n%s", diff)
	}
}

func TestKnownStripsWhatHasNotHappened(t *testing.T) {
	t.Parallel()
	done, runs, waits := record(1, 1, 2, 3), record(2, 9, 11, 14), record(3, 10, 13, 14)
	runs.Restarts, waits.Signal, waits.Eligible = 2, 9, segue.Seconds(13*3600)
	want := []segue.Job{done, runs, waits}
	want[1].End, want[1].State, want[1].ExitCode, want[1].Restarts = segue.NoTime, segue.Running, 0, 0
	want[2].Start, want[2].End, want[2].Eligible = segue.NoTime, segue.NoTime, segue.NoTime
	want[2].State, want[2].ExitCode, want[2].Signal = segue.Pending, 0, 0
	got := predictor.Known([]segue.Job{done, runs, waits, record(4, 13, 14, 15)}, segue.Seconds(12*3600))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is known differs (-want +got):\n%s", diff)
	}
}

// A history without limits, as some archives have, says when nodes come free
// only by what was learned of the run times.
func TestForecastFromRecordsWithoutLimits(t *testing.T) {
	t.Parallel()
	var jobs []segue.Job
	for i := range 40 {
		j := record(int64(i), 1+2*i, 1+2*i, 3+2*i) // one after the other, 2 h each
		j.Limit = 0
		jobs = append(jobs, j)
	}
	cluster := clusterOf(2, 0)
	now := predictor.RecordedAt(jobs, segue.Seconds(60*3600), 2)
	if len(now.Snapshot.Running) != 1 {
		t.Fatalf("%d jobs run, want 1", len(now.Snapshot.Running))
	}
	for _, f := range newForecasters(t, cluster)[3:] {
		if got := forecastOf(t, f, now, request(2)); got.Quantile(0.5) != hour {
			t.Errorf("%s: a median wait of %s, want 1h", f.Name(), got.Quantile(0.5))
		}
	}
}
