package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/store"
)

// storeOf returns the path of a store that holds chains.
func storeOf(t *testing.T, chains ...spooled) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "segue.db")
	s, err := store.Open(t.Context(), path, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chains {
		if err := s.CreateChain(t.Context(), c.Chain, c.Link); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// segueSays runs segue, and returns what it prints and its exit code.
func segueSays(args ...string) (stdout, stderr string, code int) {
	var out, complaint bytes.Buffer
	code = run(args, strings.NewReader(""), &out, &complaint)
	return out.String(), complaint.String(), code
}

// queued is a chain named name, whose first link waits.
func queued(name string) spooled {
	c := aChain(segue.LinkQueued)
	c.Chain.Name, c.Chain.State = name, segue.ChainActive
	c.Link.Job, c.Link.Planned, c.Link.Submitted = segue.JobID{Number: 4711}, 10, 10
	c.Link.Start, c.Link.End, c.Link.Ready = segue.NoTime, segue.NoTime, segue.NoTime
	return c
}

func TestOneChainIsShownAsJSON(t *testing.T) {
	t.Parallel()
	out, complaint, code := segueSays("status", "train", "--json", "--store", storeOf(t, queued("train")))
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != cli.ExitOK {
		t.Fatalf("exit code %d, %v: %s%s", code, err, out, complaint)
	}
	want := map[string]any{
		"id": "k3v9q2", "name": "train", "state": "active", "links": 1.0, "queued_job": "4711",
		"link_list": []any{map[string]any{
			"number": 1.0, "attempt": 1.0, "job": "4711", "state": "queued", "exit_code": 0.0,
			"submitted": "1970-01-01T00:00:00Z", "started": nil, "ends": nil,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the chain differs (-want +got):\n%s", diff)
	}
}

func TestNoNameIsNoChain(t *testing.T) {
	t.Parallel()
	where := storeOf(t, queued("train"))
	for _, command := range []string{"stop", "pause", "resume", "status", "why", "logs"} {
		out, complaint, code := segueSays(command, "", "--store", where)
		if code != cli.ExitUsage || out != "" || !strings.Contains(complaint, "the name of the chain is empty") {
			t.Errorf("%s \"\" exits with %d, want %d: %s%s", command, code, cli.ExitUsage, out, complaint)
		}
	}
}

func TestNamesDoNotMoveTheCursor(t *testing.T) {
	t.Parallel()
	where := storeOf(t, queued("evil\x1b[31mred\nname"))
	for _, args := range [][]string{{"status"}, {"status", "k3v9q2"}, {"pause", "k3v9q2"}} {
		out, complaint, code := segueSays(append(args, "--store", where)...)
		if code != cli.ExitOK || strings.ContainsRune(out, '\x1b') || !strings.Contains(out, "evil\ufffd[31mred\ufffdname") {
			t.Errorf("%v exits with %d and prints %q%s", args, code, out, complaint)
		}
	}
}

func TestTheFileOfTheEndIsMeantWhereTheJobRuns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		file string
		want string
	}{
		"in the folder of the submission": {nil, "made", "/home/ada/run/made"},
		"in a folder that sbatch is told": {[]string{"--chdir=/scratch/ada"}, "made", "/scratch/ada/made"},
		"in one below":                    {[]string{"-D", "out"}, "../made", "/home/ada/run/made"},
		"anywhere":                        {[]string{"-D", "out"}, "/tmp/made", "/tmp/made"},
		"nowhere":                         {nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--segue-chain"}, tt.args...)
			if tt.file != "" {
				args = append(args, "--segue-done-file="+tt.file)
			}
			job, err := sbatch.Read(sbatch.Input{Args: append(args, "job.sh"), Script: []byte("#!/bin/sh\n")})
			if err != nil {
				t.Fatal(err)
			}
			if got := termsOf(job, "/home/ada/run").DoneFile; got != tt.want {
				t.Errorf("the file is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOutputOfARelativeFolderIsBelowTheSubmission(t *testing.T) {
	t.Parallel()
	job, err := sbatch.Read(sbatch.Input{Args: []string{"-D", "out", "job.sh"}, Script: []byte("#!/bin/sh\n")})
	if err != nil {
		t.Fatal(err)
	}
	c := queued("train")
	if got, want := outputFile(job, c.Chain, c.Link), "/d/out/slurm-4711.out"; got != want {
		t.Errorf("the output is %q, want %q", got, want)
	}
}

func TestStateIsInOneFolderFromEverywhere(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	for state, want := range map[string]string{"/state": "/state/segue", "": "/home/ada/.local/state/segue", "state": "/home/ada/.local/state/segue"} {
		t.Setenv("XDG_STATE_HOME", state)
		if got := stateDir(); got != want {
			t.Errorf("with XDG_STATE_HOME=%s the folder is %q, want %q", state, got, want)
		}
	}
	for _, home := range []string{"", "here"} {
		t.Setenv("HOME", home)
		if got := stateDir(); !filepath.IsAbs(got) {
			t.Errorf("with HOME=%s the folder is %q, want one from everywhere", home, got)
		}
	}
}

func TestABrokenFileOfTheSpoolKeepsNobodyFromHisChains(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	s := spool{dir: stateDir()}
	if err := s.Record(queued("train").Chain, queued("train").Link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("a"), []byte("cut"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, complaint, code := segueSays("status")
	if code != cli.ExitOK || !strings.Contains(out, "train") {
		t.Errorf("status exits with %d and prints %s%s", code, out, complaint)
	}
}

func TestLogsDoNotWaitForAPipe(t *testing.T) {
	t.Parallel()
	c := queued("train")
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Chain.Submission.Args, c.Chain.Submission.ScriptAt = []string{"-o", path, "--wrap=true"}, -1
	out, complaint, code := segueSays("logs", "train", "--store", storeOf(t, c))
	if code != cli.ExitOK || !strings.Contains(out, path) || !strings.Contains(out, "not kept in a file") {
		t.Errorf("logs exits with %d and prints %s%s", code, out, complaint)
	}
}

func TestLogsOfAChainWhoseSubmissionIsForgottenSaySo(t *testing.T) {
	t.Parallel()
	c := queued("train")
	c.Chain.Submission = segue.Submission{}
	_, complaint, code := segueSays("logs", "train", "--store", storeOf(t, c))
	if want := "what was captured of chain " + c.Chain.ID + " is kept no longer"; code != cli.ExitFailure || !strings.Contains(complaint, want) {
		t.Errorf("logs exits with %d and says %q, want %q", code, complaint, want)
	}
}

func TestAChainThatBacksOffSaysUntilWhen(t *testing.T) {
	t.Parallel()
	c := queued("train")
	c.Link.State, c.Link.Ended, c.Link.ExitCode = segue.LinkEnded, segue.Failed, 9
	c.Link.Start, c.Link.End = 10, 20
	links := []segue.Link{c.Link}
	want := "The next link is submitted at " + clock(segue.Time(20).Add(c.Chain.Terms.FastFail)) + " at the earliest"
	if got := delayed(c.Chain, links, 30); !strings.HasPrefix(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := delayed(c.Chain, links, segue.Time(20).Add(c.Chain.Terms.FastFail)); got != "" {
		t.Errorf("when the time has come it says %q", got)
	}
}

// A job that the scheduler lost is an attempt, and no link.
func TestALostAttemptIsTold(t *testing.T) {
	t.Parallel()
	c := queued("train")
	where := storeOf(t, c)
	s, err := store.Open(t.Context(), where, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	lost := c.Link
	lost.State, lost.End = segue.LinkLost, 70
	if err := s.UpdateLink(t.Context(), segue.LinkQueued, lost); err != nil {
		t.Fatal(err)
	}
	if _, err := s.NextLink(t.Context(), lost, segue.Decision{At: 80, Policy: "reactive", Submit: true, SubmitAt: 80, Reason: "Submit now."}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"status": "Job 4711, attempt 1 at link 1, was lost by the scheduler before it started.\n",
		"why":    ", about link 1, attempt 2, by reactive:\n  Submit now.\n",
	} {
		if out, complaint, code := segueSays(command, "train", "--store", where); code != cli.ExitOK || !strings.Contains(out, want) {
			t.Errorf("segue %s exits with %d, want %q in\n%s%s", command, code, want, out, complaint)
		}
	}
}
