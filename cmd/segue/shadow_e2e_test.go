package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A watch on a real Slurm writes down what it advises about the long job that runs,
// not about the short one, and leaves Slurm with the two jobs that it had.
func TestShadowWatchOnARealSlurm(t *testing.T) {
	t.Parallel()
	if os.Getenv("SEGUE_E2E") == "" {
		return // `make e2e-slurm` and `make test` ask for it
	}
	r := newRig(t, endToEnds["short"])
	for _, limit := range []string{"13:00:00", "10"} {
		if out, err := r.command(t.Context(), "sbatch", "-J", "train.7", "--nodes=1", "--time="+limit, "-o", "/dev/null", "--wrap", "sleep 900"); err != nil {
			t.Fatalf("sbatch: %v: %s", err, out)
		}
	}
	jobs := func() string {
		out, err := r.command(t.Context(), "squeue", "--noheader", "--states=all", "-o", "%i %T")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for strings.Count(jobs(), "RUNNING") < 2 {
		select {
		case <-t.Context().Done():
			t.Fatal("the jobs do not start")
		case <-time.After(time.Second):
		}
	}
	before := jobs()
	for range 2 {
		if out, err := r.command(t.Context(), r.segue, "shadow", "watch", "--once", "advice.jsonl"); err != nil || out != "advice.jsonl: advice about 1 of the jobs that run. Nothing was submitted." {
			t.Fatalf("segue shadow watch: %v: %s", err, out)
		}
	}
	if after := jobs(); after != before {
		t.Errorf("Slurm has\n%s\nand had\n%s", after, before)
	}
	advice, err := os.ReadFile(r.dir + "/advice.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(advice), `"name":"train.7","nodes":1,"limit":"13:00:00"`); n != 2 {
		t.Errorf("%d lines about the long job, want 2:\n%s", n, advice)
	}
}
