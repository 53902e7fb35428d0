package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/internal/slurmtest"
)

// What docs/operator.md tells operators to type works, from nothing to a chain and a
// trained model on the dashboard: with the real programs, a real Slurm with
// accounting and a real PostgreSQL, in a home folder in which nothing is.
func TestOperatorsCanDoWhatIsWritten(t *testing.T) {
	t.Parallel()
	if os.Getenv("SEGUE_E2E") != "operator" {
		return // `OPERATOR=1 make e2e-slurm` asks for it
	}
	page, err := os.ReadFile("../../docs/operator.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	trainer, err := filepath.Abs("../../bin/segue-trainer")
	if err = errors.Join(err, os.Mkdir(bin, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, program := range map[string]string{"segue": buildSegue(t), "segue-trainer": trainer} {
		if err := os.Symlink(program, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	database := pgtest.Server{}
	if err := database.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := database.Stop(); err != nil {
			t.Error(err)
		}
	})
	slurm := slurmtest.Start(t, slurmtest.Config{Accounting: true})
	script := strings.ReplaceAll(strings.Join(fenced(string(page), "sh"), "\n"), "127.0.0.1:7411", freeAddress(t))
	const ends = "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n" // the server, if a line before its end fails
	cmd := exec.CommandContext(t.Context(), "bash", "-euxo", "pipefail", "-c", ends+script)
	cmd.Dir = home
	cmd.Env = append(slices.DeleteFunc(slices.Clone(slurm.Env), func(kv string) bool {
		return strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "XDG_") || strings.HasPrefix(kv, "PATH=")
	}), "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "PGHOST="+database.Dir(), "PGUSER=segue")
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(home, "segue-trial", "serve.log"))
		t.Errorf("%v; the server says\n%s", err, log)
	}
}
