package cli

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
)

// History flags name a recorded job history.
type History struct {
	// Path is the file, Format its format or "auto", and Zone the time zone of
	// times without one.
	Path, Format, Zone string
}

// Add declares the flags.
func (f *History) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Path, "trace", "", "job history: Lonestar6 log, SWF, sacct -P or Parquet, gzip or not (required)")
	f.AddReading(flags)
}

// AddReading declares the flags but --trace, for commands whose argument is the
// file.
func (f *History) AddReading(flags *pflag.FlagSet) {
	flags.StringVar(&f.Format, "trace-format", "auto", "format of the history, when it is not to be recognised")
	flags.StringVar(&f.Zone, "timezone", "", "time zone of times without one (default America/Chicago for the Lonestar6 log, UTC otherwise)")
}

// Open opens the history, or with the path "-" the one on standard input.
func (f *History) Open(stdin io.Reader) (*traces.Reader, error) {
	opt, err := f.Options()
	if err != nil {
		return nil, err
	}
	return OpenHistory(f.Path, stdin, opt)
}

// OpenHistory opens the history at path, or with the path "-" the one on standard
// input.
func OpenHistory(path string, stdin io.Reader, opt traces.Options) (*traces.Reader, error) {
	if path == "-" {
		opt.Name = "standard input"
		return traces.NewReader(stdin, opt)
	}
	return traces.Open(path, opt)
}

// Options returns how to read the history.
func (f *History) Options() (traces.Options, error) {
	if f.Path == "" {
		return traces.Options{}, segue.Errorf(segue.Invalid, "--trace is missing: name the file of a job history")
	}
	format, err := traces.ParseFormat(f.Format)
	if err != nil {
		return traces.Options{}, err
	}
	opt := traces.Options{Format: format}
	if f.Zone != "" {
		if opt.Zone, err = time.LoadLocation(f.Zone); err != nil {
			return traces.Options{}, segue.Errorf(segue.Invalid, "--timezone %q: want a name such as Europe/Zurich: %w", f.Zone, err)
		}
	}
	return opt, nil
}

// Load reads the history.
func (f *History) Load() (*traces.History, error) {
	opt, err := f.Options()
	if err != nil {
		return nil, err
	}
	return traces.Load(f.Path, opt)
}

// Scheduler flags describe the simulated cluster and its scheduler.
type Scheduler struct {
	Nodes      int
	backfill   string
	perUser    int
	interval   time.Duration
	main       time.Duration
	window     time.Duration
	resolution time.Duration
	outward    bool
	cleanUp    time.Duration
	tests      int
}

// Add declares the flags; the one for the number of nodes is called nodes.
func (f *Scheduler) Add(flags *pflag.FlagSet, nodes, nodesUsage string) {
	p := simulator.Published()
	flags.IntVar(&f.Nodes, nodes, 0, nodesUsage)
	flags.StringVar(&f.backfill, "backfill", "slurm", "none, easy, conservative or slurm")
	flags.IntVar(&f.perUser, "max-jobs-per-user", 0, "most running jobs of one user; 0 is no limit")
	flags.DurationVar(&f.main, "main-interval", p.MainInterval, "slurm: time between main passes; negative: at every event")
	flags.DurationVar(&f.interval, "bf-interval", p.BackfillInterval, "slurm: time between backfill passes")
	flags.DurationVar(&f.window, "bf-window", p.Window, "slurm: how far ahead backfill reserves")
	flags.DurationVar(&f.resolution, "bf-resolution", p.Resolution, "slurm: grid of backfill's reservations")
	flags.BoolVar(&f.outward, "bf-round-outward", false, "slurm: round reservations at both ends, and not the ends of running jobs, as a real Slurm does")
	flags.DurationVar(&f.cleanUp, "clean-up", 0, "none and slurm: how long the nodes of a job that has ended cannot be used")
	flags.IntVar(&f.tests, "bf-max-job-test", p.MaxJobTest, "slurm: jobs tested in a backfill pass")
}

// Config returns the cluster. Slurm's backfill comes with the priority of the
// published provisioner's simulator (age, and a little size), the others with
// first come, first served.
func (f *Scheduler) Config() (simulator.Config, error) {
	if f.Nodes < 1 {
		return simulator.Config{}, segue.Errorf(segue.Invalid,
			"the cluster has %d nodes, want at least 1: name their number ('segue trace stats' proposes one)", f.Nodes)
	}
	backfill, err := simulator.ParseBackfill(f.backfill)
	if err != nil {
		return simulator.Config{}, segue.Errorf(segue.Invalid, "--%w", err)
	}
	cfg := simulator.Config{
		Pools: []simulator.Pool{{Name: "batch", Nodes: f.Nodes}}, Backfill: backfill,
		Limits: simulator.Limits{MaxRunningJobs: f.perUser}, CleanUp: f.cleanUp,
	}
	if backfill == simulator.SlurmBackfill {
		cfg.Order = simulator.PublishedOrder()
		cfg.Slurm = simulator.SlurmParameters{
			MainInterval: f.main, BackfillInterval: f.interval, Window: f.window, Resolution: f.resolution,
			RoundOutward: f.outward, MaxJobTest: f.tests, QueueDepth: f.tests,
		}
	}
	return cfg, nil
}

// Instant reads a point in time: RFC 3339, or a date with or without a time of
// day, in UTC.
func Instant(flag, value string) (segue.Time, error) {
	if value == "" {
		return 0, segue.Errorf(segue.Invalid, "--%s is missing: want a time such as 2023-02-14T09:00Z or 2023-02-14 (UTC)", flag)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, value); err == nil {
			return segue.TimeOf(t), nil
		}
	}
	return 0, segue.Errorf(segue.Invalid, "--%s %q: want a time such as 2023-02-14T09:00Z or 2023-02-14 (UTC)", flag, value)
}

// TimeLeft reads how long a job still runs, as squeue shows it ("1-02:03:04",
// "0:00") or as Limit does.
func TimeLeft(flag, value string) (time.Duration, error) {
	if value != "" && strings.Trim(value, "0:-") == "" {
		return 0, nil // for Limit, no limit
	}
	return Limit(flag, value)
}

// Limit reads a time limit as sbatch does, or a Go duration such as 48h.
func Limit(flag, value string) (time.Duration, error) {
	if value == "" {
		return 0, segue.Errorf(segue.Invalid, "--%s is missing: want a time such as 48:00:00 or 48h", flag)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return d, nil
	}
	d, err := segue.ParseLimit(value)
	if err != nil {
		return 0, segue.Errorf(segue.Invalid, "--%s: %w; or a duration such as 48h", flag, err)
	}
	return d, nil
}
