package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/internal/slurmtest"
)

// On a real Slurm a user who has nothing but a job script and SEGUE_SERVER gets a chain
// whose every job is the user's own, with what it writes.
func TestAServerOfRootKeepsAUsersChainGoingOnARealSlurm(t *testing.T) {
	t.Parallel()
	if os.Getenv("SEGUE_E2E") == "" {
		return // `make test` asks for it
	}
	slurm := slurmtest.Start(t, slurmtest.Config{Accounting: true})
	s := &service{t: t, program: buildSegue(t), dir: t.TempDir(), client: http.Client{Timeout: 20 * time.Second}}
	for _, dir := range []string{filepath.Dir(s.program), s.dir} {
		opened(t, dir)
	}
	s.variables = append(slurm.Env, "HOME="+s.dir, "XDG_STATE_HOME="+s.dir)
	socket := filepath.Join(s.dir, "segue.sock")
	s.start("data", freeAddress(t), "--every", "1s", "--socket", socket)
	ada := s.someone("nobody", "unix://"+socket)
	ada.env = append(ada.env, "SLURM_CONF="+slurm.Conf)
	script := "#!/bin/bash\n#SBATCH --job-name=train --time=1 --nodes=1 --gres=gpu:1\n#SEGUE --chain --links 3 --done-code 9\n" +
		"echo \"link $SEGUE_LINK of $(id -un) in $PWD, umask $(umask)\"\n"
	if err := os.WriteFile(filepath.Join(ada.home, "train.sh"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}

	out, complaint := ada.runs("sbatch", "train.sh")
	if !strings.HasPrefix(out, "Submitted batch job ") || complaint != "" {
		t.Fatalf("segue sbatch says %q and %q", out, complaint)
	}
	s.until("the chain has run its links", func() bool {
		out, _ := ada.runs("status", "--all")
		return strings.Contains(out, "done")
	})
	want := strings.Repeat("nobody|train|COMPLETED\n", 3)
	jobs, err := slurm.Command(t.Context(), "squeue", "--noheader", "--states=all", "--format=%u|%j|%T").Output()
	if err != nil || string(jobs) != want {
		t.Errorf("squeue shows %v:\n%swant\n%s", err, jobs, want)
	}
	written, err := filepath.Glob(filepath.Join(ada.home, "slurm-*.out"))
	if err != nil || len(written) != 3 {
		t.Fatalf("the links wrote %q, %v; want 3 files", written, err)
	}
	var all strings.Builder
	for _, file := range written {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, link := range []string{"link 1", "link 2", "link 3"} {
		if want := link + " of nobody in " + ada.home + ", umask 0022\n"; !strings.Contains(all.String(), want) {
			t.Errorf("the links wrote\n%swant %s", all.String(), want)
		}
	}
}
