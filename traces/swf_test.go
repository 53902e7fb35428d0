package traces

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestSWFHeaderIsUsed(t *testing.T) {
	t.Parallel()
	h := read(t, `; Version: 2.2
; Computer: IBM SP2
; UnixStartTime: 843480031
; TimeZoneString: Europe/Stockholm
; MaxNodes: 50 (48 in use)
; MaxProcs: 100
; MaxRecords: 1
;
   1 100 50 200 3 -1 -1 4 600 -1 1 12 3 -1 2 -1 -1 -1
`, Options{})
	wantHeader := Header{
		Format: SWF, Computer: "IBM SP2", UnixStart: segue.Seconds(843480031), Zone: "Europe/Stockholm",
		MaxNodes: 50, MaxProcs: 100, MaxRecords: 1,
	}
	if diff := cmp.Diff(wantHeader, h.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	wantJobs(t, h.Jobs, []segue.Job{{
		ID: segue.JobID{Number: 1}, User: "12", Account: "3", QOS: "2",
		Submit: segue.Seconds(843480131), Eligible: segue.NoTime, Start: segue.Seconds(843480181), End: segue.Seconds(843480381),
		Limit: 10 * time.Minute, Nodes: 2, CPUs: 3, State: segue.Completed,
	}})
	wantFindings(t, &h.Findings, map[Reason]int64{ProcessorsDiffer: 1})
}

func TestSWFTable(t *testing.T) {
	t.Parallel()
	never := segue.NoTime
	at := segue.Seconds
	for name, test := range map[string]struct {
		line     string
		want     *segue.Job
		findings map[Reason]int64
	}{
		"no start time: times count from the epoch": {
			line: "1 0 5 10 1 -1 -1 1 60 -1 1 -1 -1 -1 -1 -1 -1 -1",
			want: &segue.Job{Submit: 0, Start: at(5), End: at(15), Limit: time.Minute, Nodes: 1, CPUs: 1, State: segue.Completed},
		},
		"wait not known: the run time is kept": {
			line:     "1 100 -1 10 1 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1",
			want:     &segue.Job{Submit: at(100), Start: at(100), End: at(110), Nodes: 1, CPUs: 1, State: segue.Failed},
			findings: map[Reason]int64{WaitUnknown: 1, LimitUnknown: 1},
		},
		"cancelled before it ran": {
			line:     "1 100 50 0 0 -1 -1 4 60 -1 5 -1 -1 -1 -1 -1 -1 -1",
			want:     &segue.Job{Submit: at(100), Start: never, End: at(150), Limit: time.Minute, Nodes: 4, CPUs: 4, State: segue.Cancelled},
			findings: map[Reason]int64{NeverStarted: 1},
		},
		"cancelled while it ran": {
			line: "1 100 50 20 4 -1 -1 4 60 -1 5 -1 -1 -1 -1 -1 -1 -1",
			want: &segue.Job{Submit: at(100), Start: at(150), End: at(170), Limit: time.Minute, Nodes: 4, CPUs: 4, State: segue.Cancelled},
		},
		"still running": {
			line:     "1 100 50 -1 4 -1 -1 4 60 -1 -1 -1 -1 -1 -1 -1 -1 -1",
			want:     &segue.Job{Submit: at(100), Start: at(150), End: never, Limit: time.Minute, Nodes: 4, CPUs: 4, State: segue.Running},
			findings: map[Reason]int64{NotEnded: 1},
		},
		"still pending": {
			line:     "1 100 -1 -1 -1 -1 -1 4 60 -1 -1 -1 -1 -1 -1 -1 -1 -1",
			want:     &segue.Job{Submit: at(100), Start: never, End: never, Limit: time.Minute, Nodes: 4, CPUs: 4, State: segue.Pending},
			findings: map[Reason]int64{NotEnded: 1, NeverStarted: 1},
		},
		"status not known": {
			line: "1 100 50 20 4 -1 -1 4 60 -1 -1 -1 -1 -1 -1 -1 -1 -1",
			want: &segue.Job{Submit: at(100), Start: at(150), End: at(170), Limit: time.Minute, Nodes: 4, CPUs: 4},
		},
		"status that the standard does not have": {
			line:     "1 100 50 20 4 -1 -1 4 60 -1 9 -1 -1 -1 -1 -1 -1 -1",
			want:     &segue.Job{Submit: at(100), Start: at(150), End: at(170), Limit: time.Minute, Nodes: 4, CPUs: 4},
			findings: map[Reason]int64{UnknownState: 1},
		},
		"fractions are cut off": {
			line: "1 100.9 50.5 20.99 4 12.5 -1 4 6e1 -1 1 -1 -1 -1 -1 -1 -1 -1",
			want: &segue.Job{Submit: at(100), Start: at(150), End: at(170), Limit: time.Minute, Nodes: 4, CPUs: 4, State: segue.Completed},
		},
		"ran for no time": {
			line:     "1 100 50 0 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1",
			want:     &segue.Job{Submit: at(100), Start: at(150), End: at(150), Limit: time.Minute, Nodes: 4, CPUs: 4, State: segue.Completed},
			findings: map[Reason]int64{ZeroLength: 1},
		},
		"part of an execution": {
			line:     "1 100 50 20 4 -1 -1 4 60 -1 2 -1 -1 -1 -1 -1 -1 -1",
			findings: map[Reason]int64{PartialExecution: 1},
		},
		"17 fields":             {line: "1 100 50 20 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{TooFewColumns: 1}},
		"19 fields":             {line: "1 100 50 20 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{TooManyColumns: 1}},
		"no number":             {line: "1 100 fifty 20 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{BadNumber: 1}},
		"not a number at all":   {line: "1 100 NaN 20 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{BadNumber: 1}},
		"no job number":         {line: "-1 100 50 20 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{BadJobID: 1}},
		"no submit time":        {line: "1 -1 50 20 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{NoSubmit: 1}},
		"ran on no processors":  {line: "1 100 50 20 0 -1 -1 -1 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{NoNodes: 1}},
		"end beyond all time":   {line: "1 100 50 999999999999 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{OutOfRange: 1}},
		"more nodes than exist": {line: "1 100 50 20 99999999 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1", findings: map[Reason]int64{OutOfRange: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := read(t, test.line+"\n", Options{Format: SWF})
			var want []segue.Job
			if test.want != nil {
				j := *test.want
				j.ID.Number, j.Eligible = 1, never
				want = append(want, j)
			}
			wantJobs(t, h.Jobs, want)
			wantFindings(t, &h.Findings, test.findings)
		})
	}
}

func TestJoinedSWFFilesEachCountFromTheirOwnStart(t *testing.T) {
	t.Parallel()
	const line = " 10 0 5 1 -1 -1 1 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
	h := read(t, "; UnixStartTime: 1000000\n1"+line+"; UnixStartTime: 2000000\n2"+line, Options{})
	var got []segue.Time
	for _, j := range h.Jobs {
		got = append(got, j.Submit)
	}
	if diff := cmp.Diff([]segue.Time{segue.Seconds(1000010), segue.Seconds(2000010)}, got); diff != "" {
		t.Errorf("submit times (-want +got):\n%s", diff)
	}
}

func TestSWFTextsBecomeNumbersThatACommentExplains(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w, err := NewWriter(&b, WriteOptions{Format: SWF})
	if err != nil {
		t.Fatal(err)
	}
	job := trained(t)
	task := job
	task.ID, task.User, task.Name = segue.JobID{Number: 9, Sub: 3, Kind: segue.ArrayTask}, "12", "00012"
	for _, j := range []segue.Job{job, task} {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `; Version: 2.2
; UnixStartTime: 1709287200
7 0 7200 86400 64 -1 -1 64 172800 -1 1 1000000 1000000 1000000 1000000 1000000 -1 -1
1000000000 0 7200 86400 64 -1 -1 64 172800 -1 1 12 1000000 1000001 1000000 1000000 -1 -1
; User: 1000000 ada
; Group: 1000000 bio
; Executable: 1000000 train
; Executable: 1000001 00012
; Queue: 1000000 normal
; Partition: 1000000 gpu
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("SWF (-want +got):\n%s", diff)
	}
	var lost []string
	for _, l := range w.Losses() {
		lost = append(lost, l.What)
	}
	wantLost := []string{
		"GPUs", "eligible time", "nodes beside processors", "priority", "array or component number (kept as another number)",
	}
	if diff := cmp.Diff(wantLost, lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
