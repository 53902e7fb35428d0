package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Command is one command to run.
type Command struct {
	Argv  []string
	Env   []string
	Dir   string
	Stdin []byte
	// As, when not nil, says of whose process the command is to look like a child.
	As *Process
	// Credential, when not nil, is the user that runs it; otherwise this process's.
	Credential *syscall.Credential
}

// Process is what a command inherits from the one that starts it.
type Process struct {
	Umask  uint32
	Limits []segue.ResourceLimit
}

// wrap returns the command line that runs argv with the umask and the soft limits
// of the process, in its folder. It takes programs that every Linux has (util-linux,
// coreutils, sh), since the first two cannot be set for a child alone. The folder is
// entered by the child's program, where it may take its time: a child of Go's that
// enters it before keeps this process from starting any other.
func (p *Process) wrap(dir string, argv []string) []string {
	wrapped := []string{"prlimit"}
	for _, l := range p.Limits {
		soft := "unlimited"
		if most := min(l.Soft, hardLimit(l.Name)); most != math.MaxUint64 {
			soft = strconv.FormatUint(most, 10)
		}
		wrapped = append(wrapped, "--"+strings.ToLower(l.Name)+"="+soft+":")
	}
	if len(p.Limits) == 0 {
		wrapped = nil
	}
	script := fmt.Sprintf(`umask %04o && exec "$0" "$@"`, p.Umask&0o777)
	if dir != "" {
		wrapped = append(wrapped, "env", "-C", dir, "--")
	}
	return slices.Concat(wrapped, []string{"sh", "-c", script}, argv)
}

// hardLimit returns the most that this process and its children may have of a resource:
// a server may be held to less than the shell of a user, and prlimit refuses more.
func hardLimit(name string) uint64 {
	i := slices.IndexFunc(sbatch.Resources, func(r sbatch.Resource) bool { return r.Name == name })
	var l syscall.Rlimit
	if i < 0 || syscall.Getrlimit(sbatch.Resources[i].Number, &l) != nil {
		return math.MaxUint64
	}
	return l.Max
}

// notEntered is the exit code of env(1) that could not do what it was asked for before
// the command.
const notEntered = 125

// Result is what a command left. Code is its exit code, -1 when a signal ended it.
type Result struct {
	Stdout, Stderr []byte
	Code           int
}

// Runner runs a command to its end. Its error says that the command could not be
// run, or was given up because ctx ended; a code other than 0 is no error.
type Runner func(ctx context.Context, c Command) (Result, error)

// mostSaid is how much is kept of what a command says that runs as its user, whose
// programs may say anything.
const mostSaid = 64 << 10

// tail keeps the last bytes that are written to it: the answer comes after banners.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-mostSaid):]...)
	if more := len(t.kept) - mostSaid; more > 0 {
		t.kept = append(t.kept[:0], t.kept[more:]...)
	}
	return len(p), nil
}

// grace is how long a command that was told to end may take for it.
const grace = 5 * time.Second

func runCommand(ctx context.Context, c Command) (Result, error) {
	if c.As != nil {
		return runAs(ctx, c)
	}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay, cmd.Stdin = c.Env, c.Dir, grace, bytes.NewReader(c.Stdin)
	if c.Credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.Credential, Setsid: true}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := Result{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState.ExitCode()}
	if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
		err = nil
	}
	return r, err
}

// runAs runs a command that is to look like a child of another process. With what it has
// started it is killed when ctx ends.
func runAs(ctx context.Context, c Command) (Result, error) {
	argv := c.As.wrap(c.Dir, c.Argv)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay, cmd.Stdin = c.Env, "/", grace, bytes.NewReader(c.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.Credential, Setsid: true} // also without our terminal, into which it could type
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stdout, stderr tail
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := Result{stdout.kept, stderr.kept, cmd.ProcessState.ExitCode()}
	if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
		err = nil
	}
	return r, err
}

// changesOutput are the beginnings of variables by which users change what
// Slurm's commands print, or what they are asked about.
var changesOutput = []string{"SQUEUE_", "SINFO_", "SACCT_", "SCONTROL_", "SCANCEL_", "SLURM_TIME_FORMAT=", "SLURM_CLUSTERS=", "SLURM_DEBUG", "TZ=", "LC_ALL=", "LANG="}

// environment returns the environment in which Slurm's answers are asked for.
func (d *Driver) environment() []string {
	var env []string
next:
	for _, kv := range d.cfg.Env {
		for _, prefix := range changesOutput {
			if strings.HasPrefix(kv, prefix) {
				continue next
			}
		}
		env = append(env, kv)
	}
	return append(env, "SLURM_TIME_FORMAT=%s", "TZ=UTC", "LC_ALL=C")
}

// run runs one of Slurm's commands and returns what it printed, or an error of
// the kind that its message tells.
func (d *Driver) run(ctx context.Context, argv ...string) ([]byte, error) {
	return d.runWith(ctx, nil, argv...)
}

// runWith is run with some variables more.
func (d *Driver) runWith(ctx context.Context, variables []string, argv ...string) ([]byte, error) {
	r, err := d.cfg.Run(ctx, Command{Argv: argv, Env: append(d.environment(), variables...)})
	if err != nil {
		return nil, segue.Errorf(segue.Unavailable, "%s: %w: %s", argv[0], err, spelling.Excerpt(r.Stderr))
	}
	if r.Code < 0 {
		return nil, segue.Errorf(segue.Unavailable, "%s was killed: %s", argv[0], spelling.Excerpt(r.Stderr))
	}
	if r.Code != 0 {
		return nil, segue.Errorf(spelling.KindOf(string(r.Stderr)), "%s: exit code %d: %s", argv[0], r.Code, spelling.Excerpt(r.Stderr))
	}
	// Some commands complain and exit with 0 all the same.
	if kind := spelling.KindOf(string(r.Stderr)); kind == segue.Unavailable {
		return nil, segue.Errorf(kind, "%s: %s", argv[0], spelling.Excerpt(r.Stderr))
	}
	return r.Stdout, nil
}
