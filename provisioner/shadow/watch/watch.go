package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/provisioner/shadow"
	"github.com/segue-project/segue/schedulers"
)

// Looker shows a scheduler's queue. That is all that a Watch may do with it.
type Looker interface {
	State(ctx context.Context) (schedulers.State, error)
}

// Config says what to watch. Its zero value will do.
type Config struct {
	MinLimit time.Duration    // of the jobs that advice is about; default 12 hours
	Every    time.Duration    // between two looks; default 30 minutes
	Prefer   segue.Preference // default balanced
	Log      *slog.Logger     // default none
}

func (c Config) withDefaults() Config {
	if c.MinLimit == 0 {
		c.MinLimit = 12 * time.Hour
	}
	if c.Every == 0 {
		c.Every = 30 * time.Minute
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	if c.MinLimit < 0 || c.Every < time.Minute {
		return segue.Errorf(segue.Invalid, "watch jobs of at least %s every %s: want 0 or more, and a minute or more", c.MinLimit, c.Every)
	}
	return nil
}

// Watch writes advice down. It is for one goroutine.
type Watch struct {
	queue   Looker
	decider provisioner.Decider
	out     io.Writer
	cfg     Config
}

// New returns a Watch that asks the decider and writes to out, each line in one
// piece.
func New(queue Looker, decider provisioner.Decider, out io.Writer, cfg Config) (*Watch, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Watch{queue, decider, out, cfg}, nil
}

// Run looks at once and then again and again, until the context is done. A look that
// fails is told to the log, and the next one comes as if it had not.
func (w *Watch) Run(ctx context.Context) error {
	ticker := time.NewTicker(w.cfg.Every)
	defer ticker.Stop()
	for {
		switch advised, err := w.Look(ctx); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			w.cfg.Log.Error("look at the queue failed", "error", err)
		default:
			w.cfg.Log.Info("advice written", "jobs", advised)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Look asks about every job that runs now and writes the advice down. It returns
// about how many. A job that cannot be asked about is told to the log and keeps
// nobody from the others.
func (w *Watch) Look(ctx context.Context) (int, error) {
	state, err := w.queue.State(ctx)
	if err != nil {
		return 0, fmt.Errorf("look at the queue: %w", err)
	}
	advised := 0
	for i := range state.Jobs {
		job := &state.Jobs[i]
		if job.State != segue.Running || !job.Start.Known() || job.Limit < w.cfg.MinLimit || job.Limit == segue.Unlimited {
			continue
		}
		d, err := w.decider.Decide(ctx, without(state, job), question(state.At, job, w.cfg.Prefer))
		if err != nil {
			if ctx.Err() != nil {
				return advised, err
			}
			w.cfg.Log.Warn("no advice about a job", "job", job.ID.String(), "error", err)
			continue
		}
		line, err := json.Marshal(shadow.NewAdvice(job.QueuedJob, job.Name, d))
		if err != nil {
			return advised, fmt.Errorf("advice about job %s: %w", job.ID, err)
		}
		if _, err := w.out.Write(append(line, '\n')); err != nil {
			return advised, fmt.Errorf("write advice: %w", err)
		}
		advised++
	}
	return advised, nil
}

// question asks about the next job after one that runs.
func question(now segue.Time, job *schedulers.Job, prefer segue.Preference) provisioner.Question {
	left := max(job.Start.Add(job.Limit).Sub(now), 0)
	return provisioner.Question{
		Request: job.Request, Remaining: left, Prefer: prefer,
		Step: max(left, time.Hour), // what later moments would cost is not asked
	}
}

// without returns the state without the jobs by which the user has gone on already,
// as shadow.Judge leaves them out.
func without(state schedulers.State, job *schedulers.Job) schedulers.State {
	line := func(j *schedulers.Job) *segue.Job {
		return &segue.Job{User: j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS, Name: j.Name, Nodes: int32(j.QueuedJob.Nodes)}
	}
	state.Jobs = slices.DeleteFunc(slices.Clone(state.Jobs), func(j schedulers.Job) bool {
		earlier := j.Start.Known() && j.Start <= job.Start
		return j.ID != job.ID && !earlier && shadow.SameLine(line(&j), line(job))
	})
	return state
}
