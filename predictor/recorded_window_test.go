package predictor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestRecordedWindowHoldsTheHoursBefore(t *testing.T) {
	t.Parallel()
	const h = segue.Time(3_600_000_000)
	job := func(submit, start, end segue.Time, user string) segue.Job {
		return segue.Job{Submit: submit, Start: start, End: end, Eligible: segue.NoTime, Limit: 48 * 3600e9, Nodes: 2, User: user}
	}
	jobs := []segue.Job{
		job(100*h+1, 101*h, 130*h, "ada"),
		job(110*h+1, 118*h, 140*h, "ben"),
		job(111*h+1, 119*h, 141*h, "me"), // one's own
	}
	width := len(SummaryNames())
	got := RecordedWindow(jobs, 120*h+h/2, 8, "me")
	if len(got) != SummarySteps*width {
		t.Fatalf("%d numbers, want %d for each of %d hours", len(got), width, SummarySteps)
	}
	for k := range SummarySteps {
		hour := segue.Time(97+k) * h
		want := make([]float32, width)
		if hour > 100*h {
			now := RecordedAt(jobs[:2], hour, 8)
			want = Summarise(&now.Snapshot, "", nil)
		}
		if diff := cmp.Diff(want, got[k*width:(k+1)*width]); diff != "" {
			t.Errorf("hour %d (-want +got):\n%s", 97+k, diff)
		}
	}
	jobs = append(jobs, job(120*h+h/4, 121*h, 122*h, "ada"))
	jobs[0].End = 125 * h
	if diff := cmp.Diff(got, RecordedWindow(jobs, 120*h+h/2, 8, "me")); diff != "" {
		t.Errorf("what came after the last full hour makes a difference:\n%s", diff)
	}
}
