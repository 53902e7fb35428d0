package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/store"
)

// What a command changes stands in the audit log, with the user of the system, as
// what comes by the interface does.
func TestWhatCommandsChangeIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "segue.db")
	s, err := store.Open(t.Context(), path, store.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	at := segue.TimeOf(time.Now())
	chain := segue.Chain{ID: "k3v9q2", User: userName(), Created: at, Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}}}
	link := segue.Link{Chain: "k3v9q2", Number: 1, Attempt: 1, Planned: at, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime}
	if err := s.CreateChain(t.Context(), chain, link); err != nil {
		t.Fatal(err)
	}
	registry := models.NewRegistry(filepath.Join(dir, "models"), func() segue.Time { return segue.TimeOf(time.Now()) })
	for _, id := range []string{"m1", "m2"} {
		if err := registry.Write(toymodel.Manifest(id), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
			t.Fatal(err)
		}
	}
	history := filepath.Join(dir, "jobs.swf")
	if err := os.WriteFile(history, []byte("; UnixStartTime: 1700000000\n1 0 10 60 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []struct {
		words string
		code  int
	}{
		{"pause k3v9q2", cli.ExitOK},
		{"resume k3v9q2", cli.ExitOK},
		{"stop k3v9q2", cli.ExitOK},
		{"history import " + history + " --cluster toy", cli.ExitOK},
		{"models promote m1 --reason first --dir " + filepath.Join(dir, "models"), cli.ExitOK},
		{"models promote m2 --reason second --dir " + filepath.Join(dir, "models"), cli.ExitOK},
		{"models promote m2 --reason again --dir " + filepath.Join(dir, "models"), cli.ExitFailure},
		{"models rollback --dir " + filepath.Join(dir, "models"), cli.ExitOK},
	} {
		var out, failed bytes.Buffer
		if code := run(append(strings.Fields(line.words), "--store", path), strings.NewReader(""), &out, &failed); code != line.code {
			t.Fatalf("segue %s: exit code %d, want %d\n%s%s", line.words, code, line.code, &out, &failed)
		}
	}
	wantAudited(t, s, []string{
		"roll-back-model m2 200", "promote-model m2 409", "promote-model m2 200", "promote-model m1 200", "import-history toy 200",
		"stop-chain k3v9q2 200", "resume-chain k3v9q2 200", "pause-chain k3v9q2 200",
	})
}

// What a command does with the cluster, a trainer or a backup is there as well, and
// with what status it failed. What is refused before it begins changes nothing, and
// leaves no line.
func TestWhatCommandsDoWithOthersIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	slurm, dir := newFakeSlurm(t, time.Hour), t.TempDir()
	slurm.lasting(t, segue.JobID{Number: 4711}, "none")
	accounting := slurm.accounting(t)
	command := func(code int, words string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "segue", strings.Fields(words)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "DATABASE_URL=", "PATH="+slurm.bin()+":"+os.Getenv("PATH"))
		if said, err := cmd.CombinedOutput(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("segue %s: %v, want exit code %d\n%s", words, err, code, said)
		}
	}
	const adopt = "adopt 4711 --segue-links=2 --time=1 --wrap=true"
	command(cli.ExitOK, adopt)
	command(cli.ExitFailure, adopt)
	command(cli.ExitFailure, "history collect --back 24h") // sacct has nothing to read
	at := func(ago time.Duration) string { return time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05") }
	jobs := fmt.Sprintf("JobID|User|Submit|Start|End|Timelimit|NNodes|State\n1|ada|%s|%s|%s|01:00:00|1|COMPLETED\n", at(3*time.Hour), at(3*time.Hour), at(2*time.Hour))
	if err := os.WriteFile(accounting, []byte(jobs), 0o600); err != nil {
		t.Fatal(err)
	}
	command(cli.ExitOK, "history collect --back 24h")
	command(cli.ExitOK, "store backup copy.db.gz")
	command(cli.ExitFailure, "store restore copy.db.gz") // the store is not empty
	command(cli.ExitOK, "store restore copy.db.gz --store restored.db")
	const train = "train now --collect=false --nodes 1 --judge 1h --trainer "
	command(cli.ExitOK, train+"true")
	command(cli.ExitFailure, train+"no-such-trainer --store restored.db --runs other")
	open := func(name string) *store.Store {
		t.Helper()
		s, err := store.Open(t.Context(), filepath.Join(dir, name), store.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() }) // it was read only
		return s
	}
	first, restored := open("segue/segue.db"), open("restored.db")
	chains, err := first.Chains(t.Context(), store.ChainQuery{})
	if err != nil || len(chains) != 1 {
		t.Fatalf("chains are %v, %v; want the adopted one", chains, err)
	}
	both := []string{"collect-history fake 200", "collect-history fake 500", "adopt-job " + chains[0].ID + " 200"}
	wantAudited(t, first, append([]string{"train-model fake 200"}, both...))
	wantAudited(t, restored, append([]string{"train-model fake 404", "restore-store copy.db.gz 200"}, both...))
}

// wantAudited wants these lines in the audit log, the latest first, all by who runs
// the test and through the command line.
func wantAudited(t *testing.T, s *store.Store, want []string) {
	t.Helper()
	lines, err := s.AuditLog(t.Context(), store.AuditQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		if l.User != userName() || l.Via != "command line" {
			t.Errorf("%s is by %q through %q, want %q through the command line", l.Action, l.User, l.Via, userName())
		}
		got = append(got, fmt.Sprint(l.Action, " ", l.Object, " ", l.Status))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log, the latest first (-want +got):\n%s", diff)
	}
}
