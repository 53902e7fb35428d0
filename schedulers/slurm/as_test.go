package slurm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
)

// Root submits for others as them: here as nobody. Who is not root can be nobody
// else.
func TestAJobIsSubmittedAsItsUser(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "segue-as-") //nolint:usetesting // others may not open t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	as := &syscall.Credential{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid()), NoSetGroups: true}
	if os.Getuid() == 0 {
		as = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	program := filepath.Join(dir, "sbatch") // prints the number of a job where it is who it should be, and may read the script
	text := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\ntest $(id -u) = %d && grep -q train \"$last\" && echo 4711\n", as.Uid)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	d := slurm.New(slurm.Config{Sbatch: program, Spool: dir, As: func(user string) (*syscall.Credential, error) {
		if user != "ada" {
			return nil, segue.Errorf(segue.Invalid, "there is no user %q", user)
		}
		return as, nil
	}})
	s := schedulers.Submission{
		Token:   "segue:k3v9q2/2.1",
		Request: segue.Request{Shape: segue.Shape{Nodes: 1}, User: "ada"},
		Submission: segue.Submission{
			Args: []string{"train.sh"}, Script: []byte("#!/bin/sh\n./train\n"), Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/", Umask: 0o022,
		},
	}
	got, err := d.Submit(t.Context(), s)
	if err != nil || got.Job.Number != 4711 {
		t.Errorf("job %s, %v; want 4711", got.Job, err)
	}
	s.Request.User = "bob"
	if _, err := d.Submit(t.Context(), s); segue.KindOf(err) != segue.Invalid {
		t.Errorf("for a user who is not known: %v, want an error of kind invalid", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "segue-submit-*")); err != nil || len(left) > 0 {
		t.Errorf("scripts are left: %q, %v", left, err)
	}
}

// What sbatch does as a user is up to the user's environment: it may say anything, and
// its folder may be away.
func TestASubmissionOfAUserIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "sbatch")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nhead -c 10000000 /dev/zero >&2\necho a banner\necho 4711\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var answer slurm.Result
	d := slurm.New(slurm.Config{Sbatch: program, Run: func(ctx context.Context, c slurm.Command) (slurm.Result, error) {
		r, err := slurm.RunCommand(ctx, c)
		if len(c.Argv) > 0 && c.Argv[0] == program {
			answer = r
		}
		return r, err
	}})
	s := schedulers.Submission{Token: "segue:k3v9q2/2.1", Submission: segue.Submission{
		Args: []string{"train.sh"}, Script: []byte("#!/bin/sh\n"), Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: dir, Umask: 0o022,
	}}
	got, err := d.Submit(t.Context(), s)
	if err != nil || got.Job.Number != 4711 || len(answer.Stderr) > 64<<10 {
		t.Errorf("job %s, %v, and %d bytes kept; want 4711 and at most 64 KiB", got.Job, err, len(answer.Stderr))
	}
	s.Dir = filepath.Join(dir, "away")
	if _, err := d.Submit(t.Context(), s); segue.KindOf(err) != segue.Unavailable || errors.Is(err, schedulers.ErrAmbiguous) || !strings.Contains(err.Error(), "sbatch was not run") {
		t.Errorf("in a folder that is away: %v, want an error of kind unavailable that says that sbatch was not run", err)
	}
}
