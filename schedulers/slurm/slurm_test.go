package slurm_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/schedulertest"
	"github.com/segue-project/segue/schedulers/slurm"
)

// job returns the submission of a job of a script.
func job(t *testing.T, s *slurmtest.Slurm, dir string) func(nodes int, limit, run time.Duration, exitCode int) schedulers.Submission {
	t.Helper()
	return func(nodes int, limit, run time.Duration, exitCode int) schedulers.Submission {
		minutes := max(1, int(limit.Minutes()))
		return schedulers.Submission{Submission: segue.Submission{
			Args:     []string{fmt.Sprintf("--nodes=%d", nodes), "--gres=gpu:4", fmt.Sprintf("--time=%d", minutes), "-o/dev/null", "train.sh"},
			ScriptAt: 4,
			Script:   fmt.Appendf(nil, "#!/bin/sh\nsleep %g\nexit %d\n", run.Seconds(), exitCode),
			Env:      s.Env, Dir: dir, Umask: 0o22,
		}}
	}
}

// The conformance suite on a real Slurm, with slurmdbd and without: what a user
// has on a cluster of either kind.
func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	for name, accounting := range map[string]bool{"with accounting": true, "without accounting": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slurmtest.Start(t, slurmtest.Config{
				Nodes: 2, Accounting: accounting, Extra: []string{"EnforcePartLimits=ALL"}, // what is too large is refused, and does not wait for ever
			})
			d := slurm.New(slurm.Config{Env: s.Env})
			caps, err := d.Capabilities(t.Context())
			if err != nil || caps.Accounting != accounting || caps.Cluster != "segue" {
				t.Errorf("capabilities %+v, %v; want accounting %t of cluster segue", caps, err, accounting)
			}
			schedulertest.Run(t, schedulertest.Harness{
				Driver: d, Nodes: 2, CoarseLimits: true, Job: job(t, s, t.TempDir()), Pass: func(d time.Duration) { <-time.After(d) },
			})
		})
	}
}

// A look at the queue costs slurmctld two RPCs, by its own count, and the nodes two
// more once a minute.
func TestWhatAStateCosts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a real Slurm
	}
	s := slurmtest.Start(t, slurmtest.Config{Nodes: 2})
	d := slurm.New(slurm.Config{Env: s.Env})
	if out, err := s.Command(t.Context(), "sdiag", "--reset").CombinedOutput(); err != nil {
		t.Fatalf("sdiag: %v: %s", err, out)
	}
	const looks = 10
	for range looks {
		if _, err := d.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Command(t.Context(), "sdiag").CombinedOutput()
	if err != nil {
		t.Fatalf("sdiag: %v: %s", err, out)
	}
	_, byType, _ := strings.Cut(string(out), "by message type")
	byType, _, _ = strings.Cut(byType, "by user")
	cost := 0
	for _, m := range regexp.MustCompile(`REQUEST_(?:JOB|NODE|PARTITION)_INFO\s.*?count:(\d+)`).FindAllStringSubmatch(byType, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		cost += n
	}
	if cost != 2*looks+2 {
		t.Errorf("%d looks cost %d RPCs, want two each and two for the nodes:\n%s", looks, cost, byType)
	}
}
