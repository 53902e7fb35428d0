package rest_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/schedulers/slurm/rest"
)

// tells is a script that tells what it was given.
const tells = `#!/bin/sh
#SBATCH --time=5 --open-mode=append
umask; ulimit -Sn; pwd; echo "$A|$SEGUE_LINK|$SLURM_SUBMIT_DIR|$SLURM_JOB_NAME|$SLURM_NTASKS|$SLURM_JOB_GPUS|${SLURM_JWT-none}"
`

// A job that is submitted over REST is the one that sbatch makes of the same.
func TestRESTMakesTheJobThatSbatchMakes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	s := slurmtest.Start(t, slurmtest.Config{Nodes: 2, REST: true})
	viaREST, err := rest.New(rest.Config{URL: s.REST.Socket})
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"resources":      {"--gres=gpu:2", "-N2", "--ntasks-per-node=2", "--comment=with \"quotes\" and 'more'"},
		"a name":         {"-J", "other name", "-n2", "--gpus-per-node=1", "--no-requeue", "--nice=7"},
		"another folder": {"--chdir=/", "--exclusive", "-c2", "--mail-type=END,FAIL", "--mail-user=ada@example.org"},
		"nodes":          {"-w", "n2", "-N1", "--mem=100", "-d", "singleton"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			type made struct{ Job, Says string }
			jobs := map[string]made{}
			for by, d := range map[string]schedulers.Driver{"sbatch": slurm.New(slurm.Config{Env: s.Env}), "REST": viaREST} {
				dir := filepath.Join(t.TempDir(), "work")
				if err := os.MkdirAll(dir, 0o750); err != nil {
					t.Fatal(err)
				}
				args := append(append([]string{}, args...), "-o", filepath.Join(dir, "out"), "train.sh")
				got, err := d.Submit(t.Context(), schedulers.Submission{
					Token: "segue:abc/2.1", Extra: []string{"SEGUE_LINK=2"}, Submission: segue.Submission{
						Args: args, ScriptAt: len(args) - 1, Script: []byte(tells), Dir: dir, Umask: 0o27,
						Env:    append(append([]string{}, s.Env...), "A=a \"b\" 'c' $d", "SLURM_JWT=old"),
						Limits: []segue.ResourceLimit{{Name: "NOFILE", Soft: 512, Hard: 1 << 19}},
					},
				})
				if err != nil {
					t.Fatalf("%s: %v", by, err)
				}
				said := output(t, s, got.Job, filepath.Join(dir, "out"))
				jobs[by] = made{show(t, s, got.Job, dir), strings.ReplaceAll(said, dir, "DIR")}
			}
			if diff := cmp.Diff(jobs["sbatch"], jobs["REST"]); diff != "" {
				t.Errorf("the jobs differ (-sbatch +REST):\n%s", diff)
			}
		})
	}
}

// output waits for the end of a job, and returns what it wrote.
func output(t *testing.T, s *slurmtest.Slurm, job segue.JobID, path string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for {
		out, err := s.Command(ctx, "squeue", "-h", "-t", "PD,R,CG", "-j", job.String()).Output()
		if err != nil {
			t.Fatalf("wait for job %s: %v", job, err)
		}
		if len(strings.TrimSpace(string(out))) == 0 {
			break
		}
		<-time.After(time.Second)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// differs are what differs between any two jobs, and Command, which names the
// script for sbatch only.
var differs = regexp.MustCompile(`(?m)^(JobId|\S*Time|LastSchedEval|NodeList|BatchHost|SchedNodeList|Priority|AllocNode:Sid|Command|Scheduler|ExitCode|DerivedExitCode)=.*\n`)

// show returns a job as scontrol shows it.
func show(t *testing.T, s *slurmtest.Slurm, job segue.JobID, dir string) string {
	t.Helper()
	out, err := s.Command(t.Context(), "scontrol", "show", "job", job.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`\s+(\S+?=)`).ReplaceAllString(string(out), "\n$1")
	return strings.ReplaceAll(differs.ReplaceAllString(lines, ""), dir, "DIR")
}
