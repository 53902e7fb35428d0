package trainer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy/published"
)

// PublishedSamples is what the regressors of the published method are fitted on
// for one pair, in order of the starts and in each of the submit times.
type PublishedSamples struct {
	Pair     segue.Shape
	Starts   int       // that the samples are of
	States   []float32 // a row of published.StateWidth for every sample
	Outcomes []float32 // hours
}

// GatherPublished returns the samples of the published method for every pair: of
// each start seven submit times, in the first of the replays alone. Starts whose
// every outcome was known before Until count, and submit times that a whole day of
// snapshots comes before.
func GatherPublished(ctx context.Context, cfg SamplesConfig) ([]PublishedSamples, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("gather samples of the published method: %w", err)
	}
	r := cfg.Replays[0]
	starts := within(Starts(cfg.From, cfg.Until, cfg.Every), r.span())
	var done atomic.Int64
	var list []PublishedSamples
	for _, pair := range cfg.Pairs {
		samples, err := cfg.setup(r, pair).probeAll(ctx, starts, cfg.Until, func() {
			if n := done.Add(1); cfg.Progress != nil {
				cfg.Progress(int(n), len(starts)*len(cfg.Pairs))
			}
		})
		if err != nil {
			return nil, fmt.Errorf("gather samples of the published method for %s on the %s replay: %w", pair, r.Name, err)
		}
		samples.Pair = pair
		list = append(list, samples)
	}
	return list, nil
}

// probeAll returns the samples of the starts up to the first one of which an
// outcome was not known at the instant until.
func (s Setup) probeAll(ctx context.Context, starts []segue.Time, until segue.Time, finished func()) (PublishedSamples, error) {
	s = s.withDefaults()
	if err := s.validate(); err != nil {
		return PublishedSamples{}, err
	}
	episodes, err := s.spreads(ctx, starts, finished)
	if err != nil {
		return PublishedSamples{}, err
	}
	episodes = decidedBefore(episodes, until)
	line, err := s.snapshots(ctx, until)
	if err != nil {
		return PublishedSamples{}, err
	}
	samples := PublishedSamples{Starts: len(episodes)}
	state := make([]float32, published.StateWidth)
	for i := range episodes {
		c := &episodes[i].Curve
		for k := range slices.Backward(c.Leads) {
			if line.State(published.Pair{Shape: s.Pair, Submit: c.Submit, Start: c.Start}, episodes[i].At(k), state) {
				samples.States = append(samples.States, state...)
				samples.Outcomes = append(samples.Outcomes, float32(c.Outcomes[k].Hours()))
			}
		}
	}
	return samples, nil
}

// spreads returns the outcomes of the published submit times of every start, as
// episodes that hold a curve and nothing else.
func (s Setup) spreads(ctx context.Context, starts []segue.Time, finished func()) ([]Episode, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tasks := make(chan task)
	episodes := make([]Episode, len(starts))
	var workers sync.WaitGroup
	for range s.Workers {
		workers.Go(func() {
			var prober outcomes.Prober
			for t := range tasks {
				curve, err := prober.Spread(t.cluster, s.link(), published.ProbeDelay, published.Probes)
				if err != nil {
					cancel(fmt.Errorf("start %s: %w", t.cluster.Now(), err))
				}
				episodes[t.index].Curve = curve
				finished()
			}
		})
	}
	err := replay(ctx, s, nil, starts, tasks)
	close(tasks)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return episodes, err
}
