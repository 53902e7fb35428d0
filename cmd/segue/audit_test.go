package main

import (
	"bytes"
	"fmt"
	"os"
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
	want := []string{
		"roll-back-model m2 200", "promote-model m2 409", "promote-model m2 200", "promote-model m1 200", "import-history toy 200",
		"stop-chain k3v9q2 200", "resume-chain k3v9q2 200", "pause-chain k3v9q2 200",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log, the latest first (-want +got):\n%s", diff)
	}
}
