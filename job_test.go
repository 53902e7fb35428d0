package segue_test

import (
	"testing"
	"time"

	"github.com/segue-project/segue"
)

func TestJobIDIsSpeltAsSlurmDoes(t *testing.T) {
	t.Parallel()
	for want, id := range map[string]segue.JobID{
		"1234":   {Number: 1234},
		"1234_0": {Number: 1234, Kind: segue.ArrayTask},
		"1234_5": {Number: 1234, Sub: 5, Kind: segue.ArrayTask},
		"1234+1": {Number: 1234, Sub: 1, Kind: segue.HetComponent},
	} {
		if got := id.String(); got != want {
			t.Errorf("%#v is spelt %q, want %q", id, got, want)
		}
	}
}

func TestParseJobState(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]segue.JobState{
		"COMPLETED":          segue.Completed,
		"CANCELLED by 1000":  segue.Cancelled,
		"CANCELLED+":         segue.Cancelled, // sacct cuts a column and says so
		"OUT_OF_ME+":         segue.OutOfMemory,
		"NODE_FAIL":          segue.NodeFail,
		"PENDING":            segue.Pending,
		"COMPLETING":         segue.StateUnknown, // runs still, in a way
		"COMPL":              segue.StateUnknown, // too short to be sure
		"completed":          segue.StateUnknown,
		"":                   segue.StateUnknown,
		"+":                  segue.StateUnknown,
		"REVOKED":            segue.StateUnknown,
		"REQUEUED in a hold": segue.Requeued,
	} {
		if got := segue.ParseJobState(text); got != want {
			t.Errorf("ParseJobState(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestEveryStateIsReadBack(t *testing.T) {
	t.Parallel()
	for s := segue.StateUnknown; s <= segue.Requeued; s++ {
		if got := segue.ParseJobState(s.String()); got != s {
			t.Errorf("%s is read back as %s", s, got)
		}
	}
	if got := segue.JobState(200).String(); got != "JobState(200)" {
		t.Errorf("a state that there is not prints as %q", got)
	}
}

func TestEndedStates(t *testing.T) {
	t.Parallel()
	alive := map[segue.JobState]bool{
		segue.StateUnknown: true, segue.Pending: true, segue.Running: true, segue.Suspended: true, segue.Requeued: true,
	}
	for s := segue.StateUnknown; s <= segue.Requeued; s++ {
		if s.Ended() == alive[s] {
			t.Errorf("%s.Ended() = %t", s, s.Ended())
		}
	}
}

func TestJobTimes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		submit, start, end segue.Time
		wantRan            bool
		wantWait, wantRun  time.Duration
	}{
		"it ran":                  {segue.Seconds(10), segue.Seconds(40), segue.Seconds(100), true, 30 * time.Second, time.Minute},
		"it runs":                 {segue.Seconds(10), segue.Seconds(40), segue.NoTime, false, 30 * time.Second, 0},
		"cancelled as it waited":  {segue.Seconds(10), segue.NoTime, segue.Seconds(100), false, 0, 0},
		"nobody knows when first": {segue.NoTime, segue.Seconds(40), segue.Seconds(100), true, 0, time.Minute},
		"it waits":                {segue.Seconds(10), segue.NoTime, segue.NoTime, false, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := segue.Job{Submit: tt.submit, Start: tt.start, End: tt.end}
			if j.Ran() != tt.wantRan || j.Wait() != tt.wantWait || j.Run() != tt.wantRun {
				t.Errorf("ran %t, waited %s, ran for %s; want %t, %s, %s",
					j.Ran(), j.Wait(), j.Run(), tt.wantRan, tt.wantWait, tt.wantRun)
			}
		})
	}
}

func TestElapsedOfAQueuedJob(t *testing.T) {
	t.Parallel()
	q := segue.QueuedJob{Start: segue.Seconds(60)}
	if got := q.Elapsed(segue.Seconds(90)); got != 30*time.Second {
		t.Errorf("a running job has run for %s, want 30s", got)
	}
	q.Start = segue.NoTime
	if got := q.Elapsed(segue.Seconds(90)); got != 0 {
		t.Errorf("a pending job has run for %s, want 0", got)
	}
}
