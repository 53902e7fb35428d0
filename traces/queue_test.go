package traces

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestLongestQueueCountsTheJobsThatWaitedLong(t *testing.T) {
	t.Parallel()
	job := func(submit, start int64) segue.Job {
		return segue.Job{Submit: segue.Seconds(submit), Start: segue.Seconds(start)}
	}
	tests := []struct {
		name string
		jobs []segue.Job
		want Queue
	}{
		{"no job", nil, Queue{At: segue.NoTime}},
		{"short waits do not count", []segue.Job{job(0, 600), job(10, 20)}, Queue{At: segue.NoTime}},
		{"a job that starts makes room before the next is submitted", []segue.Job{job(0, 1000), job(1000, 2000)}, Queue{1, segue.Seconds(0)}},
		{"the first of equal moments", []segue.Job{job(0, 1000), job(500, 3000), job(2000, 4000)}, Queue{2, segue.Seconds(500)}},
		{"order of the file does not matter", []segue.Job{job(2000, 9000), job(100, 8000), job(1000, 5000)}, Queue{3, segue.Seconds(2000)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var q queueline
			for i := range tt.jobs {
				q.add(&tt.jobs[i])
			}
			if diff := cmp.Diff(tt.want, q.longest()); diff != "" {
				t.Errorf("longest queue (-want +got):\n%s", diff)
			}
		})
	}
}
