package traces

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

const sacctHead = "JobID|JobName|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|NNodes|NCPUS|AllocTRES|Priority|State|ExitCode\n"

// trained is a job as the rows below write it.
func trained(tb testing.TB) segue.Job {
	tb.Helper()
	return segue.Job{
		ID: segue.JobID{Number: 7}, Name: "train", User: "ada", Account: "bio", Partition: "gpu", QOS: "normal",
		Submit: utc(tb, "2024-03-01T10:00:00"), Eligible: utc(tb, "2024-03-01T10:05:00"),
		Start: utc(tb, "2024-03-01T12:00:00"), End: utc(tb, "2024-03-02T12:00:00"),
		Limit: 48 * time.Hour, Nodes: 2, CPUs: 64, GPUs: 8, Priority: 1234, State: segue.Completed,
	}
}

const trainedRow = "7|train|ada|bio|gpu|normal|2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T12:00:00|2024-03-02T12:00:00|" +
	"2-00:00:00|2|64|cpu=64,gres/gpu=8,gres/gpu:a100=8,node=2|1234|COMPLETED|0:0\n"

func TestSacctRowBecomesAJob(t *testing.T) {
	t.Parallel()
	h := read(t, sacctHead+trainedRow, Options{})
	wantJobs(t, h.Jobs, []segue.Job{trained(t)})
	wantFindings(t, &h.Findings, nil)
	if h.Header.Format != Sacct {
		t.Errorf("format is %s, want sacct", h.Header.Format)
	}
}

