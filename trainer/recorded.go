package trainer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces/infer"
)

// RecordedConfig says about which recorded jobs to ask the forecasters. History
// and Cluster are required.
type RecordedConfig struct {
	History []segue.Job
	// Cluster is what the forecasters believe of the nodes in service, the limits
	// on users and the order of the queue until the history says more.
	Cluster simulator.Config // of one pool
	// From and Until bound the submissions asked about; default a week after the
	// first one, and all.
	From, Until segue.Time
	// Given keeps the forecasters to Cluster. Otherwise every midnight (UTC) they
	// learn what the history up to then gives away (traces/infer).
	Given bool
	Monte predictor.MonteCarloConfig
	// Progress, when not nil, is told the number of submissions asked about and to
	// ask about. It is called from several goroutines.
	Progress func(done, total int)
}

// Asked is one submission of a recorded history: what was known then, what the
// forecasters said, and what came of it.
type Asked struct {
	Job     int // index in the history
	At      segue.Time
	Request segue.Request
	// Left is when the job left the queue, or Never; it Started then, or was
	// cancelled.
	Left    segue.Time
	Started bool
	// Counts is true for jobs that started and took time, as MeasureFidelity
	// counts them, and HeldBack for those that their own users' jobs, or the
	// users, held back (infer.Result.SelfBlocked).
	Counts, HeldBack bool
	Features         []float32 // RecordedFeatures
	Told             predictor.Told
}

// Wait returns how long the job had waited by the instant at, and whether that
// was all.
func (a *Asked) Wait(at segue.Time) (wait time.Duration, over bool) {
	if a.Left < at {
		return countedWait(a.Left.Sub(a.At)), a.Started
	}
	return countedWait(at.Sub(a.At)), false
}

// countedWait returns the wait as it counts, for jobs and for forecasts: up to
// waits.AtOnce is none.
func countedWait(wait time.Duration) time.Duration { return waits.Counted(wait, waits.AtOnce) }

// AskRecorded asks the forecasters of predictor.Sources and the waits of one's own
// at every submission in the period, knowing what the log had shown by then.
// Submissions are in order of time. Jobs of which nothing is known but their
// submission are left out.
func AskRecorded(ctx context.Context, cfg RecordedConfig) ([]Asked, error) {
	asked, err := cfg.submissions()
	if err != nil {
		return nil, fmt.Errorf("ask about recorded jobs: %w", err)
	}
	days := byDay(asked)
	beliefs, err := cfg.beliefs(ctx, days)
	if err != nil {
		return nil, fmt.Errorf("ask about recorded jobs: %w", err)
	}
	var done atomic.Int64
	err = inParallel(len(days), func() (func(int) error, error) {
		w, err := cfg.newWitness()
		if err != nil {
			return nil, err
		}
		return func(k int) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.ask(days[k], beliefs[k]); err != nil {
				return err
			}
			if n := done.Add(int64(len(days[k]))); cfg.Progress != nil {
				cfg.Progress(int(n), len(asked))
			}
			return nil
		}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("ask about recorded jobs: %w", err)
	}
	return asked, nil
}

// submissions returns the submissions to ask about, with what came of them.
func (c RecordedConfig) submissions() ([]Asked, error) {
	if len(c.Cluster.Pools) != 1 {
		return nil, segue.Errorf(segue.Invalid, "the cluster has %d pools, want 1", len(c.Cluster.Pools))
	}
	if c.From == 0 {
		c.From = firstSubmit(c.History).Add(warmUp)
	}
	if c.Until == 0 {
		c.Until = segue.Never
	}
	found := infer.Infer(c.History, infer.Config{})
	var asked []Asked
	for i := range c.History {
		j := &c.History[i]
		if !j.Submit.Known() || j.Submit < c.From || j.Submit >= c.Until {
			continue
		}
		a := Asked{Job: i, At: j.Submit, Request: requestOf(j), Left: segue.Never, HeldBack: found.SelfBlocked[i]}
		switch {
		case j.Start.Known():
			a.Left, a.Started = j.Start, true
			a.Counts = j.Ran() && j.End > j.Start
		case j.End.Known():
			a.Left = j.End
		}
		asked = append(asked, a)
	}
	if len(asked) == 0 {
		return nil, segue.Errorf(segue.Invalid, "no job was submitted from %s up to %s", c.From, c.Until)
	}
	slices.SortStableFunc(asked, func(a, b Asked) int { return cmp.Compare(a.At, b.At) })
	return asked, nil
}

