package trainer

import (
	"context"
	"fmt"
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
	// Doubts says at every lead why the forecasts that Foretell left are not to be
	// trusted, by how earlier ones turned out (drift.Coverage): empty where they
	// are, nil where nobody looked.
	Doubts []string
	// Features holds, on request, the features at every lead of the curve: one
	// row of predictor.FeatureNames after the other.
	Features []float32
	// Timeline is the cluster's hour by hour, shared by all episodes of a
	// replay; nil without Features.
	Timeline *Timeline
	// Watched is what the published method sees; nil unless it is judged.
	Watched *Watched
}

// FeaturesAt returns the features at the lead of that index.
func (e *Episode) FeaturesAt(lead int) []float32 {
	width := len(e.Features) / len(e.Curve.Leads)
	return e.Features[lead*width : (lead+1)*width]
}

// At returns the instant of the lead of that index.
func (e *Episode) At(lead int) segue.Time { return e.Curve.End.Add(-e.Curve.Leads[lead]) }

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
	episodes := make([]Episode, len(starts))
	var done atomic.Int64
	var timeline *Timeline
	if s.Describe {
		timeline = &Timeline{Width: len(predictor.SummaryNames())}
	}
	err := spread(ctx, min(s.Workers, len(starts)), func(ctx context.Context, tasks chan<- task) error {
		return replay(ctx, s, timeline, starts, tasks)
	}, func(ctx context.Context) (func(task) error, error) {
		probe, err := newProbe(ctx, s, timeline)
		return func(t task) error {
			if err := probe(t, &episodes[t.index]); err != nil {
				return err
			}
			if n := done.Add(1); progress != nil {
				progress(int(n))
			}
			return ctx.Err()
		}, err
	})
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
// It fills the timeline, when there is one, to the end of the history.
func replay(ctx context.Context, s Setup, timeline *Timeline, starts []segue.Time, tasks chan<- task) error {
	cluster, err := simulator.New(s.Cluster, s.Jobs)
	if err != nil {
		return err
	}
	history := &predictor.History{}
	cluster.Observe(&witness{cluster, history})
	span := (Replay{Jobs: s.Jobs}).span()
	if timeline != nil {
		timeline.From = nextHour(span.From)
	}
	for i, at := range starts {
		timeline.fill(cluster, s, at)
		cluster.AdvanceTo(at)
		if err := hand(ctx, tasks, task{i, cluster.Fork(nil), history.Fork()}); err != nil {
			return err
		}
	}
	timeline.fill(cluster, s, span.To)
	return nil
}

// newProbe returns what turns a task into an episode, for one goroutine.
func newProbe(ctx context.Context, s Setup, timeline *Timeline) (func(task, *Episode) error, error) {
	forecasters, err := s.forecasters()
	if err != nil {
		return nil, err
	}
	link, request := s.link(), s.request()
	var prober outcomes.Prober
	var describer predictor.Describer
	width := len(predictor.FeatureNames())
	return func(t task, e *Episode) error {
		*e = Episode{Forecasts: make(map[string][]segue.Forecast, len(forecasters)), Timeline: timeline}
		leads := s.Grid.Leads(link.Limit)
		if s.Describe {
			e.Features = make([]float32, len(leads)*width)
		}
		for _, f := range forecasters {
			e.Forecasts[f.Name()] = make([]segue.Forecast, len(leads))
		}
		prober.Began = func(world *simulator.Sim) { world.Observe(&witness{world, t.history}) }
		lead := len(leads)
		prober.At = func(_ time.Duration, world *simulator.Sim) error {
			lead--
			now := predictor.Present{Snapshot: s.believe(world.Snapshot(0)), History: t.history, Owner: owner}
			told := make(predictor.Told, len(forecasters))
			for _, f := range forecasters {
				if err := ctx.Err(); err != nil {
					return err
				}
				forecast, err := f.Forecast(&now, request)
				if err != nil {
					return fmt.Errorf("%s: %w", f.Name(), err)
				}
				e.Forecasts[f.Name()][lead] = forecast
				told[f.Name()] = forecast
			}
			if s.Describe {
				describer.Describe(&now, request, told, e.Features[lead*width:lead*width:(lead+1)*width])
			}
			return nil
		}
		var err error
		if e.Curve, err = prober.Curve(t.cluster, link, s.Grid); err != nil {
			return fmt.Errorf("start %s: %w", t.cluster.Now(), err)
		}
		return nil
	}, nil
}
