package rest

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

var noon = segue.Seconds(1676376000)

// fixture is the answers of one version.
type fixture struct {
	Jobs      json.RawMessage `json:"jobs"`
	Nodes     json.RawMessage `json:"nodes"`
	Accounted json.RawMessage `json:"accounted"`
}

func readFixture(t *testing.T, path string) (jobs, nodes, accounting *answer) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	if err := json.Unmarshal(content, &f); err != nil {
		t.Fatal(err)
	}
	for raw, a := range map[*json.RawMessage]**answer{&f.Jobs: &jobs, &f.Nodes: &nodes, &f.Accounted: &accounting} {
		if *a, err = read(200, *raw); err == nil {
			err = (*a).refusal(200)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return jobs, nodes, accounting
}

// queued returns what one of ada's jobs of the fixtures has in common with others.
func queued(id segue.JobID, user, account, partition, qos string, nodes, gpus int, limit time.Duration) segue.QueuedJob {
	return segue.QueuedJob{
		ID: id, Submit: noon.Add(-50 * time.Minute), Eligible: segue.NoTime, Start: segue.NoTime, Priority: 100,
		Request: segue.Request{
			Shape: segue.Shape{Nodes: nodes, GPUsPerNode: gpus, Limit: limit}, User: user, Account: account, Partition: partition, QOS: qos,
		},
	}
}

// fixtureState is what all of testdata/constructed says.
func fixtureState() schedulers.State {
	plain := func(n int64) segue.JobID { return segue.JobID{Number: n} }
	task := func(sub int32) segue.JobID { return segue.JobID{Number: 13, Sub: sub, Kind: segue.ArrayTask} }

	train := queued(plain(12), "ada", "lab", "gpu", "normal", 2, 4, 48*time.Hour)
	train.Submit, train.Eligible, train.Start, train.Priority = noon.Add(-6000*time.Second), noon.Add(-6000*time.Second), noon.Add(-time.Hour), 4294901756
	var waiting []schedulers.Job
	for _, sub := range []int32{4, 5, 8} {
		q := queued(task(sub), "bob", "lab", "gpu", "high", 1, 4, time.Hour)
		q.Submit, q.Priority, q.Reason = noon.Add(-10*time.Minute), 17, "Dependency"
		waiting = append(waiting, schedulers.Job{QueuedJob: q, Name: "sweep", State: segue.Pending, EndTime: segue.NoTime})
	}
	started := queued(task(3), "bob", "lab", "gpu", "high", 1, 4, time.Hour)
	started.Submit, started.Eligible, started.Start, started.Priority = noon.Add(-10*time.Minute), noon.Add(-500*time.Second), noon.Add(-time.Minute), 17
	server := queued(segue.JobID{Number: 14, Sub: 1, Kind: segue.HetComponent}, "ada", "lab", "cpu", "normal", 1, 0, segue.Unlimited)
	server.Submit, server.Eligible, server.Start = noon.Add(-15*time.Minute), noon.Add(-15*time.Minute), noon.Add(-800*time.Second)
	short := queued(plain(16), "ada", "lab", "gpu", "normal", 1, 2, 30*time.Minute)
	short.Eligible, short.Start, short.Reason = short.Submit, noon.Add(-2000*time.Second), "NonZeroExitCode"
	late := queued(plain(17), "eve", "", "gpu", "normal", 1, 2, 30*time.Minute)
	late.Eligible, late.Start, late.Reason = late.Submit, noon.Add(-1830*time.Second), "TimeLimit"
	held := queued(plain(18), "eve", "", "gpu", "normal", 1, 2, 30*time.Minute)
	held.Priority, held.Reason = 0, "JobHeldAdmin"

	jobs := []schedulers.Job{{
		QueuedJob: train, Name: `train "quoted"`, State: segue.Running, Nodes: []string{"n1", "n2"}, EndTime: noon.Add(47 * time.Hour),
		Comment: "mine segue:abc/2.1", Requeueable: true, Restarts: 1,
	}}
	jobs = append(jobs, waiting...)
	jobs = append(
		jobs,
		schedulers.Job{QueuedJob: started, Name: "sweep", State: segue.Running, Nodes: []string{"n3"}, EndTime: noon.Add(59 * time.Minute)},
		schedulers.Job{QueuedJob: server, Name: "server", State: segue.Running, Nodes: []string{"c07"}, EndTime: segue.NoTime, Requeueable: true},
		schedulers.Job{
			QueuedJob: short, Name: "short", State: segue.Failed, Nodes: []string{"n4"}, EndTime: noon.Add(-1900 * time.Second), ExitCode: 3, Requeueable: true,
		},
		schedulers.Job{QueuedJob: late, Name: "late", State: segue.Running, Nodes: []string{"n4"}, EndTime: noon.Add(-30 * time.Second), Signal: 15, Requeueable: true},
		schedulers.Job{QueuedJob: held, Name: "held", State: segue.Requeued, EndTime: segue.NoTime, Requeueable: true, Restarts: 2},
	)
	return schedulers.State{At: noon, Jobs: jobs, Nodes: []schedulers.Node{
		{Name: "n1", Partitions: []string{"gpu"}, GPUs: 4, InService: true},
		{Name: "n2", Partitions: []string{"gpu"}, GPUs: 4, InService: true},
		{Name: "n3", Partitions: []string{"gpu", "debug"}, GPUs: 4, InService: true, Idle: true},
		{Name: "n4", Partitions: []string{"gpu"}, GPUs: 4, InService: true},
		{Name: "n5", Partitions: []string{"gpu"}, GPUs: 4},
		{Name: "n6", Partitions: []string{"gpu"}, GPUs: 4},
		{Name: "c07", Partitions: []string{"cpu"}, InService: true, Idle: true},
	}}
}

// Reports 33 to 37: seven versions say the same, each in its own words.
func TestEveryVersionSaysTheSame(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/constructed/*.json")
	if err != nil || len(paths) != 7 {
		t.Fatalf("fixtures %v, %v; want 7", paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			jobs, nodes, accounting := readFixture(t, path)
			got, err := decodeState(jobs, nodes, noon)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fixtureState(), got); diff != "" {
				t.Errorf("the state differs (-want +got):\n%s", diff)
			}
			want := map[segue.JobID]schedulers.Status{
				{Number: 16}: {
					Life: schedulers.Ended, State: segue.Failed, Submit: noon.Add(-50 * time.Minute), Start: noon.Add(-2000 * time.Second),
					End: noon.Add(-1900 * time.Second), Reason: "NonZeroExitCode", ExitCode: 3, User: "ada", Token: "segue:abc/1.1",
				},
				{Number: 17}: {
					Life: schedulers.Ended, State: segue.Timeout, Submit: noon.Add(-50 * time.Minute), Start: noon.Add(-1830 * time.Second),
					End: noon.Add(-30 * time.Second), Reason: "TimeLimit", Signal: 15, User: "eve",
				},
			}
			if diff := cmp.Diff(want, statuses(t, accounting)); diff != "" {
				t.Errorf("the accounting differs (-want +got):\n%s", diff)
			}
		})
	}
}

// statuses reads the jobs of an answer of the accounting.
func statuses(t *testing.T, a *answer) map[segue.JobID]schedulers.Status {
	t.Helper()
	known := map[segue.JobID]schedulers.Status{}
	for _, raw := range a.Jobs {
		var r accounted
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		id, err := r.id()
		if err != nil {
			t.Fatal(err)
		}
		known[id] = r.status()
	}
	return known
}

var update = flag.Bool("update", false, "record the answers of a real slurmrestd anew, and what is read from them")

// What a real slurmrestd 22.05.8 said is read as when it was recorded, and looked
// at. "go test ./schedulers/slurm/rest -run Recorded -update" records it anew.
func TestRecordedAnswersOfSlurm2205(t *testing.T) {
	t.Parallel()
	const path, golden = "testdata/recorded/22.05.8.json", "testdata/recorded/22.05.8.golden.json"
	if *update {
		record(t, path)
	}
	jobs, nodes, accounting := readFixture(t, path)
	state, err := decodeState(jobs, nodes, noon)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]schedulers.Status{}
	for id, s := range statuses(t, accounting) {
		byID[id.String()] = s
	}
	got, err := json.MarshalIndent(map[string]any{"state": state, "accounted": byID}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("what is read differs (-want +got):\n%s", diff)
	}
}

func TestOneBadRecordDoesNotLoseTheOthers(t *testing.T) {
	t.Parallel()
	jobs, err := read(200, []byte(`{"errors":[],"jobs":[
		{"job_id":1,"job_state":["RUNNING"]},
		{"job_id":"two","job_state":["RUNNING"]},
		{"job_id":3},
		{"job_id":4,"job_state":{"current":"RUNNING"}},
		{"job_id":-5,"job_state":"RUNNING"},
		{"job_id":6,"job_state":"RUNNING","node_count":-1},
		{"job_id":7,"job_state":"RUNNING","time_limit":[1]},
		"eight", null, 9, [],
		{"job_id":10,"job_state":"NEW_IN_THE_YEAR_2030","unknown":{"deep":[1]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := read(200, []byte(`{"nodes":[{"name":"n1","state":"DOWN+DRAIN","partitions":"gpu,debug","gres":null},{"name":""},{"state":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := decodeState(jobs, nodes, noon)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for i, j := range s.Jobs {
		ids = append(ids, j.ID.Number)
		if i > 0 && j.State != segue.StateUnknown {
			t.Errorf("job %s is %s, want an unknown state", j.ID, j.State)
		}
	}
	// Those that cannot be read are there all the same, where they tell their ID.
	if diff := cmp.Diff([]int64{1, 10, 3, 4, 6, 7}, ids); diff != "" || s.Skipped != 12 || len(s.Problems) != maxProblems {
		t.Errorf("jobs differ (-want +got):\n%s%d skipped, %d problems: %v", diff, s.Skipped, len(s.Problems), s.Problems)
	}
	if diff := cmp.Diff([]schedulers.Node{{Name: "n1", Partitions: []string{"gpu", "debug"}}}, s.Nodes); diff != "" {
		t.Errorf("nodes differ (-want +got):\n%s", diff)
	}
}

func TestNumbersInAllForms(t *testing.T) {
	t.Parallel()
	tests := map[string]number{
		`5`: {value: 5, set: true}, `5.0`: {value: 5, set: true}, `"5"`: {value: 5, set: true}, `5e2`: {value: 500, set: true},
		`null`: {}, `""`: {}, `"N/A"`: {}, `4294967294`: {}, `18446744073709551614`: {}, `{}`: {}, `{"set":false,"infinite":false,"number":7}`: {},
		`4294967295`: {set: true, infinite: true}, `"UNLIMITED"`: {set: true, infinite: true}, `{"set":true,"infinite":true,"number":0}`: {set: true, infinite: true},
		`{"set":false,"infinite":true,"number":0}`: {set: true, infinite: true}, `{"set":true,"infinite":false,"number":7}`: {value: 7, set: true},
		`{"number":7}`: {value: 7, set: true}, `{"set":true,"number":"7"}`: {value: 7, set: true}, `-3`: {value: -3, set: true},
	}
	for raw, want := range tests {
		var got number
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", raw, got, err, want)
		}
	}
	for _, raw := range []string{`"five"`, `[5]`, `true`, `1e300`, `{"set":true,"number":{"set":true,"number":1}}`, `{"set":"perhaps"}`} {
		var got number
		if err := json.Unmarshal([]byte(raw), &got); err == nil {
			t.Errorf("%s is read as %+v", raw, got)
		}
	}
}

func TestExitsInAllForms(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]exit{
		`0`: {}, `768`: {code: 3}, `9`: {signal: 9}, `"3:0"`: {code: 3}, `null`: {}, `{}`: {},
		`{"status":"SUCCESS","return_code":0}`:                                                {},
		`{"status":"SIGNALED","return_code":null,"signal":{"signal_id":15}}`:                  {signal: 15},
		`{"return_code":{"set":true,"number":3},"signal":{"id":{"set":false,"number":0}}}`:    {code: 3},
		`{"return_code":{"set":false},"signal":{"id":{"set":true,"number":9},"name":"KILL"}}`: {signal: 9},
		`{"return_code":1,"signal":null}`:                                                     {code: 1}, `{"signal":7}`: {signal: 7},
	} {
		var got exit
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", raw, got, err, want)
		}
	}
}

func TestTasksThatShareARecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int32{
		"1-3": {1, 2, 3}, "4-5,8%2": {4, 5, 8}, "0-10:5": {0, 5, 10}, "7": {7}, "1-2,...": {1, 2}, "": nil, "x": nil, "3-1": nil, "1-99999999999": nil, "1-3:0": nil,
	} {
		r := jobRecord{ArrayJobID: number{value: 13, set: true}, ArrayTasks: "x"}
		_ = r.ArrayTasks.UnmarshalJSON([]byte(`"` + text + `"`))
		if diff := cmp.Diff(want, r.pendingTasks()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func BenchmarkDecodeState(b *testing.B) {
	content, err := os.ReadFile("testdata/constructed/25.05.0.json")
	if err != nil {
		b.Fatal(err)
	}
	var fix struct{ Jobs, Nodes answer }
	if err := json.Unmarshal(content, &fix); err != nil {
		b.Fatal(err)
	}
	one := fix.Jobs.Jobs
	for len(fix.Jobs.Jobs) < 10_000 {
		fix.Jobs.Jobs = append(fix.Jobs.Jobs, one...)
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := decodeState(&fix.Jobs, &fix.Nodes, noon); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, path := range []string{"testdata/constructed/22.05.8.json", "testdata/constructed/25.05.0.json"} {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var fix struct{ Jobs, Nodes, Accounted answer }
		if err := json.Unmarshal(content, &fix); err != nil {
			f.Fatal(err)
		}
		// One record each: the fuzzer takes long to make large inputs small.
		for i, raw := range slices.Concat(fix.Jobs.Jobs, fix.Accounted.Jobs) {
			f.Add([]byte(`{"jobs":[`+string(raw)+`]}`), []byte(`{"nodes":[`+string(fix.Nodes.Nodes[i%len(fix.Nodes.Nodes)])+`]}`))
		}
	}
	f.Add([]byte(`{"jobs":[{"job_id":{"set":true,"number":1},"job_state":["RUNNING"]}]}`), []byte(`{"nodes":[{"name":"n1"}]}`))
	f.Add([]byte(`<html>502 Bad Gateway</html>`), []byte(``))
	f.Fuzz(func(t *testing.T, jobs, nodes []byte) {
		j, err := read(200, jobs)
		if err != nil {
			return
		}
		n, err := read(200, nodes)
		if err != nil {
			return
		}
		for _, raw := range j.Jobs {
			var r accounted
			if err := json.Unmarshal(raw, &r); err == nil {
				_ = r.status()
			}
		}
		s, err := decodeState(j, n, noon)
		if err == nil && (len(n.Nodes) == 0 || j.Jobs == nil) {
			t.Error("a state without a list")
		}
		for _, job := range s.Jobs {
			if job.ID.Number <= 0 || job.ID.Sub < 0 || job.Request.Nodes < 0 || job.GPUsPerNode < 0 {
				t.Errorf("a job that cannot be: %+v", job)
			}
		}
	})
}
