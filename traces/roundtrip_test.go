package traces

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

// drawJob returns a job that the package could have read.
func drawJob(t *rapid.T, number int64) segue.Job {
	word := rapid.StringMatching(`[A-Za-zäß][A-Za-z0-9._+-]{0,11}`)
	second := func(name string, most int64) time.Duration {
		return time.Duration(rapid.Int64Range(0, most).Draw(t, name)) * time.Second
	}
	j := segue.Job{
		ID: segue.JobID{Number: number}, User: word.Draw(t, "user"), Account: word.Draw(t, "account"),
		Partition: word.Draw(t, "partition"), QOS: word.Draw(t, "qos"),
		Name:   rapid.StringMatching(`[a-z|"', \[\]:=;äß]{0,20}`).Draw(t, "name"),
		Submit: segue.Seconds(rapid.Int64Range(1, 4e9).Draw(t, "submit")), Eligible: segue.NoTime, Start: segue.NoTime, End: segue.NoTime,
		Limit: second("limit", 1e7), Nodes: rapid.Int32Range(1, 9000).Draw(t, "nodes"), CPUs: rapid.Int32Range(0, 1e6).Draw(t, "cpus"),
		GPUs: rapid.Int32Range(0, 1e5).Draw(t, "gpus"), Priority: rapid.Int64Range(0, 1e9).Draw(t, "priority"),
		ExitCode: rapid.Int16Range(0, 255).Draw(t, "exit"), Signal: rapid.Int16Range(0, 64).Draw(t, "signal"),
		Restarts: rapid.Int16Range(0, 50).Draw(t, "restarts"),
	}
	if rapid.IntRange(0, 9).Draw(t, "unlimited") == 0 {
		j.Limit = segue.Unlimited
	}
	if kind := rapid.SampledFrom([]segue.JobIDKind{segue.PlainJob, segue.ArrayTask, segue.HetComponent}).Draw(t, "kind"); kind != segue.PlainJob {
		j.ID.Kind, j.ID.Sub = kind, rapid.Int32Min(0).Draw(t, "sub")
	}
	started := j.Submit.Add(second("wait", 1e7))
	ran := second("run", 1e7) + time.Second
	switch rapid.IntRange(0, 4).Draw(t, "fate") {
	case 0:
		j.State = segue.Pending
		return j
	case 1:
		j.State, j.Start = segue.Running, started
	case 2:
		j.State, j.End = segue.Cancelled, started
		return j
	default:
		j.Start, j.End = started, started.Add(ran)
		j.State = rapid.SampledFrom([]segue.JobState{
			segue.Completed, segue.Failed, segue.Cancelled, segue.Timeout, segue.Preempted, segue.NodeFail, segue.OutOfMemory,
			segue.BootFail, segue.Deadline, segue.Requeued, segue.StateUnknown,
		}).Draw(t, "state")
	}
	if rapid.Bool().Draw(t, "eligible") {
		j.Eligible = min(j.Submit.Add(second("held", 1e6)), j.Start)
	}
	return j
}

// drawJobs returns jobs of different ids, those that have ended first, as a
// reader delivers them.
func drawJobs(t *rapid.T, change func(*segue.Job)) []segue.Job {
	var ended, unended []segue.Job
	for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
		j := drawJob(t, int64(1000+i))
		change(&j)
		if j.End.Known() || j.State.Ended() {
			ended = append(ended, j)
		} else {
			unended = append(unended, j)
		}
	}
	return append(ended, unended...)
}

// writeAndRead writes jobs and reads them back.
func writeAndRead(t *rapid.T, jobs []segue.Job, opt WriteOptions, readOpt Options) ([]segue.Job, []byte) {
	var b bytes.Buffer
	w, err := NewWriter(&b, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	readOpt.Format = opt.Format
	r, err := NewReader(bytes.NewReader(b.Bytes()), readOpt)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	h, err := ReadAll(r)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	if h.Findings.Rejected() > 0 {
		t.Fatalf("%s", h.Findings.String())
	}
	return h.Jobs, b.Bytes()
}

// TestJobsSurviveWritingAndReading writes what a format can hold and wants the
// very same back, and the same file when that is written again.
func TestJobsSurviveWritingAndReading(t *testing.T) {
	t.Parallel()
	anything := func(*segue.Job) {}
	for _, test := range []struct {
		format Format
		zone   *time.Location
		head   Header
		holds  func(*segue.Job) // makes the job one that the format can hold
	}{
		{format: Parquet, holds: func(j *segue.Job) {
			j.Submit++ // microseconds
			if j.Start.Known() {
				j.Start++
			}
			if j.End.Known() {
				j.End++
			}
			j.Eligible = segue.NoTime
		}},
		{format: Sacct, holds: anything},
		{format: Sacct, zone: time.FixedZone("", -5*3600), holds: anything},
		{format: LS6, zone: time.UTC, holds: holdsLS6},
		{format: SWF, head: Header{MaxNodes: 100, MaxProcs: 800}, holds: holdsSWF},
	} {
		t.Run(test.format.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				jobs := drawJobs(t, test.holds)
				opt := WriteOptions{Format: test.format, Zone: test.zone, Header: test.head}
				if test.format == SWF {
					opt.Header.UnixStart = segue.Seconds(1)
				}
				got, text := writeAndRead(t, jobs, opt, Options{Zone: test.zone})
				if diff := cmp.Diff(jobs, got); diff != "" {
					t.Fatalf("jobs (-want +got):\n%s", diff)
				}
				again, second := writeAndRead(t, got, opt, Options{Zone: test.zone})
				if len(again) != len(got) || test.format != Parquet && !bytes.Equal(text, second) {
					t.Fatal("the second file differs from the first")
				}
			})
		})
	}
}

