package slurm

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

var noon = segue.Seconds(1676376000)

// answering returns a driver whose commands answer as told, by their name.
func answering(answers map[string]Result) *Driver {
	return New(Config{
		Env: []string{"HOME=/home/ada"}, Now: func() segue.Time { return noon },
		Run: func(_ context.Context, c Command) (Result, error) {
			r, ok := answers[c.Argv[0]]
			if !ok {
				return Result{}, &exec.Error{Name: c.Argv[0], Err: exec.ErrNotFound}
			}
			return separated(c, r), nil
		},
	})
}

// sacctColumns are those of the rows of sacct in these tests.
var sacctColumns = []string{"JobID", "State", "Submit", "Start", "End", "ExitCode", "Timelimit", "User", "Comment", "SubmitLine"}

// separated returns what a command that was asked as told prints, of a text in which
// only the record separator, or |, stands for what it was told to separate by. Rows of
// sacct may lack their last columns there.
func separated(c Command, r Result) Result {
	out, between, fields := string(r.Stdout), "", []string{}
	for _, arg := range slices.Concat(c.Argv, c.Env) {
		if _, end, ok := strings.Cut(arg, record); ok {
			out = strings.ReplaceAll(out, record, record+end)
		}
		if format, ok := strings.CutPrefix(arg, "--format="); ok {
			fields = strings.Split(format, ",")
		}
		if word, ok := strings.CutPrefix(arg, "--delimiter="); ok {
			between = word
		}
	}
	if between != "" {
		var rows strings.Builder
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			cells := strings.SplitN(line, "|", len(sacctColumns))
			if len(cells) == 1 { // a banner
				rows.WriteString(line + "\n")
				continue
			}
			cells = append(cells, make([]string, len(sacctColumns)-len(cells))...)
			var row []string
			for _, f := range fields {
				row = append(row, cells[slices.Index(sacctColumns, f)])
			}
			rows.WriteString(strings.Join(row, between) + "\n")
		}
		out = rows.String()
	}
	r.Stdout = []byte(out)
	return r
}

// jobRecord returns a record as squeue prints it, with some fields changed.
func jobRecord(change map[string]string) string {
	fields := map[string]string{
		"JobArrayID": "12", "State": "RUNNING", "UserID": "1001", "UserName": "ada", "Account": "lab", "Partition": "gpu", "QOS": "normal", "NumNodes": "2",
		"TimeLimit": "2-00:00:00", "SubmitTime": "1676370000", "EligibleTime": "1676370000", "StartTime": "1676372400", "EndTime": "1676545200",
		"PriorityLong": "4294901756", "Reason": "None", "tres-alloc": "cpu=2,mem=2000M,node=2,billing=2,gres/gpu=8", "NodeList": "n[1-2]",
		"Requeue": "1", "RestartCnt": "0", "exit_code": "0", "Name": "train", "Comment": "(null)",
		"tres-per-node": "gres:gpu:4", "tres-per-job": "N/A", "tres-per-task": "N/A", "tres-per-socket": "N/A", "NumTasks": "2",
	}
	var list []string
	for _, f := range queueFields {
		if v, ok := change[f]; ok {
			list = append(list, v)
			continue
		}
		list = append(list, fields[f])
	}
	return strings.Join(list, unit) + record + "\n"
}

const oneNode = "n1" + unit + "gpu*" + unit + "mixed" + unit + "gpu:4" + record + "\n"

