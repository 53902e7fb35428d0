package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
)

// slurmctld takes a job and is killed before it has written that down: it never
// hears of the job again, and gives its number to the next one, here somebody else's.
// The chain's link is tried again, and nobody's job is taken for it.
func TestAJobThatARealSlurmLosesIsAnotherAttempt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	for name, accounting := range map[string]bool{"with accounting": true, "without accounting": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			losesAJob(t, newRigOf(t, endToEnd{}, slurmtest.Config{Accounting: accounting}), accounting)
		})
	}
}

func losesAJob(t *testing.T, r *rig, accounting bool) {
	t.Helper()
	full := r.sbatch("-J", "full", "--nodes=8", "--gres=gpu:4", "--wrap=exec sleep 600")
	r.untilSays("job "+full+" runs", func() bool { return r.says("squeue", "-h", "-j", full, "-o", "%T") == "RUNNING" })
	chain, job := r.loseAJob()
	stranger := ""
	for i := 0; stranger != job && i < 3; i++ { // the job before the lost one may be lost with it
		stranger = r.sbatch("--uid=nobody", "--chdir=/", "-J", "stranger", "--hold", "--wrap=true")
	}
	if stranger != job {
		t.Errorf("the next jobs after the lost one have numbers up to %s, and not %s again: the test shows less than it says", stranger, job)
	}

	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { r.oneAgent(ctx, 10*time.Minute) })
	defer func() { cancel(); work.Wait() }()
	r.untilSays("another attempt waits", func() bool { return len(r.linksOf(chain)) == 2 })
	r.says("scancel", full)
	r.untilSays("the chain is done", func() bool { return strings.Contains(r.says(r.segue, "status", chain), "is done") })

	var got []string
	for _, l := range r.linksOf(chain) {
		got = append(got, fmt.Sprintf("%d.%d %s", l.Number, l.Attempt, l.State))
	}
	if diff := cmp.Diff([]string{"1.1 lost", "1.2 ended"}, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	lost := "Job " + job + ", attempt 1 at link 1, was lost by the scheduler before it started"
	r.tells("status", chain, lost)
	r.tells("why", chain, lost)
	if state := r.says("squeue", "-h", "-j", job, "-o", "%j %T"); state != "stranger PENDING" {
		t.Errorf("the stranger's job is %q, want it left alone", state)
	}
	if accounting {
		r.untilSays("sacct knows one run of the link", func() bool { return strings.Count(r.startedWith("segue:"+chain+"/"), "\n") == 1 })
	}
}

// loseAJob submits a chain of one link, which slurmctld loses, and returns its ID and
// the number of the job.
func (r *rig) loseAJob() (chain, job string) {
	r.t.Helper()
	for i := range 5 {
		pause(r.t.Context(), 6*time.Second) // slurmctld writes at once what comes after a while,
		r.sbatch("--hold", "--wrap=true")   // and what follows upon that up to five seconds later
		name := fmt.Sprintf("lost-%d", i+1)
		script := filepath.Join(r.dir, name+".sh")
		if err := os.WriteFile(script, []byte("#!/bin/bash\n#SBATCH --nodes=1 --gres=gpu:1 --time=1 -o/dev/null\n#SEGUE --chain\nexit 0\n"), 0o755); err != nil {
			r.t.Fatal(err)
		}
		job = strings.TrimPrefix(r.says(r.segue, "sbatch", "-J", name, script), "Submitted batch job ")
		r.slurm.StopController(true)
		if err := r.slurm.StartController(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		if shown := r.says("squeue", "-h", "-t", "all", "-n", name, "-o", "%i"); shown == "" {
			return r.idOf(name), job
		}
		r.t.Logf("job %s was written down already: once more", job)
		r.says("scancel", job)
	}
	r.t.Fatal("slurmctld has lost no job")
	return "", ""
}

// says runs a command and returns what it prints, whatever its exit code.
func (r *rig) says(name string, args ...string) string {
	r.t.Helper()
	out, _ := r.command(r.t.Context(), name, args...)
	return out
}

// sbatch submits a job and returns its number.
func (r *rig) sbatch(args ...string) string {
	r.t.Helper()
	out, err := r.command(r.t.Context(), "sbatch", append([]string{"--parsable", "-o/dev/null"}, args...)...)
	if err != nil {
		r.t.Fatalf("sbatch %v: %v", args, err)
	}
	return out
}

// untilSays waits for something to come true.
func (r *rig) untilSays(what string, done func() bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Minute)
	defer cancel()
	for !done() {
		if pause(ctx, time.Second); ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(r.dir, "agent.log"))
			r.t.Fatalf("it did not come to pass that %s:\n%s\n%s", what, r.says(r.segue, "status", "--all"), log[max(0, len(log)-4000):])
		}
	}
}

// linksOf returns the links of a chain, as status prints them.
func (r *rig) linksOf(chain string) []linkStatus {
	r.t.Helper()
	var shown struct {
		List []linkStatus `json:"link_list"`
	}
	if err := json.Unmarshal([]byte(r.says(r.segue, "status", chain, "--json")), &shown); err != nil {
		r.t.Fatal(err)
	}
	return shown.List
}

// startedWith returns a line for each job that has started and carries a token that
// begins so, by sacct.
func (r *rig) startedWith(token string) string {
	r.t.Helper()
	var started strings.Builder
	for line := range strings.Lines(r.says("sacct", "-X", "-n", "-P", "-S", "now-1hours", "-o", "Start,JobID,Comment") + "\n") {
		f := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if found, _, _, _, ok := segue.FindToken(line); ok && strings.HasPrefix(found, token) && f[0] != "Unknown" && f[0] != "None" {
			started.WriteString(line)
		}
	}
	return started.String()
}
