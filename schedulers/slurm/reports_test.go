package slurm

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// These tests bear the numbers of docs/compatibility.md's reports.

// asked returns a driver with accounting that answers sacct with records, and
// the command lines that it runs.
func asked(sacct string) (*Driver, *[]string) {
	var lines []string
	return New(Config{
		Env: []string{}, Now: func() segue.Time { return noon },
		Run: func(_ context.Context, c Command) (Result, error) {
			line := strings.Join(c.Argv, " ")
			lines = append(lines, line)
			switch {
			case line == "scontrol show config":
				return Result{Stdout: []byte("SLURM_VERSION = 22.05.8\nClusterName = segue\nAccountingStorageType = accounting_storage/slurmdbd\nMinJobAge = 300 sec\n")}, nil
			case line == "sacct --helpformat":
				return Result{Stdout: []byte("JobID State SubmitLine\n")}, nil
			case c.Argv[0] == "sacct":
				return separated(c, Result{Stdout: []byte(sacct)}), nil
			case c.Argv[0] == "sdiag":
				return Result{Stdout: []byte(sdiag(0))}, nil
			case c.Argv[0] == "squeue":
				return separated(c, Result{Stdout: []byte(jobRecord(nil))}), nil
			}
			return separated(c, Result{Stdout: []byte(oneNode)}), nil
		},
	}), &lines
}

func statusesOf(t *testing.T, sacct string, jobs ...int64) map[segue.JobID]schedulers.Status {
	t.Helper()
	d, _ := asked(sacct)
	var ids []segue.JobID
	for _, n := range jobs {
		ids = append(ids, segue.JobID{Number: n})
	}
	got, err := d.Status(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// One job that squeue has forgotten makes its answer about all others an error,
// when it is asked for by number. So it is not.
func TestReport14AForgottenJobSpoilsNoAnswer(t *testing.T) {
	t.Parallel()
	d, lines := asked("12|COMPLETED|1676370000|1676372400|1676376000|0:0|1-00:00:00\n")
	if _, err := d.State(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, line := range *lines {
		if strings.HasPrefix(line, "squeue") && (strings.Contains(line, "--job") || strings.Contains(line, " -j")) {
			t.Errorf("squeue is asked for jobs by their number: %s", line)
		}
	}
	got := statusesOf(t, "12|COMPLETED|1676370000|1676372400|1676376000|0:0|1-00:00:00\n", 12, 13)
	if len(got) != 1 || got[segue.JobID{Number: 12}].Life != schedulers.Ended {
		t.Errorf("the accounting knows %+v, want that job 12 has ended and nothing of job 13", got)
	}
}

// After a preemption and a requeue a job has several records, and the one of the
// preemption stays for good.
func TestReport17TheLastRecordOfARequeuedJobCounts(t *testing.T) {
	t.Parallel()
	const (
		preempted = "12|PREEMPTED|1676370000|1676370060|1676372000|0:15|1-00:00:00\n"
		again     = "12|PREEMPTED|1676372120|1676372180|1676373000|0:15|1-00:00:00\n"
		completed = "12|COMPLETED|1676373120|1676373180|1676376000|0:0|1-00:00:00\n"
	)
	want := map[segue.JobID]schedulers.Status{{Number: 12}: {
		Life: schedulers.Ended, State: segue.Completed, Submit: segue.Seconds(1676373120), Start: segue.Seconds(1676373180), End: noon, Restarts: 2,
	}}
	for _, records := range []string{preempted + again + completed, completed + preempted + again} {
		if diff := cmp.Diff(want, statusesOf(t, records, 12)); diff != "" {
			t.Errorf("of\n%s(-want +got):\n%s", records, diff)
		}
	}
	d, lines := asked(completed)
	if _, err := d.Status(t.Context(), []segue.JobID{{Number: 12}}); err != nil {
		t.Fatal(err)
	}
	if last := (*lines)[len(*lines)-1]; !strings.Contains(last, "--duplicates") {
		t.Errorf("without --duplicates sacct shows one record of a requeued job: %s", last)
	}
}

// A job that waits, or is on its way back, is not one that failed.
func TestReport21WhatTheAccountingCallsPendingIsAlive(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]schedulers.Life{
		"PENDING": schedulers.Alive, "RUNNING": schedulers.Alive, "SUSPENDED": schedulers.Alive, "REQUEUED": schedulers.Alive,
		"CANCELLED by 1000": schedulers.Ended, "TIMEOUT": schedulers.Ended, "NODE_FAIL": schedulers.Ended, "LATER_ADDED": schedulers.Unknown,
	} {
		record := "12|" + state + "|1676370000|Unknown|Unknown|0:0|1-00:00:00\n"
		if got := statusesOf(t, record, 12)[segue.JobID{Number: 12}]; got.Life != want {
			t.Errorf("%s is %s, want %s", state, got.Life, want)
		}
	}
}

// The exit code and the signal are told apart, in every spelling; how a job ended
// is read from its state, and from no signal.
func TestReport61ATimeOutIsToldFromAPreemption(t *testing.T) {
	t.Parallel()
	for i, state := range []segue.JobState{segue.Timeout, segue.Preempted, segue.NodeFail, segue.Cancelled, segue.Failed} {
		number := int64(20 + i)
		record := strconv.FormatInt(number, 10) + "|" + state.String() + "|1676370000|1676370060|1676372000|0:15|1-00:00:00\n"
		got := statusesOf(t, record, number)[segue.JobID{Number: number}]
		if got.State != state || got.Signal != 15 || got.ExitCode != 0 {
			t.Errorf("%s ended by signal 15 is read as %s, code %d, signal %d", state, got.State, got.ExitCode, got.Signal)
		}
	}
}

// A job that slurmctld has lost leaves its number to the next one. Its record, if it
// got one, is no earlier run of that.
func TestTheNumberOfALostJobIsGivenAgain(t *testing.T) {
	t.Parallel()
	const (
		lost  = "12|PENDING|1676370000|Unknown|Unknown|0:0|1-00:00:00|ada||sbatch --comment=segue:abc/2.1 train.sh\n"
		other = "12|COMPLETED|1676373120|1676373180|1676376000|0:0|1-00:00:00|ben|a|b|sbatch -J x y.sh\n"
		again = "12|COMPLETED|1676373120|1676373180|1676376000|0:0|1-00:00:00|ada|x segue:abc/2.2|sbatch train.sh\n"
	)
	for name, tt := range map[string]struct{ records, wantUser, wantToken string }{
		"to somebody else":       {lost + other, "ben", ""},
		"to the next attempt":    {lost + again, "ada", "segue:abc/2.2"},
		"to nobody":              {lost, "ada", "segue:abc/2.1"},
		"to somebody else later": {other + lost, "ben", ""},
	} {
		if s := statusesOf(t, tt.records, 12)[segue.JobID{Number: 12}]; s.User != tt.wantUser || s.Token != tt.wantToken || s.Restarts != 0 {
			t.Errorf("%s: job 12 is %+v, want it %s's, with the token %q and never requeued", name, s, tt.wantUser, tt.wantToken)
		}
	}
}