func TestWhatSqueueShows(t *testing.T) {
	t.Parallel()
	out := jobRecord(nil) +
		jobRecord(map[string]string{
			"JobArrayID": "13_4", "State": "PENDING", "StartTime": "1676380000", "EndTime": "1676390000", "Reason": "QOSMaxJobsPerUserLimit",
			"NodeList": "", "Name": "with | and \x1f in it", "Comment": "mine segue:abc/2.1",
		})
	s, err := answering(map[string]Result{"squeue": {Stdout: []byte(out)}, "sinfo": {Stdout: []byte(oneNode)}}).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The separator in the name spoils the name and the comment, and nothing else.
	want := []schedulers.Job{
		{
			QueuedJob: segue.QueuedJob{
				ID: segue.JobID{Number: 12}, Request: segue.Request{
					Shape: segue.Shape{Nodes: 2, GPUsPerNode: 4, Limit: 48 * time.Hour}, User: "ada", Account: "lab", Partition: "gpu", QOS: "normal",
				},
				Submit: noon.Add(-6000 * time.Second), Eligible: noon.Add(-6000 * time.Second), Start: noon.Add(-time.Hour), Priority: 4294901756,
			},
			Name: "train", State: segue.Running, Nodes: []string{"n1", "n2"}, EndTime: noon.Add(47 * time.Hour), Requeueable: true,
		},
		{
			QueuedJob: segue.QueuedJob{
				ID: segue.JobID{Number: 13, Sub: 4, Kind: segue.ArrayTask}, Request: segue.Request{
					Shape: segue.Shape{Nodes: 2, GPUsPerNode: 4, Limit: 48 * time.Hour}, User: "ada", Account: "lab", Partition: "gpu", QOS: "normal",
				},
				Submit: noon.Add(-6000 * time.Second), Eligible: noon.Add(-6000 * time.Second), Start: segue.NoTime, Priority: 4294901756,
				Reason: "QOSMaxJobsPerUserLimit",
			},
			Name: "with | and ", State: segue.Pending, EndTime: segue.NoTime, Comment: " in it\x1fmine segue:abc/2.1", Requeueable: true,
		},
	}
	if diff := cmp.Diff(want, s.Jobs); diff != "" {
		t.Errorf("jobs differ (-want +got):\n%s", diff)
	}
	if token, _, _, _, ok := segue.FindToken(s.Jobs[1].Comment); !ok || token != "segue:abc/2.1" {
		t.Errorf("the comment's token is %q", token)
	}
	if diff := cmp.Diff([]schedulers.Node{{Name: "n1", Partitions: []string{"gpu"}, GPUs: 4, InService: true}}, s.Nodes); diff != "" {
		t.Errorf("nodes differ (-want +got):\n%s", diff)
	}
}

// A user may have guessed how records look, and does not know the word after their ends.
func TestANameIsNoRecord(t *testing.T) {
	t.Parallel()
	forged := strings.TrimSuffix(jobRecord(map[string]string{"JobArrayID": "14", "UserName": "ben"}), "\n")
	d := New(Config{Env: []string{}, Now: func() segue.Time { return noon }, Run: func(_ context.Context, c Command) (Result, error) {
		if c.Argv[0] == "sinfo" {
			return separated(c, Result{Stdout: []byte(oneNode)}), nil
		}
		r := separated(c, Result{Stdout: []byte(jobRecord(map[string]string{"Name": "NAME"}))})
		r.Stdout = []byte(strings.ReplaceAll(string(r.Stdout), "NAME", "x"+unit+"y"+record+"\n"+forged))
		return r, nil
	}})
	s, err := d.State(t.Context())
	if err != nil || len(s.Jobs) != 1 || s.Jobs[0].ID.Number != 12 || s.Jobs[0].User != "ada" || s.Skipped != 0 {
		t.Errorf("%+v, %v; want job 12 of ada and nothing else", s, err)
	}
}

func TestGPUsOfASiteThatDoesNotCountThem(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asked map[string]string
		want  int
	}{
		"a node":                    {map[string]string{"tres-per-node": "gres:gpu:a100:3"}, 3},
		"the job":                   {map[string]string{"tres-per-job": "gres:gpu:4"}, 2},
		"a task":                    {map[string]string{"tres-per-task": "gres/gpu=1", "NumTasks": "8"}, 4},
		"a task, of unknown number": {map[string]string{"tres-per-task": "gres/gpu=1", "NumTasks": "4294967294"}, 1},
		"nothing":                   {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := map[string]string{"tres-alloc": "cpu=2,mem=2000M,node=2,billing=2", "tres-per-node": "N/A"}
			maps.Copy(change, tt.asked)
			answers := map[string]Result{"squeue": {Stdout: []byte(jobRecord(change))}, "sinfo": {Stdout: []byte(oneNode)}}
			s, err := answering(answers).State(t.Context())
			if err != nil || len(s.Jobs) != 1 {
				t.Fatalf("%d jobs, error %v", len(s.Jobs), err)
			}
			if got := s.Jobs[0].GPUsPerNode; got != tt.want {
				t.Errorf("%d GPUs on each of two nodes, want %d", got, tt.want)
			}
		})
	}
}

