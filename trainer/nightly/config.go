package nightly

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// Config says what is trained, where and when. Cluster, Dir, Models, Holder and
// Now are required.
type Config struct {
	// Cluster is the name of the history in the store, Nodes its number of nodes; 0
	// takes the most that a snapshot of the last 30 days has seen in service.
	Cluster string
	Nodes   int
	// Schedule is when a training begins: five fields as in crontab(5), or a word such
	// as @daily; default "30 2 * * *". Zone is where that clock stands; default UTC.
	Schedule string
	Zone     *time.Location
	// Jitter is the most by which a training begins later than that, so that clusters
	// which share a machine or a database do not all begin at once: the same for the
	// same instant and cluster; default 10 minutes, negative for none.
	Jitter time.Duration

	// Back is how much of the history is used; default 180 days. Judge is its end, on
	// which the model competes and of which its training sees nothing; default 21
	// days, since less than four blocks of four days is too little to promote a model
	// by. A history that is shorter than three times Judge is too short.
	Back, Judge time.Duration
	// Trainer is the command that trains; default "segue-trainer". With a prefix such
	// as "srun", "--partition=gpu", it runs as a job on the cluster itself.
	Trainer []string
	// Args are given to training and contest alike (--pairs, --backfill), TrainArgs to
	// training only (--steps, --policies).
	Args, TrainArgs []string

	Dir    string // for the folders of runs
	Models string // the folder of models
	// Keep is how many runs keep their folder; default 30.
	Keep int
	// TimeLimit ends a run that takes longer; default 8 hours. A run does not begin,
	// and is ended, while Dir has less than MinFree bytes free; default 2 GiB.
	TimeLimit time.Duration
	MinFree   int64

	Holder string // unique to the process
	Now    func() segue.Time
	// Sleep waits for d or until ctx ends; by default the system's.
	Sleep func(ctx context.Context, d time.Duration) error
	// Execute runs a command to its end, its output into log; default a process. Free
	// returns how many bytes a folder has free; default the system's answer.
	Execute func(ctx context.Context, argv []string, log io.Writer) error
	Free    func(dir string) (int64, error)
	// Collect, when not nil, brings the history up to date first.
	Collect func(ctx context.Context) error
	// Alert, when not nil, is told of every training that failed, and of one that was
	// interrupted and is not repeated.
	Alert func(ctx context.Context, t store.Training) error
	// Patience is how long the store may take to learn what came of a training, and
	// then Alert; default 10 seconds each.
	Patience time.Duration
	// Ended, when not nil, is called after every training, whatever came of it.
	Ended func(t store.Training)
	Log   *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Schedule == "" {
		c.Schedule = "30 2 * * *"
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Jitter == 0 {
		c.Jitter = 10 * time.Minute
	}
	if c.Back == 0 {
		c.Back = 180 * 24 * time.Hour
	}
	if c.Judge == 0 {
		c.Judge = 21 * 24 * time.Hour
	}
	if len(c.Trainer) == 0 {
		c.Trainer = []string{"segue-trainer"}
	}
	if c.Keep == 0 {
		c.Keep = 30
	}
	if c.TimeLimit == 0 {
		c.TimeLimit = 8 * time.Hour
	}
	if c.MinFree == 0 {
		c.MinFree = 2 << 30
	}
	if c.Patience == 0 {
		c.Patience = 10 * time.Second
	}
	if c.Sleep == nil {
		c.Sleep = schedulers.Sleep
	}
	if c.Execute == nil {
		c.Execute = execute
	}
	if c.Free == nil {
		c.Free = free
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	bad := func(format string, args ...any) error {
		return segue.Errorf(segue.Invalid, "training: %s", fmt.Sprintf(format, args...))
	}
	switch {
	case c.Cluster == "":
		return bad("no cluster: name the history in the store")
	case c.Dir == "" || c.Models == "":
		return bad("no folder for runs, or none for models")
	case c.Holder == "" || c.Now == nil:
		return bad("Holder and Now are required")
	case c.Nodes < 0:
		return bad("%d nodes, want at least 1, or 0 for what was seen", c.Nodes)
	case c.Judge <= 0 || c.Back < 3*c.Judge:
		return bad("judging on %s of %s of history: want more than 0, and no more than a third", segue.FormatLimit(c.Judge), segue.FormatLimit(c.Back))
	case c.TimeLimit <= 0 || c.Keep < 1 || c.MinFree < 0:
		return bad("a time limit of %s, %d runs kept, %d bytes free: want more than 0", c.TimeLimit, c.Keep, c.MinFree)
	}
	return nil
}

// schedule reads when trainings begin.
func (c Config) schedule() (cron.Schedule, error) {
	s, err := cron.ParseStandard(c.Schedule)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "training: schedule %q: want five fields as in crontab, or a word such as @daily: %w", c.Schedule, err)
	}
	return inZone(s, c.Zone), nil
}