// requestOf returns what the job asked for; without a limit it has none.
func requestOf(j *segue.Job) segue.Request {
	limit := j.Limit
	if limit <= 0 {
		limit = segue.Unlimited
	}
	return segue.Request{
		Shape: segue.Shape{Nodes: int(max(j.Nodes, 1)), Limit: limit},
		User:  j.User, Account: j.Account, Partition: j.Partition, QOS: j.QOS,
	}
}

// byDay cuts the submissions at every midnight (UTC).
func byDay(asked []Asked) [][]Asked {
	var days [][]Asked
	for len(asked) > 0 {
		midnight := midnightBefore(asked[0].At).Add(24 * time.Hour)
		n := 0
		for n < len(asked) && asked[n].At < midnight {
			n++
		}
		days, asked = append(days, asked[:n:n]), asked[n:]
	}
	return days
}

func midnightBefore(t segue.Time) segue.Time {
	return segue.TimeOf(t.Std().Truncate(24 * time.Hour))
}

// RecordedFeatures returns the names of the features of an Asked, in order: those
// of a predictor.Describer, of the user's own doings, and of the place that the
// request would have in the queue.
func RecordedFeatures() []string {
	return append(append(predictor.FeatureNames(), predictor.OwnNames()...), standingNames...)
}

// recordedWitness asks the forecasters, day by day.
type recordedWitness struct {
	cfg        RecordedConfig
	walk       *predictor.Walk
	now        predictor.Present
	describer  predictor.Describer
	priorities priorities
}

func (c RecordedConfig) newWitness() (*recordedWitness, error) {
	walk, err := predictor.NewWalk(c.History, c.Cluster.Pools[0].Nodes)
	if err != nil {
		return nil, err
	}
	return &recordedWitness{cfg: c, walk: walk, priorities: newPriorities(c.History)}, nil
}

// ask fills in a day's submissions. Equal requests at one instant get one
// answer.
func (w *recordedWitness) ask(day []Asked, b belief) error {
	list, err := b.forecasters(w.cfg.Monte)
	if err != nil {
		return err
	}
	for i := range day {
		a := &day[i]
		if k := i - 1; k >= 0 && day[k].At == a.At && day[k].Request == a.Request {
			a.Told, a.Features = day[k].Told, day[k].Features
			continue
		}
		w.now.History = w.walk.To(a.At, &w.now.Snapshot)
		w.priorities.until(a.At)
		req := b.show(&w.now.Snapshot, a.Request, &w.priorities)
		a.Told = predictor.Told{}
		for _, f := range list {
			said, err := f.Forecast(&w.now, req)
			if err != nil {
				return fmt.Errorf("%s at %s: %w", f.Name(), a.At, err)
			}
			a.Told[f.Name()] = said
		}
		a.Features = w.describer.DescribeOwn(&w.now, req, w.describer.Describe(&w.now, req, a.Told, nil))
		a.Features = b.standing(w.now.Snapshot.Pending, &w.priorities, req, a.Features)
		for k, v := range a.Features {
			if math.IsInf(float64(v), 0) {
				return segue.Errorf(segue.Invalid, "feature %s of job %s is %v", RecordedFeatures()[k], w.cfg.History[a.Job].ID, v)
			}
		}
	}
	return nil
}