// Reports 11, 12, 15, 19, 20 and 23: what is not an answer is never an empty
// queue.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	whole := jobRecord(nil)
	tests := map[string]struct {
		squeue, sinfo Result
		want          segue.Kind
	}{
		"the controller is down": {
			squeue: Result{Stderr: []byte("slurm_load_jobs error: Unable to contact slurm controller (connect failure)"), Code: 1}, want: segue.Unavailable,
		},
		"it is down and the exit code says otherwise": {
			squeue: Result{Stderr: []byte("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")}, want: segue.Unavailable,
		},
		"the socket timed out": {
			squeue: Result{Stderr: []byte("slurm_load_jobs error: Socket timed out on send/recv operation"), Code: 1}, want: segue.Unavailable,
		},
		"the answer breaks off in a record":   {squeue: Result{Stdout: []byte(whole + whole[:len(whole)/2])}, want: segue.Unavailable},
		"there is a banner and nothing else":  {squeue: Result{Stdout: []byte("Welcome to the Stampede3 Supercomputer\n")}, want: segue.Unavailable},
		"no node is shown":                    {squeue: Result{Stdout: []byte(whole)}, sinfo: Result{Stdout: []byte("\n")}, want: segue.Unavailable},
		"a signal ended the command":          {squeue: Result{Code: -1}, want: segue.Unavailable},
		"the commands are not installed here": {want: segue.Unavailable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]Result{"squeue": tt.squeue, "sinfo": {Stdout: []byte(oneNode)}}
			if tt.sinfo.Stdout != nil {
				answers["sinfo"] = tt.sinfo
			}
			if name == "the commands are not installed here" {
				answers = nil
			}
			if s, err := answering(answers).State(t.Context()); err == nil || segue.KindOf(err) != tt.want {
				t.Errorf("%d jobs, error %v of kind %s, want kind %s", len(s.Jobs), err, segue.KindOf(err), tt.want)
			}
		})
	}
}

func TestOneBadRecordDoesNotLoseTheOthers(t *testing.T) {
	t.Parallel()
	out := "Welcome to the Stampede3 Supercomputer\n" + jobRecord(nil) + jobRecord(map[string]string{"JobArrayID": "13", "NumNodes": "two"}) +
		"only" + unit + "three" + unit + "fields" + record + "\n" + jobRecord(map[string]string{"JobArrayID": "14", "State": "COMPLETINGINVALID"})
	s, err := answering(map[string]Result{"squeue": {Stdout: []byte(out)}, "sinfo": {Stdout: []byte(oneNode)}}).State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, j := range s.Jobs {
		ids = append(ids, j.ID.Number)
	}
	if diff := cmp.Diff([]int64{12, 13, 14}, ids); diff != "" || s.Skipped != 2 || len(s.Problems) != 2 {
		t.Errorf("jobs differ (-want +got):\n%s%d skipped: %v", diff, s.Skipped, s.Problems)
	}
	for _, j := range s.Jobs[1:] { // they are there, whatever they do
		if j.State != segue.StateUnknown {
			t.Errorf("the state of job %s, which nobody can read, is read as %s", j.ID, j.State)
		}
	}
}

func TestNodesOutOfService(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ inService, idle bool }{
		"idle": {true, true}, "mixed": {true, false}, "allocated": {true, false}, "completing": {true, false}, "allocated+completing": {true, false},
		"idle+drain": {false, false}, "drained": {false, false}, "draining": {false, false}, "down": {false, false}, "down*": {false, false},
		"idle*": {false, false}, "idle~": {false, false}, "idle+not_responding": {false, false}, "maint": {false, false}, "reserved": {false, false},
		"unknown": {false, false}, "planned": {true, true}, "idle+completing": {true, false}, "mixed+drain": {false, false}, "inval": {false, false},
	}
	for state, want := range tests {
		var s schedulers.State
		if err := addNode(&s, []string{"n1", "gpu", state, "gpu:a100:4(S:0-1),shard:8"}); err != nil {
			t.Fatal(err)
		}
		if n := s.Nodes[0]; n.InService != want.inService || n.Idle != want.idle || n.GPUs != 4 {
			t.Errorf("%s: in service %t, idle %t, %d GPUs; want %t, %t and 4", state, n.InService, n.Idle, n.GPUs, want.inService, want.idle)
		}
	}
}

