package schedulers_test

import (
	"context"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// These tests bear the numbers of docs/compatibility.md's reports.

// showing is a cluster that shows one job as a test says.
type showing struct {
	*troubled
	job schedulers.Job
}

func (d *showing) State(ctx context.Context) (schedulers.State, error) {
	s, err := d.troubled.State(ctx)
	s.Jobs = []schedulers.Job{d.job}
	return s, err
}

// shows returns a cluster on which job 77 is shown, and which pauses for no time.
func shows(t *testing.T, job schedulers.Job) (*schedulers.Cluster, *showing) {
	t.Helper()
	_, d := newCluster(t)
	job.ID = segue.JobID{Number: 77}
	s := &showing{d, job}
	c, err := schedulers.New(s, schedulers.Config{Now: d.Now, Fresh: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// On its way back into the queue a preempted job looks like one that has ended;
// where the scheduler may requeue it, it counts as ended only when it is
// not back after a minute. Where it cannot be requeued (PreemptMode=CANCEL) it
// has ended at once.
func TestReports8And16APreemptedJobMayComeBack(t *testing.T) {
	t.Parallel()
	for _, state := range []segue.JobState{segue.Preempted, segue.NodeFail, segue.BootFail} {
		for _, requeueable := range []bool{true, false} {
			c, d := shows(t, schedulers.Job{State: state, EndTime: noon, Requeueable: requeueable})
			want := schedulers.Ended
			if requeueable {
				want = schedulers.Unknown
			}
			if s := status(t, c, d.job.ID); s.Life != want {
				t.Errorf("%s just now, requeueable %t: it is %s, want %s", state, requeueable, s.Life, want)
			}
			d.Advance(noon.Add(2 * time.Minute))
			if s := status(t, c, d.job.ID); s.Life != schedulers.Ended {
				t.Errorf("%s two minutes ago, requeueable %t: it is %s, want ended", state, requeueable, s.Life)
			}
		}
	}
	c, d := shows(t, schedulers.Job{State: segue.Requeued, Requeueable: true})
	if s := status(t, c, d.job.ID); s.Life != schedulers.Alive {
		t.Errorf("requeued it is %s, want alive", s.Life)
	}
}

// The accounting has called a script that exits with 1 completed. What the
// scheduler itself shows goes before it.
func TestReport18TheSchedulerKnowsBetterThanItsAccounting(t *testing.T) {
	t.Parallel()
	c, d := shows(t, schedulers.Job{State: segue.Failed, ExitCode: 1, EndTime: noon})
	d.accounted = map[segue.JobID]schedulers.Status{d.job.ID: {Life: schedulers.Ended, State: segue.Completed}}
	if s := status(t, c, d.job.ID); s.State != segue.Failed || s.ExitCode != 1 {
		t.Errorf("it ended as %s with %d, want FAILED with 1", s.State, s.ExitCode)
	}
}
