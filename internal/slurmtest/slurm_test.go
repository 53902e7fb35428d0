package slurmtest

import (
	"os"
	"strings"
	"testing"
)

// Other servers of the machine, and of tests beside this one, have temporary tables
// where this one's would be by default.
func TestTemporaryTablesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // as below
	}
	table, err := os.CreateTemp(os.TempDir(), "#sql-temptable-segue-*.MAI")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(table.Name()) }()
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	Start(t, Config{Nodes: 1, Accounting: true})
	if _, err := os.Stat(table.Name()); err != nil {
		t.Error(err)
	}
}

func TestSlurmRunsAJob(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes a minute, and programs that `make check` does not install
	}
	s := Start(t, Config{Nodes: 2, Accounting: true})
	out, err := s.Command(t.Context(), "sbatch", "--wait", "--gres=gpu:4", "-N2", "-o", "out-%j", "--wrap", "echo ran on $SLURM_JOB_NODELIST").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "Submitted batch job ") {
		t.Fatalf("sbatch: %v: %s", err, out)
	}
	out, err = s.Command(t.Context(), "sacct", "-X", "-n", "-P", "-o", "state,alloctres").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "COMPLETED|") || !strings.Contains(string(out), "gres/gpu=8") {
		t.Errorf("sacct: %v: %s", err, out)
	}
}