// holdsLS6 keeps what the Lonestar6 log has columns for.
func holdsLS6(j *segue.Job) {
	j.Account, j.Partition, j.QOS, j.CPUs, j.GPUs, j.Restarts, j.Eligible = "", "", "", 0, 0, 0, segue.NoTime
	if j.Limit != segue.Unlimited {
		j.Limit = max(j.Limit.Truncate(time.Minute), time.Minute)
	}
	if !j.Start.Known() {
		j.Priority = 0
	}
	rec := record{job: *j}
	rec.inferState()
	j.State = rec.job.State
}

// holdsSWF keeps what SWF has fields for.
func holdsSWF(j *segue.Job) {
	j.ID.Kind, j.ID.Sub = segue.PlainJob, 0
	j.Name, j.User, j.Account, j.Partition, j.QOS = "", "3", "17", "", "0"
	j.CPUs, j.GPUs, j.Restarts, j.Eligible, j.Priority, j.ExitCode, j.Signal = j.Nodes*8, 0, 0, segue.NoTime, 0, 0, 0
	if j.Limit == segue.Unlimited {
		j.Limit = 0
	}
	switch {
	case !j.End.Known():
	case !j.Start.Known():
		j.State = segue.Cancelled
	case j.State != segue.Completed && j.State != segue.Cancelled && j.State != segue.StateUnknown:
		j.State = segue.Failed
	}
}

func TestEveryFormatIsRecognisedByItsContent(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{SWF, LS6, Sacct, Parquet} {
		text := generated(t, format, 10)
		for name, text := range map[string][]byte{"plain": text, "gzip": gzipped(t, text)} {
			if name == "gzip" && format == Parquet {
				continue
			}
			r, err := NewReader(bytes.NewReader(text), Options{})
			if err != nil {
				t.Fatalf("%s, %s: %v", format, name, err)
			}
			if got := r.Format(); got != format {
				t.Errorf("%s, %s: recognised as %s", format, name, got)
			}
		}
	}
}

func TestCSVIsForOtherPrograms(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w, err := NewWriter(&b, WriteOptions{Format: CSV})
	if err != nil {
		t.Fatal(err)
	}
	pending := segue.Job{
		ID: segue.JobID{Number: 8, Sub: 2, Kind: segue.ArrayTask}, Name: `a,"b"`, Submit: 1_500_000, Eligible: segue.NoTime,
		Start: segue.NoTime, End: segue.NoTime, Limit: segue.Unlimited, State: segue.Pending,
	}
	for _, j := range []segue.Job{trained(t), pending} {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := `job_id,name,user,account,partition,qos,submit,eligible,start,end,limit_seconds,wait_seconds,run_seconds,nodes,cpus,gpus,priority,state,exit_code,signal,restarts
7,train,ada,bio,gpu,normal,2024-03-01T10:00:00Z,2024-03-01T10:05:00Z,2024-03-01T12:00:00Z,2024-03-02T12:00:00Z,172800,7200,86400,2,64,8,1234,COMPLETED,0,0,0
8_2,"a,""b""",,,,,1970-01-01T00:00:01.5Z,,,,unlimited,,,0,0,0,0,PENDING,0,0,0
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
}

func TestParquetOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	_, err := NewReader(bytes.NewReader(otherParquet(t)), Options{Name: "hist"})
	if segue.KindOf(err) != segue.Invalid {
		t.Fatalf("got %v, want it to be invalid", err)
	}
	for _, want := range []string{"hist is Parquet, but no job history", "columns job_number, submit", "nodes is DOUBLE, want INT(32,true)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q: %v", want, err)
		}
	}
}

func TestParquetDamagedWithinIsCorrupt(t *testing.T) {
	t.Parallel()
	text := generated(t, Parquet, 2000)
	for at := 8; at < len(text)-8; at += len(text) / 60 {
		damaged := bytes.Clone(text)
		for i := range 8 {
			damaged[at+i] ^= 0x5a
		}
		r, err := NewReader(bytes.NewReader(damaged), Options{})
		if err == nil {
			_, err = ReadAll(r)
		}
		if err != nil && segue.KindOf(err) != segue.Corrupt && segue.KindOf(err) != segue.Invalid {
			t.Errorf("damage at byte %d gives %v (%s)", at, err, segue.KindOf(err))
		}
	}
}
