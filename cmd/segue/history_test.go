package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/traces"
)

// What sacct of a real Slurm tells becomes history: every job once, however often
// it is asked, with how it ended.
func TestHistoryOfARealSlurm(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	slurm := slurmtest.Start(t, slurmtest.Config{Nodes: 2, Accounting: true})
	dir := t.TempDir()
	segue := buildSegue(t)
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env, cmd.Dir = append(slices.Clone(slurm.Env), "XDG_STATE_HOME="+dir, "DATABASE_URL="), dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("sbatch", "-J", "good|job", "-N2", "--gres=gpu:2", "-o/dev/null", "--wrap=exit 0")
	run("sbatch", "-J", "bad", "-o/dev/null", "--wrap=exit 3")
	run("sbatch", "-J", "stopped", "-o/dev/null", "--wrap=exec sleep 600")
	run("sbatch", "-J", "tasks", "--array=1-3%1", "-o/dev/null", "--wrap=exit 0")
	run("sbatch", "-J", "held", "--hold", "-o/dev/null", "--wrap=exit 0")
	shows := func(want string) func() bool {
		return func() bool { return strings.TrimSpace(run("squeue", "-h", "-o", "%j %T")) == want }
	}
	wait(t, func() bool { return strings.HasPrefix(run("squeue", "-h", "-n", "stopped", "-o", "%M"), "0:02") }) // in its first second it would count as never started
	run("scancel", "-n", "stopped")
	wait(t, shows("held PENDING"))
	wait(t, func() bool { // slurmdbd is told a little later
		return strings.Count(run("sacct", "-X", "-n", "-P", "-o", "JobID,End"), "|20") == 6
	})
	for range 2 {
		run(segue, "history", "collect", "--back", "1h")
	}
	run(segue, "history", "export", "segue", "out.parquet", "--force")
	h, err := traces.Load(filepath.Join(dir, "out.parquet"), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type ended struct {
		Name, State string
		ExitCode    int16
		Nodes, GPUs int32
		Runs        bool
	}
	var got []ended
	for _, j := range h.Jobs {
		got = append(got, ended{j.Name, j.State.String(), j.ExitCode, j.Nodes, j.GPUs, j.Start.Known() && j.End >= j.Start})
	}
	want := []ended{
		{"good|job", "COMPLETED", 0, 2, 4, true},
		{"bad", "FAILED", 3, 1, 0, true},
		{"stopped", "CANCELLED", 0, 1, 0, true},
		{"tasks", "COMPLETED", 0, 1, 0, true},
		{"tasks", "COMPLETED", 0, 1, 0, true},
		{"tasks", "COMPLETED", 0, 1, 0, true},
	}
	byName := func(a, b ended) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(got, byName)
	slices.SortStableFunc(want, byName)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// wait waits until something is so.
func wait(t *testing.T, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !so() {
		if pause(ctx, 200*time.Millisecond); ctx.Err() != nil {
			t.Fatal("it does not come to be in a minute")
		}
	}
}