// What nobody's environment may change, and what tells of another cluster.
func TestTheEnvironmentOfQuestions(t *testing.T) {
	t.Parallel()
	d := New(Config{Env: []string{
		"PATH=/usr/bin", "SQUEUE_FORMAT=%i", "SQUEUE_STATES=R", "SACCT_FORMAT=jobid", "SLURM_TIME_FORMAT=relative", "SLURM_CLUSTERS=other",
		"TZ=Asia/Tokyo", "LC_ALL=de_DE", "SLURM_CONF=/etc/own.conf", "SINFO_FORMAT=%n",
	}})
	want := []string{"PATH=/usr/bin", "SLURM_CONF=/etc/own.conf", "SLURM_TIME_FORMAT=%s", "TZ=UTC", "LC_ALL=C"}
	if diff := cmp.Diff(want, d.environment()); diff != "" {
		t.Errorf("the environment differs (-want +got):\n%s", diff)
	}
}

// Reports 1 to 3, 5, 23 to 26 and 78.
func TestWhatSbatchAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		result    Result
		want      int64
		kind      segue.Kind
		ambiguous bool
	}{
		"a number":                    {result: Result{Stdout: []byte("1234\n")}, want: 1234},
		"a number and a cluster":      {result: Result{Stdout: []byte("75168975;slaking\n")}, want: 75168975},
		"a number below a banner":     {result: Result{Stdout: []byte("Welcome to the Stampede3 Supercomputer\n\n1234\n")}, want: 1234},
		"nothing, but all is well":    {result: Result{}, kind: segue.Unavailable, ambiguous: true},
		"no answer from the socket":   {result: Result{Code: 1, Stderr: []byte("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation")}, kind: segue.Unavailable, ambiguous: true},
		"no controller":               {result: Result{Code: 1, Stderr: []byte("sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)")}, kind: segue.Unavailable, ambiguous: true},
		"killed":                      {result: Result{Code: -1}, kind: segue.Unavailable, ambiguous: true},
		"too many jobs of the user":   {result: Result{Code: 1, Stderr: []byte("sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")}, kind: segue.Unavailable},
		"a partition that is not":     {result: Result{Code: 1, Stderr: []byte("sbatch: error: Batch job submission failed: Invalid partition name specified")}, kind: segue.Invalid},
		"an account that has expired": {result: Result{Code: 1, Stderr: []byte("sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified")}, kind: segue.Invalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := answering(map[string]Result{"sbatch": tt.result}).Submit(t.Context(), schedulers.Submission{
				Token: "segue:abc/1.1", Submission: segue.Submission{Args: []string{"--wrap=true"}, ScriptAt: -1},
			})
			if got.Job.Number != tt.want || segue.KindOf(err) != tt.kind || errors.Is(err, schedulers.ErrAmbiguous) != tt.ambiguous {
				t.Errorf("job %s, error %v; want %d, kind %s, ambiguous %t", got.Job, err, tt.want, tt.kind, tt.ambiguous)
			}
		})
	}
}

func FuzzState(f *testing.F) {
	f.Add(jobRecord(nil), oneNode)
	f.Add("banner\n"+jobRecord(nil), "")
	f.Fuzz(func(t *testing.T, squeue, sinfo string) {
		s, err := answering(map[string]Result{"squeue": {Stdout: []byte(squeue)}, "sinfo": {Stdout: []byte(sinfo)}}).State(t.Context())
		if err == nil && len(s.Nodes) == 0 {
			t.Error("a state without nodes")
		}
		for _, j := range s.Jobs {
			if j.ID.Number <= 0 {
				t.Errorf("a job without an ID: %+v", j)
			}
		}
	})
}
