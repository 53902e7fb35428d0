package predictor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/traces"
)

// sameAs compares what a walk shows with what RecordedAt shows, features of the
// whole past included.
func sameAs(t rapid.TB, jobs []segue.Job, at segue.Time, snap *segue.Snapshot, history *predictor.History) {
	t.Helper()
	want := predictor.RecordedAt(jobs, at, 5)
	if diff := cmp.Diff(&want.Snapshot, snap, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("at %s the snapshot differs (-recorded +walked):\n%s", at, diff)
	}
	walked := predictor.Present{Snapshot: *snap, History: history}
	req := segue.Request{Shape: segue.Shape{Nodes: 2, Limit: 4 * hour}, User: "ada"}
	numbers := func(now predictor.Present) []float32 {
		told := predictor.Told{}
		for _, f := range []predictor.Forecaster{predictor.NewRecent(100), predictor.NewRecentShape(100), predictor.NewRecentUser(100)} {
			said, err := f.Forecast(&now, req)
			if err != nil {
				t.Fatal(err)
			}
			told[f.Name()] = said
		}
		var d predictor.Describer
		return d.Describe(&now, req, told, []float32{float32(told["recent-user"].Mean().Hours())})
	}
	if diff := cmp.Diff(numbers(want), numbers(walked), cmpopts.EquateNaNs()); diff != "" {
		t.Fatalf("at %s features differ (-recorded +walked):\n%s", at, diff)
	}
}

func TestWalkSeesWhatRecordedAtSees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawRecords(t)
		w, err := predictor.NewWalk(jobs, 5)
		if err != nil {
			t.Fatal(err)
		}
		var snap segue.Snapshot
		for at := 0; at < 60; at += rapid.IntRange(0, 8).Draw(t, "step") + 1 {
			instant := segue.Seconds(int64(at) * 3600)
			sameAs(t, jobs, instant, &snap, w.To(instant, &snap))
		}
	})
}

// drawRecords draws jobs that may be anything that a reader of traces accepts.
func drawRecords(t *rapid.T) []segue.Job {
	jobs := make([]segue.Job, rapid.IntRange(0, 12).Draw(t, "jobs"))
	for i := range jobs {
		submit := rapid.IntRange(1, 20).Draw(t, "submit")
		start := submit + rapid.IntRange(0, 20).Draw(t, "wait")
		jobs[i] = record(int64(i), submit, start, start+rapid.IntRange(0, 9).Draw(t, "run"))
		j := &jobs[i]
		j.User = rapid.SampledFrom([]string{"ada", "ben", ""}).Draw(t, "user")
		switch rapid.SampledFrom([]string{"ran", "runs", "waits", "cancelled", "no submission"}).Draw(t, "fate") {
		case "runs":
			j.End = segue.NoTime
		case "waits":
			j.Start, j.End = segue.NoTime, segue.NoTime
		case "cancelled":
			j.Start = segue.NoTime
		case "no submission":
			j.Submit = segue.NoTime
		}
		if rapid.Bool().Draw(t, "eligible") {
			j.Eligible = segue.Seconds(int64(rapid.IntRange(submit, start).Draw(t, "eligible at")) * 3600)
		}
	}
	return jobs
}

func TestWalkThroughTheLonestar6Log(t *testing.T) {
	t.Parallel()
	h, err := traces.Load(shared.Path(t, "traces/ls6-a100-to-2023-02.log"), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := predictor.NewWalk(h.Jobs, 5)
	if err != nil {
		t.Fatal(err)
	}
	var snap segue.Snapshot
	for i := 1500; i < len(h.Jobs); i += 1500 {
		sameAs(t, h.Jobs, h.Jobs[i].Submit, &snap, w.To(h.Jobs[i].Submit, &snap))
	}
}

func TestWalkRefusesTimesThatContradict(t *testing.T) {
	t.Parallel()
	eligible := func(at int) segue.Job {
		j := record(7, 2, 4, 6)
		j.Eligible = segue.Seconds(int64(at) * 3600)
		return j
	}
	tests := map[string]struct {
		job  segue.Job
		want string // in the error
	}{
		"it ends before it starts":         {record(7, 2, 4, 3), "its end"},
		"it starts before it is submitted": {record(7, 2, 1, 3), "its start"},
		"it is eligible before that":       {eligible(1), "its eligible"},
		"it starts before it is eligible":  {eligible(5), "its start"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := predictor.NewWalk([]segue.Job{record(1, 1, 1, 1), tt.job}, 5)
			if err == nil || segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "job 7, number 2 of it: "+tt.want) {
				t.Errorf("error %v, want an invalid job 7 for %s", err, tt.want)
			}
		})
	}
}

func TestWalkNeverGoesBack(t *testing.T) {
	t.Parallel()
	w, err := predictor.NewWalk(nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	var snap segue.Snapshot
	w.To(10, &snap)
	defer func() {
		if recover() == nil {
			t.Error("a step back in time was taken")
		}
	}()
	w.To(9, &snap)
}

func BenchmarkWalk(b *testing.B) {
	h, err := traces.Load(shared.Path(b, "traces/ls6-a100-to-2023-02.log"), traces.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w, err := predictor.NewWalk(h.Jobs, 76)
		if err != nil {
			b.Fatal(err)
		}
		var snap segue.Snapshot
		begin := time.Now()
		for i := range h.Jobs {
			w.To(h.Jobs[i].Submit, &snap)
		}
		b.ReportMetric(float64(len(h.Jobs))/time.Since(begin).Seconds(), "instants/s")
	}
}
