package rest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/schedulertest"
	"github.com/segue-project/segue/schedulers/slurm/rest"
)

// job returns the submission of a job of a script.
func job(dir string) func(nodes int, limit, run time.Duration, exitCode int) schedulers.Submission {
	return func(nodes int, limit, run time.Duration, exitCode int) schedulers.Submission {
		minutes := max(1, int(limit.Minutes()))
		return schedulers.Submission{Submission: segue.Submission{
			Args:     []string{fmt.Sprintf("--nodes=%d", nodes), "--gres=gpu:4", fmt.Sprintf("--time=%d", minutes), "-o/dev/null", "train.sh"},
			ScriptAt: 4,
			Script:   fmt.Appendf(nil, "#!/bin/sh\nsleep %g\nexit %d\n", run.Seconds(), exitCode),
			Env:      []string{"PATH=/usr/bin:/bin", "HOME=/root"}, Dir: dir, Umask: 0o22,
		}}
	}
}

// The conformance suite on a real Slurm behind its real slurmrestd: by the Unix
// socket with accounting, and by a port with a token without.
func TestConformance(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	for name, accounting := range map[string]bool{"by the socket, with accounting": true, "by the port, without accounting": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := slurmtest.Start(t, slurmtest.Config{
				Nodes: 2, Accounting: accounting, REST: true, Extra: []string{"EnforcePartLimits=ALL"}, // what is too large is refused, and does not wait for ever
			})
			cfg := rest.Config{URL: s.REST.Socket, Remembers: 300 * time.Second} // MinJobAge
			if !accounting {
				token, err := s.Token(t.Context(), "root")
				if err != nil {
					t.Fatal(err)
				}
				cfg.URL, cfg.User, cfg.Token = s.REST.Port, "root", func() (string, error) { return token, nil }
			}
			d, err := rest.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			caps, err := d.Capabilities(t.Context())
			if err != nil || caps.Accounting != accounting || caps.Version != "slurm 22.05.8" || caps.Requeue {
				t.Errorf("capabilities %+v, %v; want those of 22.05.8 with accounting %t and no requeue", caps, err, accounting)
			}
			schedulertest.Run(t, schedulertest.Harness{
				Driver: d, Nodes: 2, CoarseLimits: true, Job: job(t.TempDir()), Pass: func(d time.Duration) { <-time.After(d) },
			})
			if caps, err := d.Capabilities(t.Context()); err != nil || caps.Cluster != "segue" {
				t.Errorf("afterwards the cluster is %q, %v; want segue", caps.Cluster, err)
			}
		})
	}
}
