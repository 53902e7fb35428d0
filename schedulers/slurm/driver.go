package slurm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Config says how to reach Slurm. Its zero value is the cluster of the
// environment.
type Config struct {
	// Env is the environment of Slurm's commands; default this process's.
	// Variables that change what they print are left out of it.
	Env []string
	// Sbatch is the program that submits; default "sbatch" on PATH.
	Sbatch string
	// Spool is a folder for the scripts of submissions; default a private one below
	// the system's for temporary files.
	Spool string
	// As, when not nil, says as whom to submit for a user, nil for this process's own:
	// for root, who submits for others.
	As func(user string) (*syscall.Credential, error)
	// Run runs a command; default runCommand. Tests replace it.
	Run Runner
	// Now is the time; default the system's.
	Now func() segue.Time
	// NodesFresh is how long the answer of sinfo serves, while squeue is asked every
	// time: each costs slurmctld two RPCs, and nodes seldom change. Default one
	// minute; negative asks every time.
	NodesFresh time.Duration
}

// Driver is a Slurm cluster. It implements schedulers.Driver.
type Driver struct {
	cfg Config

	mu     sync.Mutex
	caps   *schedulers.Capabilities
	config map[string]string // of slurmctld, with caps
	nodes  schedulers.State  // what sinfo showed, and when
}

// New returns the driver of a cluster, which it does not ask anything yet.
func New(cfg Config) *Driver {
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Sbatch == "" {
		cfg.Sbatch = "sbatch"
	}
	if cfg.Run == nil {
		cfg.Run = runCommand
	}
	if cfg.Now == nil {
		cfg.Now = func() segue.Time { return segue.TimeOf(time.Now()) }
	}
	if cfg.NodesFresh == 0 {
		cfg.NodesFresh = time.Minute
	}
	return &Driver{cfg: cfg}
}

// Name returns "slurm".
func (d *Driver) Name() string { return "slurm" }

// Capabilities asks Slurm once what it can do.
func (d *Driver) Capabilities(ctx context.Context) (schedulers.Capabilities, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.caps != nil {
		return *d.caps, nil
	}
	out, err := d.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return schedulers.Capabilities{}, err
	}
	config := parseConfig(out)
	if config["SLURM_VERSION"] == "" {
		return schedulers.Capabilities{}, segue.Errorf(segue.Unavailable, "scontrol show config: no SLURM_VERSION in %s", spelling.Excerpt(out))
	}
	caps := schedulers.Capabilities{
		Version: "slurm " + config["SLURM_VERSION"], Cluster: config["ClusterName"], Hold: true, Requeue: true, Nice: true, Signals: true,
		Lingers: lingers,
	}
	if !strings.HasSuffix(config["AccountingStorageType"], "/none") && config["AccountingStorageType"] != "(null)" {
		fields, err := d.run(ctx, "sacct", "--helpformat")
		if err != nil {
			return schedulers.Capabilities{}, err
		}
		caps.Accounting = true
		caps.TokenSearch = slices.Contains(strings.Fields(strings.ToLower(string(fields))), "submitline")
	}
	d.caps, d.config = &caps, config
	return caps, nil
}

// lingers is beyond how long sbatch tries to reach a slurmctld that is down or hangs:
// 15 times (MAX_RETRIES of its source), which takes two minutes. One that takes longer
// is killed.
const lingers = 3 * time.Minute

// parseConfig reads "key = value" lines, as scontrol show config prints them.
func parseConfig(out []byte) map[string]string {
	config := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(line, "="); ok {
			config[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return config
}

// As returns a driver whose commands run as a user, where Config.As says how. It
// implements schedulers.Impersonator. Whoever runs a command sees its environment: of
// the server's they get what leads to Slurm.
func (d *Driver) As(user string) (schedulers.Driver, error) {
	credential, err := d.credential(user)
	if err != nil || credential == nil {
		return d, err
	}
	own := &Driver{cfg: d.cfg}
	own.cfg.Env = slices.DeleteFunc(slices.Clone(d.cfg.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		leads := name == "PATH" || name == "LD_LIBRARY_PATH" || strings.HasPrefix(name, "SLURM_")
		return !leads || name == "SLURM_JWT"
	})
	own.cfg.Run = func(ctx context.Context, c Command) (Result, error) {
		c.Credential, c.Dir = credential, "/"
		return d.cfg.Run(ctx, c)
	}
	return own, nil
}

// Cancel cancels a job.
func (d *Driver) Cancel(ctx context.Context, job segue.JobID) error {
	_, err := d.run(ctx, "scancel", job.String())
	return err
}

// Hold keeps a pending job from starting.
func (d *Driver) Hold(ctx context.Context, job segue.JobID) error {
	_, err := d.run(ctx, "scontrol", "hold", job.String())
	return err
}

// Release lets a held job start.
func (d *Driver) Release(ctx context.Context, job segue.JobID) error {
	_, err := d.run(ctx, "scontrol", "release", job.String())
	return err
}

// Requeue puts running jobs back into the queue. One that has ended meanwhile is
// left alone: without the word Incomplete it would run again.
func (d *Driver) Requeue(ctx context.Context, jobs []segue.JobID) error {
	var list []string
	for _, job := range jobs {
		list = append(list, job.String())
	}
	_, err := d.run(ctx, "scontrol", "requeue", "Incomplete", strings.Join(list, ","))
	return err
}

// SetNice sets how far a pending job stands behind others of its priority.
func (d *Driver) SetNice(ctx context.Context, job segue.JobID, nice int) error {
	_, err := d.run(ctx, "scontrol", "update", "JobId="+job.String(), fmt.Sprintf("Nice=%d", nice))
	return err
}

// Signal sends a signal to the batch script and all steps.
func (d *Driver) Signal(ctx context.Context, job segue.JobID, signal syscall.Signal) error {
	_, err := d.run(ctx, "scancel", "--full", fmt.Sprintf("--signal=%d", signal), job.String())
	return err
}
