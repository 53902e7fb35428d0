package traces

import (
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

func TestLonestar6RowsBecomeJobs(t *testing.T) {
	t.Parallel()
	job := segue.Job{
		ID: segue.JobID{Number: 478729}, Name: "dimer.10", User: "00000",
		Submit: utc(t, "2022-10-05T16:52:48"), Eligible: segue.NoTime, Start: utc(t, "2022-11-01T20:34:14"), End: utc(t, "2022-11-01T21:34:14"),
		Limit: 48 * time.Hour, Nodes: 2, Priority: 1234, State: segue.Completed,
	}
	const row = "478729\tdimer.10\t00000\t2022-11-01T15:34:14\t2022-10-05T11:52:48\t2022-11-01T16:34:14\t1234\t2880\t0:0\t2\n"
	with := func(before, after string) string { return ls6Head + strings.Replace(row, before, after, 1) }
	for name, test := range map[string]struct {
		text     string
		change   func(*segue.Job)
		findings map[Reason]int64
	}{
		"as logged":                       {text: ls6Head + row},
		"without a header":                {text: row},
		"in files joined with headers":    {text: ls6Head + row + ls6Head},
		"a name with a tab":               {text: with("dimer", "di\tmer"), change: func(j *segue.Job) { j.Name = "di\tmer.10" }, findings: map[Reason]int64{ColumnsJoined: 1}},
		"a name cut short":                {text: with("dimer.10", "tap_jupyt+"), change: func(j *segue.Job) { j.Name = "tap_jupyt+" }},
		"a name that is empty":            {text: with("dimer.10", ""), change: func(j *segue.Job) { j.Name = "" }},
		"a name of other letters":         {text: with("dimer.10", "|расчёт| ≈ "), change: func(j *segue.Job) { j.Name = "|расчёт| ≈ " }},
		"zero seconds are a cancellation": {text: with("T16:34:14", "T15:34:14"), change: func(j *segue.Job) { j.Start, j.End, j.State = segue.NoTime, j.Start, segue.Cancelled }, findings: map[Reason]int64{NeverStarted: 1}},
		"an exit code is a failure":       {text: with("0:0", "2:9"), change: func(j *segue.Job) { j.ExitCode, j.Signal, j.State = 2, 9, segue.Failed }},
		"a run to the limit is a timeout": {text: with("2880", "60"), change: func(j *segue.Job) { j.Limit, j.State = time.Hour, segue.Timeout }},
		"a limit that is none":            {text: with("2880", "UNLIMITED"), change: func(j *segue.Job) { j.Limit = segue.Unlimited }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := job
			if test.change != nil {
				test.change(&want)
			}
			h := read(t, test.text, Options{})
			wantJobs(t, h.Jobs, []segue.Job{want})
			wantFindings(t, &h.Findings, test.findings)
		})
	}
}

func TestZoneOfTheLogCanBeGiven(t *testing.T) {
	t.Parallel()
	const row = "7\ta\tu\t2022-11-01T15:34:14\t2022-11-01T11:52:48\t2022-11-01T16:34:14\t1\t60\t0:0\t2\n"
	h := read(t, row, Options{Zone: zoneOf(t, "Asia/Kolkata")})
	if got, want := h.Jobs[0].Start, utc(t, "2022-11-01T10:04:14"); got != want {
		t.Errorf("start is %v, want %v", got, want)
	}
}

// The clocks of Chicago went back from 02:00 to 01:00 on 2022-11-06 at 07:00
// UTC, and forward from 02:00 to 03:00 on 2023-03-12 at 08:00 UTC.
func TestClockChangesAreReadAsTheRecordFitsBest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		submit, start, end string // local
		limit              string
		wantStart, wantEnd string // UTC
		finding            Reason
	}{
		"start and end in the hour that occurs twice": {
			"2022-11-06T00:10:00", "2022-11-06T01:10:00", "2022-11-06T01:40:00", "60", "2022-11-06T06:10:00", "2022-11-06T06:40:00", AmbiguousTime,
		},
		"end seems to precede start by the hour": {
			"2022-11-06T00:10:00", "2022-11-06T01:50:00", "2022-11-06T01:10:00", "60", "2022-11-06T06:50:00", "2022-11-06T07:10:00", AmbiguousTime,
		},
		"start seems to precede submit by the hour": {
			"2022-11-06T01:50:00", "2022-11-06T01:10:00", "2022-11-06T03:00:00", "600", "2022-11-06T07:10:00", "2022-11-06T09:00:00", AmbiguousTime,
		},
		"only the later start respects the limit": {
			"2022-11-05T12:00:00", "2022-11-06T01:42:20", "2022-11-08T01:42:20", "2880", "2022-11-06T07:42:20", "2022-11-08T07:42:20", AmbiguousTime,
		},
		"a run over the change is an hour longer than it looks": {
			"2022-11-06T00:10:00", "2022-11-06T00:30:00", "2022-11-06T02:30:00", "600", "2022-11-06T05:30:00", "2022-11-06T08:30:00", usable,
		},
		"a time that the clock jumped over": {
			"2023-03-12T00:10:00", "2023-03-12T01:30:00", "2023-03-12T02:30:00", "600", "2023-03-12T07:30:00", "2023-03-12T08:30:00", SkippedTime,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := strings.Join([]string{"7", "a", "u", test.start, test.submit, test.end, "1", test.limit, "0:0", "2"}, "\t") + "\n"
			h := read(t, row, Options{})
			want := map[Reason]int64{test.finding: 1}
			delete(want, usable)
			wantFindings(t, &h.Findings, want)
			j := h.Jobs[0]
			if j.Start != utc(t, test.wantStart) || j.End != utc(t, test.wantEnd) {
				t.Errorf("ran from %v to %v, want %s to %s", j.Start, j.End, test.wantStart, test.wantEnd)
			}
		})
	}
}

func TestElapsedTimeDecidesBetweenEqualLocalTimes(t *testing.T) {
	t.Parallel()
	h := read(t, "JobID|Submit|Start|End|Elapsed|Timelimit|NNodes\n"+
		"7|2022-11-05T12:00:00|2022-11-06T00:30:00|2022-11-06T01:30:00|02:00:00|1-00:00:00|1\n",
		Options{Zone: zoneOf(t, "America/Chicago")})
	if got, want := h.Jobs[0].End, utc(t, "2022-11-06T07:30:00"); got != want {
		t.Errorf("end is %v, want %v", got, want)
	}
}
