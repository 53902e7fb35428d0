package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
)

func TestTheTokenForSlurmrestd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	for content, want := range map[string]string{"abc.def\n": "abc.def", "SLURM_JWT=abc.def\n": "abc.def"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := (&slurmAccess{tokenFile: file}).token(); got != want || err != nil {
			t.Errorf("%q is token %q, %v; want %q", content, got, err, want)
		}
	}
	if _, err := (&slurmAccess{tokenFile: file + ".no"}).token(); err == nil {
		t.Error("a file that is not there holds a token")
	}
}

func TestTheAgentInTheBackgroundReachesTheSameSlurm(t *testing.T) {
	t.Parallel()
	a := slurmAccess{url: "unix:///run/slurmrestd", tokenFile: "/home/ada/token"}
	want := []string{"--slurmrestd", "unix:///run/slurmrestd", "--slurmrestd-token", "/home/ada/token"}
	if diff := cmp.Diff(want, a.args()); diff != "" {
		t.Errorf("its arguments differ (-want +got):\n%s", diff)
	}
	if _, err := (&slurmAccess{url: "slurmrestd:6820"}).driver(); segue.KindOf(err) != segue.Invalid {
		t.Errorf("an address without a scheme: %v, want an error of kind invalid", err)
	}
}

// An agent that has none of Slurm's commands goes on with a chain over slurmrestd.
func TestTheAgentWorksThroughSlurmrestd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "segue")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build segue: %v\n%s", err, out)
	}
	s := slurmtest.Start(t, slurmtest.Config{Nodes: 2, REST: true})
	token, err := s.Token(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	segueCommand := func(env []string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env, cmd.Dir = append(append(slices.Clone(s.Env), "XDG_STATE_HOME="+filepath.Join(dir, "state"), "DATABASE_URL="), env...), dir
		return cmd
	}
	// The second link is to be submitted a minute before the end of the first, whose
	// limit is a minute.
	out, err := segueCommand(nil, "sbatch", "--segue-chain", "--segue-links=2", "--segue-min-lead=1m", "--time=1", "-o/dev/null", "--wrap=sleep 600").CombinedOutput()
	if err != nil {
		t.Fatalf("segue sbatch: %v: %s", err, out)
	}
	agent := segueCommand([]string{"PATH=/nowhere", "SLURM_JWT=" + token}, "agent", "--every=1s", "--slurmrestd", s.REST.Port)
	var said bytes.Buffer
	agent.Stderr = &said
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	jobs := ""
	for range 60 {
		listed, err := s.Command(t.Context(), "squeue", "-h", "-o", "%k").Output()
		if err != nil {
			t.Fatal(err)
		}
		if jobs = string(listed); strings.Contains(jobs, "/2.1") {
			break
		}
		<-time.After(time.Second)
	}
	_ = agent.Process.Kill()
	_ = agent.Wait() // it was killed
	if !strings.Contains(jobs, "/2.1") {
		t.Errorf("no second link is there, but jobs with the comments\n%sThe agent said\n%s", jobs, &said)
	}
}
