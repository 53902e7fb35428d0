package rest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// Config says how to reach slurmrestd.
type Config struct {
	// URL is where it listens: "http://host:port", "https://host:port" or
	// "unix:///path/of/socket".
	URL string
	// User and Token say who asks. The token is asked for anew with every request,
	// since it expires. Neither is needed on a Unix socket, which tells who connects.
	User  string
	Token func() (string, error)
	// Version is that of the API, "v0.0.40"; by default the newest that both sides
	// know.
	Version string
	// Cluster is the cluster's name; by default what slurmrestd says of it.
	Cluster string
	// Remembers is how long Slurm shows a job after its end (MinJobAge), which
	// slurmrestd does not say; by default not known. It matters without accounting.
	Remembers time.Duration
	// Timeout bounds one request; default a minute.
	Timeout time.Duration
	// MaxAnswer is the most bytes that an answer may have; default 512 MiB.
	MaxAnswer int64
	// TLS is for https; by default the system's authorities are trusted.
	TLS *tls.Config
	// Commands are Slurm's commands, where there are any. They submit, since sbatch
	// takes the user's arguments as they are, and requeue, which slurmrestd cannot.
	Commands schedulers.Driver
	// Now is the time; default the system's.
	Now func() segue.Time
}

func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.MaxAnswer == 0 {
		c.MaxAnswer = 512 << 20
	}
	if c.Now == nil {
		c.Now = func() segue.Time { return segue.TimeOf(time.Now()) }
	}
	return c
}

func (c Config) validate() error {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "unix" && u.Scheme != "http" && u.Scheme != "https":
		return segue.Errorf(segue.Invalid, "slurmrestd at %q: want http://host:port, https://host:port or unix:///path", c.URL)
	case u.Scheme == "unix" && (u.Host != "" || u.Path == ""):
		return segue.Errorf(segue.Invalid, "slurmrestd at %q: want unix:// and the absolute path of a socket", c.URL)
	case u.Scheme != "unix" && u.Host == "":
		return segue.Errorf(segue.Invalid, "slurmrestd at %q: want the name of a host", c.URL)
	case c.Version != "" && generation(c.Version) == 0:
		return segue.Errorf(segue.Invalid, "version %q of slurmrestd's API: want one such as v0.0.40", c.Version)
	case c.Timeout < 0 || c.MaxAnswer < 0 || c.Remembers < 0:
		return segue.Errorf(segue.Invalid, "a timeout of %s, answers of %d bytes, jobs remembered for %s: want 0 (default) or more", c.Timeout, c.MaxAnswer, c.Remembers)
	}
	return nil
}

// Driver is a Slurm cluster behind slurmrestd. It implements schedulers.Driver.
type Driver struct {
	cfg    Config
	base   string // of all addresses
	client *http.Client

	finding sync.Mutex // held while it is found out what to speak
	mu      sync.Mutex // of what follows
	api     *api       // nil until it is known
	cluster string     // empty until it is known
}

// New returns the driver of a cluster, which it does not ask anything yet. An
// error is Invalid.
func New(cfg Config) (*Driver, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, cluster: cfg.Cluster}
	d.base, d.client = connection(cfg)
	return d, nil
}

// Name returns "slurm".
func (d *Driver) Name() string { return "slurm" }

