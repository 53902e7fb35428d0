package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Submit runs sbatch once, as it was run for the submission before: the same
// arguments, environment, folder, umask and limits. The token goes into the
// comment, after the user's own.
func (d *Driver) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	credential, err := d.credential(s.Request.User)
	if err != nil {
		return schedulers.Submitted{}, err
	}
	path, done, err := d.spooled(s.Submission, credential)
	if err != nil {
		return schedulers.Submitted{}, err
	}
	defer done()
	launch, err := sbatch.Later(s.Submission, s.Token, s.Extra, path)
	if err != nil {
		return schedulers.Submitted{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lingers)
	defer cancel()
	r, err := d.cfg.Run(ctx, Command{
		Argv: append([]string{d.cfg.Sbatch}, launch.Args...), Env: launch.Env, Dir: launch.Dir, Stdin: launch.Stdin,
		As: &Process{Umask: launch.Umask, Limits: launch.Limits}, Credential: credential,
	})
	if err != nil {
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "sbatch: %w: %w", schedulers.ErrAmbiguous, err)
	}
	if r.Code == notEntered && bytes.HasPrefix(r.Stderr, []byte("env: ")) {
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "sbatch was not run: %s", spelling.Excerpt(r.Stderr))
	}
	if r.Code != 0 {
		return schedulers.Submitted{}, refusal(r)
	}
	job, _, ok := sbatch.Answer(r.Stdout, true)
	if !ok {
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "sbatch: %w: it printed %s", schedulers.ErrAmbiguous, spelling.Excerpt(r.Stdout))
	}
	return schedulers.Submitted{Job: job, Says: strings.TrimSpace(string(r.Stdout))}, nil
}

// credential returns as whom to submit for a user.
func (d *Driver) credential(user string) (*syscall.Credential, error) {
	if d.cfg.As == nil {
		return nil, nil
	}
	return d.cfg.As(user)
}

// spooled writes the script of a submission to a file of the name that it had,
// which is the default of the job's name, for the one who submits to read. done
// removes it.
func (d *Driver) spooled(s segue.Submission, owner *syscall.Credential) (path string, done func(), err error) {
	name := sbatch.ScriptName(s)
	if name == "" {
		return "", func() {}, nil
	}
	dir, err := os.MkdirTemp(d.cfg.Spool, "segue-submit-")
	if err != nil {
		return "", nil, fmt.Errorf("spool the script: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, s.Script, 0o600); err != nil {
		done()
		return "", nil, fmt.Errorf("spool the script: %w", err)
	}
	if owner != nil {
		err := errors.Join(os.Chown(path, int(owner.Uid), int(owner.Gid)), os.Chown(dir, int(owner.Uid), int(owner.Gid)))
		if err != nil {
			done()
			return "", nil, fmt.Errorf("spool the script: %w", err)
		}
	}
	return path, done, nil
}

// refusal returns the error of a submission that failed.
func refusal(r Result) error {
	message := string(r.Stderr)
	switch {
	case spelling.KindOf(message) == segue.Unavailable, r.Code < 0:
		return segue.Errorf(segue.Unavailable, "sbatch: %w: exit code %d: %s", schedulers.ErrAmbiguous, r.Code, spelling.Excerpt(r.Stderr))
	case spelling.Temporary(message):
		return segue.Errorf(segue.Unavailable, "sbatch: exit code %d: %s", r.Code, spelling.Excerpt(r.Stderr))
	}
	return segue.Errorf(segue.Invalid, "sbatch: exit code %d: %s", r.Code, spelling.Excerpt(r.Stderr))
}