func TestSacctTable(t *testing.T) {
	t.Parallel()
	const head = "JobID|JobName|User|Submit|Start|End|Timelimit|NNodes|State|ExitCode\n"
	row := func(fields string) string { return strings.ReplaceAll(fields, " ", "|") + "\n" }
	submit, start, end := utc(t, "2024-03-01T10:00:00"), utc(t, "2024-03-01T12:00:00"), utc(t, "2024-03-01T13:00:00")
	base := segue.Job{
		ID: segue.JobID{Number: 7}, Name: "a", User: "ada", Submit: submit, Eligible: segue.NoTime, Start: start, End: end,
		Limit: 2 * time.Hour, Nodes: 1, State: segue.Completed,
	}
	with := func(change func(*segue.Job)) []segue.Job {
		j := base
		change(&j)
		return []segue.Job{j}
	}
	const ran = "7 a ada 2024-03-01T10:00:00 2024-03-01T12:00:00 2024-03-01T13:00:00 02:00:00 1 COMPLETED 0:0"
	for name, test := range map[string]struct {
		text     string
		want     []segue.Job
		findings map[Reason]int64
	}{
		"steps are dropped and counted": {
			text:     head + row(ran) + row(strings.Replace(ran, "7 a", "7.batch a", 1)) + row(strings.Replace(ran, "7 a", "7.0 a", 1)),
			want:     []segue.Job{base},
			findings: map[Reason]int64{JobStep: 2},
		},
		"a banner before the header is stepped over": {
			text: "Welcome to the cluster\n\n| maintenance on Monday |\n" + head + row(ran),
			want: []segue.Job{base},
		},
		"a header in the middle is taken up": {
			text: head + row(ran) + "\n" + "State|JobID|Start|End|Submit|Timelimit|NNodes\n" +
				row("FAILED 8 2024-03-01T12:00:00 2024-03-01T13:00:00 2024-03-01T10:00:00 02:00:00 1"),
			want: []segue.Job{base, {
				ID: segue.JobID{Number: 8}, Submit: submit, Eligible: segue.NoTime, Start: start, End: end, Limit: 2 * time.Hour,
				Nodes: 1, State: segue.Failed,
			}},
		},
		"cancelled while pending never started": {
			text:     head + row("7 a ada 2024-03-01T10:00:00 None 2024-03-01T13:00:00 02:00:00 1 CANCELLED+by+1000 0:0"),
			want:     with(func(j *segue.Job) { j.Start, j.State = segue.NoTime, segue.Cancelled }),
			findings: map[Reason]int64{NeverStarted: 1},
		},
		"cancelled while pending, start written as the end": {
			text: head + strings.ReplaceAll(row("7 a ada 2024-03-01T10:00:00 2024-03-01T13:00:00 2024-03-01T13:00:00 02:00:00 1 X 0:0"),
				"X", "CANCELLED by 1000"),
			want:     with(func(j *segue.Job) { j.Start, j.State = segue.NoTime, segue.Cancelled }),
			findings: map[Reason]int64{NeverStarted: 1},
		},
		"failed within the second did start": {
			text:     head + row("7 a ada 2024-03-01T10:00:00 2024-03-01T12:00:00 2024-03-01T12:00:00 02:00:00 1 FAILED 1:9"),
			want:     with(func(j *segue.Job) { j.End, j.State, j.ExitCode, j.Signal = start, segue.Failed, 1, 9 }),
			findings: map[Reason]int64{ZeroLength: 1},
		},
		"running has no end": {
			text:     head + row("7 a ada 2024-03-01T10:00:00 2024-03-01T12:00:00 Unknown 02:00:00 1 RUNNING 0:0"),
			want:     with(func(j *segue.Job) { j.End, j.State = segue.NoTime, segue.Running }),
			findings: map[Reason]int64{NotEnded: 1},
		},
		"running with the end of sacct --truncate": {
			text:     head + row("7 a ada 2024-03-01T10:00:00 2024-03-01T12:00:00 2024-03-01T12:30:00 02:00:00 1 RUNNING 0:0"),
			want:     with(func(j *segue.Job) { j.End, j.State = segue.NoTime, segue.Running }),
			findings: map[Reason]int64{NotEnded: 1, EndOfUnended: 1},
		},
		"pending array is expanded": {
			text: head + row("9_[3-4%2] a ada 2024-03-01T10:00:00 Unknown Unknown 02:00:00 1 PENDING 0:0"),
			want: func() []segue.Job {
				j := with(func(j *segue.Job) {
					j.ID, j.State = segue.JobID{Number: 9, Sub: 3, Kind: segue.ArrayTask}, segue.Pending
					j.Start, j.End = segue.NoTime, segue.NoTime
				})
				next := j[0]
				next.ID.Sub = 4
				return append(j, next)
			}(),
			findings: map[Reason]int64{ArrayExpanded: 1, NeverStarted: 1, NotEnded: 1},
		},
		"limits that are none": {
			text: head + row(strings.Replace(ran, "02:00:00", "UNLIMITED", 1)) +
				row(strings.Replace(strings.Replace(ran, "02:00:00", "Partition_Limit", 1), "7 a", "8 a", 1)),
			want: []segue.Job{
				with(func(j *segue.Job) { j.Limit = segue.Unlimited })[0],
				with(func(j *segue.Job) { j.Limit, j.ID.Number = 0, 8 })[0],
			},
			findings: map[Reason]int64{LimitUnknown: 1},
		},
		"state that is none": {
			text:     head + row(strings.Replace(ran, "COMPLETED", "PONDERING", 1)),
			want:     with(func(j *segue.Job) { j.State = segue.StateUnknown }),
			findings: map[Reason]int64{UnknownState: 1},
		},
		"job over its limit is kept": {
			text:     head + row(strings.Replace(ran, "02:00:00", "00:30:00", 1)),
			want:     with(func(j *segue.Job) { j.Limit = 30 * time.Minute }),
			findings: map[Reason]int64{OverLimit: 1},
		},
		"end before start is rejected": {
			text:     head + row(strings.Replace(ran, "2024-03-01T13:00:00", "2024-03-01T11:00:00", 1)),
			findings: map[Reason]int64{EndBeforeStart: 1},
		},
		"start a little before submit moves the submission": {
			text:     head + row(strings.Replace(ran, "2024-03-01T10:00:00", "2024-03-01T12:00:03", 1)),
			want:     with(func(j *segue.Job) { j.Submit = start }),
			findings: map[Reason]int64{StartBeforeSubmit: 1},
		},
		"start long before submit is rejected": {
			text:     head + row(strings.Replace(ran, "2024-03-01T10:00:00", "2024-03-01T13:00:01", 1)),
			findings: map[Reason]int64{StartLongBeforeSubmit: 1},
		},
		"what cannot be read is rejected with its reason": {
			text: head + row(strings.Replace(ran, "7 a", "x a", 1)) + row(strings.Replace(ran, "2024-03-01T12", "2024-99-01T12", 1)) +
				row(strings.Replace(ran, "02:00:00", "2h", 1)) + row(strings.Replace(ran, "1 COMPLETED", "two COMPLETED", 1)) +
				row(strings.Replace(ran, " 0:0", " ok", 1)) + row(strings.Replace(ran, "2024-03-01T10:00:00", "Unknown", 1)) +
				row(strings.Replace(ran, "1 COMPLETED", "0 COMPLETED", 1)) + row(strings.Replace(ran, "1 COMPLETED", "99999999 COMPLETED", 1)) +
				"sacct: error: slurm_persist_conn_open: connection refused\n" + row(ran+" extra") +
				row(strings.Replace(ran, "7 a", "9_[1,...] a", 1)) + "7|a\x00\x00\n",
			findings: map[Reason]int64{
				BadJobID: 1, BadTime: 1, BadLimit: 1, BadNumber: 2, NoSubmit: 1, NoNodes: 1, OutOfRange: 1, TooFewColumns: 1,
				TooManyColumns: 1, BadArray: 1, NULByte: 1,
			},
		},
		"old bytes in a name are read as Latin-1": {
			text:     head + row(strings.Replace(ran, "7 a", "7 M\xfcller", 1)),
			want:     with(func(j *segue.Job) { j.Name = "Müller" }),
			findings: map[Reason]int64{NotUTF8: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := read(t, test.text, Options{})
			wantJobs(t, h.Jobs, test.want)
			wantFindings(t, &h.Findings, test.findings)
		})
	}
}

