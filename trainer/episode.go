package trainer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Episode is one start of a backtest: what every submit time would have led to,
// and what every forecaster would have said then.
type Episode struct {
	Curve outcomes.Curve
	// Forecasts holds, by forecaster, one forecast per lead of the curve.
	Forecasts map[string][]segue.Forecast
}

// Starts returns the instants every step from the first to before the last.
func Starts(from, until segue.Time, every time.Duration) []segue.Time {
	var starts []segue.Time
	for t := from; t < until; t = t.Add(every) {
		starts = append(starts, t)
	}
	return starts
}

// Collect replays the history and returns one episode per start, in order.
// starts must ascend and lie within the history. progress, when not nil, is told
// how many are done; it is called from several goroutines.
func Collect(ctx context.Context, s Setup, starts []segue.Time, progress func(done int)) ([]Episode, error) {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("collect episodes: %w", err)
	}
	if err := s.admit(starts); err != nil {
		return nil, fmt.Errorf("collect episodes: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tasks := make(chan task)
	episodes := make([]Episode, len(starts))
	var done atomic.Int64
	var workers sync.WaitGroup
	for range s.Workers {
		workers.Go(func() {
			if err := work(ctx, s, tasks, episodes, func() {
				if n := done.Add(1); progress != nil {
					progress(int(n))
				}
			}); err != nil {
				cancel(err)
			}
		})
	}
	err := replay(ctx, s, starts, tasks)
	close(tasks)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("collect episodes: %w", err)
	}
	return episodes, nil
}

// admit refuses starts at which the replay cannot be stopped.
func (s Setup) admit(starts []segue.Time) error {
	span := (Replay{Jobs: s.Jobs}).span()
	for i, at := range starts {
		switch {
		case at < span.From || at > span.To:
			return segue.Errorf(segue.Invalid, "a start at %s, outside the history, whose jobs are submitted from %s to %s", at, span.From, span.To)
		case i > 0 && at <= starts[i-1]:
			return segue.Errorf(segue.Invalid, "a start at %s after one at %s", at, starts[i-1])
		}
	}
	return nil
}

// task is the cluster at one start, and what had been seen until then.
type task struct {
	index   int
	cluster *simulator.Sim
	history *predictor.History
}

// replay runs the history once and hands a fork to the workers at each start.
func replay(ctx context.Context, s Setup, starts []segue.Time, tasks chan<- task) error {
	cluster, err := simulator.New(s.Cluster, s.Jobs)
	if err != nil {
		return err
	}
	history := &predictor.History{}
	cluster.Observe(&witness{cluster, history})
	for i, at := range starts {
		cluster.AdvanceTo(at)
		select {
		case tasks <- task{i, cluster.Fork(nil), history.Fork()}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// work turns tasks into episodes.
func work(ctx context.Context, s Setup, tasks <-chan task, episodes []Episode, finished func()) error {
	forecasters, err := s.forecasters()
	if err != nil {
		return err
	}
	link, request := s.link(), s.request()
	var prober outcomes.Prober
	for t := range tasks {
		e := Episode{Forecasts: make(map[string][]segue.Forecast, len(forecasters))}
		leads := s.Grid.Leads(link.Limit)
		for _, f := range forecasters {
			e.Forecasts[f.Name()] = make([]segue.Forecast, len(leads))
		}
		prober.Began = func(world *simulator.Sim) { world.Observe(&witness{world, t.history}) }
		lead := len(leads)
		prober.At = func(_ time.Duration, world *simulator.Sim) error {
			lead--
			now := predictor.Present{Snapshot: s.believe(world.Snapshot(0)), History: t.history, Owner: owner}
			for _, f := range forecasters {
				if err := ctx.Err(); err != nil {
					return err
				}
				forecast, err := f.Forecast(&now, request)
				if err != nil {
					return fmt.Errorf("%s: %w", f.Name(), err)
				}
				e.Forecasts[f.Name()][lead] = forecast
			}
			return nil
		}
		if e.Curve, err = prober.Curve(t.cluster, link, s.Grid); err != nil {
			return fmt.Errorf("start %s: %w", t.cluster.Now(), err)
		}
		episodes[t.index] = e
		finished()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