// Capabilities asks slurmrestd what it can do, and no more when that is known
// whole. A user's own jobs can be held, released, signalled and given another nice
// value. There is accounting where slurmrestd describes an API of it, which it
// loads only then. The name of the cluster is empty as long as nothing tells it.
func (d *Driver) Capabilities(ctx context.Context) (schedulers.Capabilities, error) {
	api, err := d.speaks(ctx)
	if err != nil {
		return schedulers.Capabilities{}, err
	}
	caps := schedulers.Capabilities{
		Version: "slurm " + api.release, Cluster: d.name(), Accounting: api.database, TokenSearch: api.database,
		Hold: true, Requeue: d.cfg.Commands != nil, Nice: true, Signals: true,
		Lingers: lingers,
	}
	if caps.Cluster != "" {
		return caps, nil
	}
	if caps.Cluster, err = d.findName(ctx, api); err != nil {
		return schedulers.Capabilities{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cluster = caps.Cluster
	return caps, nil
}

// lingers is for how long slurmrestd may still pass a submission on, whoever made it:
// more than slurmctld may take to answer (MessageTimeout, at most 100 s).
const lingers = 2 * time.Minute

func (d *Driver) name() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cluster
}

// findName looks for the name of the cluster: in the answer to a ping (from 23.11
// on), with Slurm's commands, in the accounting that knows only one, and in the
// jobs.
func (d *Driver) findName(ctx context.Context, api *api) (string, error) {
	switch {
	case api.cluster != "":
		return api.cluster, nil
	case d.cfg.Commands != nil:
		caps, err := d.cfg.Commands.Capabilities(ctx)
		return caps.Cluster, err
	case api.database:
		got, err := d.ask(ctx, api.slurmdb("clusters/"))
		if err == nil && len(got.Clusters) == 1 {
			return string(got.Clusters[0].Name), nil
		}
	}
	got, err := d.ask(ctx, api.slurm("jobs/"))
	if err != nil {
		return "", err
	}
	for _, raw := range got.Jobs {
		var job struct {
			Cluster text `json:"cluster"`
		}
		if err := json.Unmarshal(raw, &job); err == nil && job.Cluster != "" {
			return string(job.Cluster), nil
		}
	}
	return "", nil
}

// State asks for all jobs and all nodes, one question each. Jobs that have ended
// and are still remembered are in it too, with their state.
func (d *Driver) State(ctx context.Context) (schedulers.State, error) {
	at := d.cfg.Now()
	api, err := d.speaks(ctx)
	if err != nil {
		return schedulers.State{At: at}, err
	}
	jobs, err := d.ask(ctx, api.slurm("jobs/"))
	if err != nil {
		return schedulers.State{At: at}, err
	}
	nodes, err := d.ask(ctx, api.slurm("nodes/"))
	if err != nil {
		return schedulers.State{At: at}, err
	}
	return decodeState(jobs, nodes, at)
}

// Cancel cancels a job.
func (d *Driver) Cancel(ctx context.Context, job segue.JobID) error {
	return d.tell(ctx, http.MethodDelete, job, "", nil)
}

// Hold keeps a pending job from starting.
func (d *Driver) Hold(ctx context.Context, job segue.JobID) error {
	return d.tell(ctx, http.MethodPost, job, "", map[string]any{"hold": true})
}

// Release lets a held job start.
func (d *Driver) Release(ctx context.Context, job segue.JobID) error {
	return d.tell(ctx, http.MethodPost, job, "", map[string]any{"hold": false})
}

// Requeue leaves it to Slurm's commands; without them it is refused.
func (d *Driver) Requeue(ctx context.Context, jobs []segue.JobID) error {
	if d.cfg.Commands == nil {
		return segue.Errorf(segue.Invalid, "slurmrestd cannot requeue jobs: scontrol requeue can")
	}
	return d.cfg.Commands.Requeue(ctx, jobs)
}

// SetNice sets how far a pending job stands behind others of its priority. Slurm
// 22.05 releases a held job by it, as it does for scontrol.
func (d *Driver) SetNice(ctx context.Context, job segue.JobID, nice int) error {
	return d.tell(ctx, http.MethodPost, job, "", map[string]any{"nice": nice})
}

// Signal sends a signal to the batch script and all steps.
func (d *Driver) Signal(ctx context.Context, job segue.JobID, signal syscall.Signal) error {
	return d.tell(ctx, http.MethodDelete, job, "?signal="+strconv.Itoa(int(signal)), nil)
}

// tell changes something of a job.
func (d *Driver) tell(ctx context.Context, method string, job segue.JobID, query string, change any) error {
	api, err := d.speaks(ctx)
	if err != nil {
		return err
	}
	_, err = d.exchange(ctx, method, api.slurm("job/"+job.String()+query), change)
	return err
}