func TestSacctTakesWhatColumnsThereAre(t *testing.T) {
	t.Parallel()
	submit, start, end := utc(t, "2024-03-01T10:00:00"), utc(t, "2024-03-01T12:00:00"), utc(t, "2024-03-01T13:00:00")
	want := segue.Job{
		ID: segue.JobID{Number: 7}, Submit: submit, Eligible: segue.NoTime, Start: start, End: end, Limit: 2 * time.Hour, Nodes: 2,
		State: segue.Completed,
	}
	for name, test := range map[string]struct {
		text   string
		change func(*segue.Job)
	}{
		"the least": {
			text: "JobIDRaw|Submit|Start|Elapsed|TimelimitRaw|AllocNodes\n7|2024-03-01T10:00:00|2024-03-01T12:00:00|01:00:00|120|2\n",
		},
		"seconds since the epoch": {
			text: "JobID|Submit|Start|End|TimelimitRaw|NNodes|State\n7|1709287200|1709294400|1709298000|120|2|COMPLETED\n",
		},
		"names in any case, elapsed in seconds": {
			text: "jobid|SUBMIT|start|ElapsedRaw|timelimitraw|nnodes\n7|2024-03-01T10:00:00|2024-03-01T12:00:00|3600|120|2\n",
		},
		"a separator after the last column (sacct -p)": {
			text: "JobID|Submit|Start|End|Timelimit|NNodes|\n7|2024-03-01T10:00:00|2024-03-01T12:00:00|2024-03-01T13:00:00|02:00:00|2|\n",
		},
		"another separator": {
			text: strings.ReplaceAll("JobID|Submit|Start|End|Timelimit|NNodes\n7|2024-03-01T10:00:00|2024-03-01T12:00:00|2024-03-01T13:00:00|02:00:00|2\n",
				"|", "\x1f"),
		},
		"allocated rather than requested": {
			text: "JobID|Submit|Start|End|Timelimit|ReqNodes|ReqTRES|AllocTRES|ReqCPUS|AllocCPUS|Restarts|UID\n" +
				"7|2024-03-01T10:00:00|2024-03-01T12:00:00|2024-03-01T13:00:00|02:00:00|1|cpu=1,node=1,gres/gpu=1|" +
				"cpu=4,gres/gpu:h100=8,node=2|1|4|3|1000\n",
			change: func(j *segue.Job) { j.CPUs, j.GPUs, j.Restarts, j.User = 4, 8, 3, "1000" },
		},
		"requested for a job that never started": {
			text: "JobID|Submit|Start|End|Timelimit|ReqNodes|AllocNodes|State\n" +
				"7|2024-03-01T10:00:00|Unknown|2024-03-01T13:00:00|02:00:00|2|0|CANCELLED by 0\n",
			change: func(j *segue.Job) { j.Start, j.State = segue.NoTime, segue.Cancelled },
		},
		"no state and a run to the limit": {
			text:   "JobID|Submit|Start|End|TimelimitRaw|NNodes\n7|2024-03-01T10:00:00|2024-03-01T12:00:00|2024-03-01T14:00:20|120|2\n",
			change: func(j *segue.Job) { j.End, j.State = start.Add(2*time.Hour+20*time.Second), segue.Timeout },
		},
		"an end that is not known, with the time that the job took": {
			text: "JobID|Submit|Start|End|Elapsed|TimelimitRaw|NNodes|State\n" +
				"7|2024-03-01T10:00:00|2024-03-01T12:00:00|Unknown|01:00:00|120|2|COMPLETED\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := want
			if test.change != nil {
				test.change(&want)
			}
			wantJobs(t, read(t, test.text, Options{}).Jobs, []segue.Job{want})
		})
	}
}

func TestSacctWithoutEnoughColumnsSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := readAll("JobID|JobName|State\n7|a|COMPLETED\n", Options{Name: "jobs.txt"})
	if segue.KindOf(err) != segue.Invalid {
		t.Fatalf("got %v, want it to be invalid", err)
	}
	for _, want := range []string{
		"jobs.txt", "Submit, Start, End (or Elapsed, ElapsedRaw), Timelimit (or TimelimitRaw), NNodes (or ",
		"the header has JobID, JobName, State", "sacct --allusers",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%v", want, err)
		}
	}
}

func TestSeparatorInTextIsJoinedOnlyWhereItIsUnambiguous(t *testing.T) {
	t.Parallel()
	const times = "2024-03-01T10:00:00|2024-03-01T12:00:00|2024-03-01T13:00:00|02:00:00|1"
	for name, test := range map[string]struct {
		head, row, want string
		joined          bool
	}{
		"one text column":          {"JobID|JobName|Submit|Start|End|Timelimit|NNodes", "7|a|b||c|" + times, "a|b||c", true},
		"text column at the end":   {"JobID|Submit|Start|End|Timelimit|NNodes|JobName", "7|" + times + "|\"a|b\"", "\"a|b\"", true},
		"two, told apart by times": {"JobID|JobName|Submit|Start|End|Timelimit|NNodes|Comment", "7|a|b|" + times + "|c|d", "a|b", true},
		"two side by side":         {"JobID|JobName|Comment|Submit|Start|End|Timelimit|NNodes", "7|a|b|c|" + times, "", false},
		"no text column":           {"JobID|User|Submit|Start|End|Timelimit|NNodes", "7|a|b|" + times, "", false},
		"a name like a time":       {"JobID|JobName|Submit|Start|End|Timelimit|NNodes", "7|a|2024-03-01T09:00:00|" + times, "a|2024-03-01T09:00:00", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := read(t, test.head+"\n"+test.row+"\n", Options{})
			if !test.joined {
				wantFindings(t, &h.Findings, map[Reason]int64{TooManyColumns: 1})
				return
			}
			wantFindings(t, &h.Findings, map[Reason]int64{ColumnsJoined: 1})
			if got := h.Jobs[0].Name; got != test.want {
				t.Errorf("the name is %q, want %q", got, test.want)
			}
		})
	}
}

// attempts is a table of one id, by submit, start, end, state and user.
func attempts(rows ...string) string {
	var b strings.Builder
	b.WriteString("JobID|Submit|Start|End|State|User|Timelimit|NNodes\n")
	for _, row := range rows {
		f := strings.Fields(row)
		for i, v := range f[1:4] {
			if len(v) == 5 {
				f[1+i] = "2024-03-01T" + v + ":00"
			}
		}
		b.WriteString(strings.Join(f, "|") + "|02:00:00|1\n")
	}
	return b.String()
}

func TestEveryAttemptIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	type job struct {
		Start    string
		State    segue.JobState
		Restarts int16
	}
	for name, test := range map[string]struct {
		text     string
		want     []job
		findings map[Reason]int64
	}{
		"requeued jobs (sacct -D) keep every attempt": {
			text:     attempts("7 10:00 11:00 12:00 REQUEUED ada", "7 12:00 13:00 14:00 PREEMPTED ada", "7 14:00 15:00 16:00 COMPLETED ada"),
			want:     []job{{"11:00", segue.Requeued, 0}, {"13:00", segue.Preempted, 1}, {"15:00", segue.Completed, 2}},
			findings: map[Reason]int64{LaterAttempt: 2},
		},
		"a record in two exports is delivered once": {
			text:     attempts("7 10:00 11:00 12:00 FAILED ada", "8 10:00 11:00 12:00 FAILED ada", "7 10:00 11:00 12:00 FAILED ada"),
			want:     []job{{"11:00", segue.Failed, 0}, {"11:00", segue.Failed, 0}},
			findings: map[Reason]int64{RepeatedRecord: 1},
		},
		"running in one export and ended in the next": {
			text:     attempts("7 10:00 11:00 Unknown RUNNING ada", "8 10:00 11:00 12:00 FAILED ada", "7 10:00 11:00 12:00 COMPLETED ada"),
			want:     []job{{"11:00", segue.Failed, 0}, {"11:00", segue.Completed, 0}},
			findings: map[Reason]int64{NotEnded: 1, SupersededRecord: 1},
		},
		"pending, then running, then ended": {
			text:     attempts("7 10:00 Unknown Unknown PENDING ada", "7 10:00 11:00 Unknown RUNNING ada", "7 10:00 11:00 12:00 COMPLETED ada"),
			want:     []job{{"11:00", segue.Completed, 0}},
			findings: map[Reason]int64{NeverStarted: 1, NotEnded: 2, SupersededRecord: 2},
		},
		"the exports in the wrong order": {
			text:     attempts("7 10:00 11:00 12:00 COMPLETED ada", "7 10:00 11:00 Unknown RUNNING ada"),
			want:     []job{{"11:00", segue.Completed, 0}},
			findings: map[Reason]int64{NotEnded: 1, SupersededRecord: 1},
		},
		"a job that has not ended comes last": {
			text:     attempts("7 10:00 11:00 Unknown RUNNING ada", "8 10:00 11:00 12:00 FAILED ada"),
			want:     []job{{"11:00", segue.Failed, 0}, {"11:00", segue.Running, 0}},
			findings: map[Reason]int64{NotEnded: 1},
		},
		"an id given out again": {
			text:     attempts("7 10:00 11:00 12:00 FAILED ada", "7 13:00 14:00 15:00 FAILED bob"),
			want:     []job{{"11:00", segue.Failed, 0}, {"14:00", segue.Failed, 0}},
			findings: map[Reason]int64{ReusedID: 1},
		},
		"a pending array of which a task has run since": {
			text:     attempts("7_[1-2] 10:00 Unknown Unknown PENDING ada", "7_2 10:00 11:00 12:00 COMPLETED ada"),
			want:     []job{{"11:00", segue.Completed, 0}, {"unknown", segue.Pending, 0}},
			findings: map[Reason]int64{NeverStarted: 1, NotEnded: 1, ArrayExpanded: 1, SupersededRecord: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := read(t, test.text, Options{})
			var got []job
			for _, j := range h.Jobs {
				start := j.Start.String()
				if j.Start.Known() {
					start = j.Start.Std().Format("15:04")
				}
				got = append(got, job{start, j.State, j.Restarts})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("jobs (-want +got):\n%s", diff)
			}
			wantFindings(t, &h.Findings, test.findings)
		})
	}
}
