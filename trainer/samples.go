package trainer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/predictor"
)

// SamplesConfig says from what to gather samples. Replays, Pairs and Until are
// required.
type SamplesConfig struct {
	Replays []Replay // of histories that end at Until: see KnownBefore
	Pairs   []segue.Shape
	// From and Until bound what is learned from: starts of which every outcome
	// was known before Until. From is by default a week after the
	// first submission, when the queue and its history have filled.
	From, Until segue.Time
	Every       time.Duration // between starts; default 4 hours
	Grid        outcomes.Grid // of leads; default every hour
	Monte       predictor.MonteCarloConfig
	Workers     int
	// Shard and Shards, when not 0, gather every Shards-th start only, from the
	// Shard-th on, counted from 1. Merge puts the shards together.
	Shard, Shards int
	// Progress, when not nil, is told the number of episodes done and to do. It
	// is called from several goroutines.
	Progress func(done, total int)
}

// warmUp is how long a replay runs before the first start, so that its queue
// and its history have filled.
const warmUp = 7 * 24 * time.Hour

func (c SamplesConfig) withDefaults() SamplesConfig {
	if c.Every == 0 {
		c.Every = 4 * time.Hour
	}
	if c.Grid.Step == 0 {
		c.Grid.Step = time.Hour
	}
	c.From = c.Begin()
	return c
}

// Begin returns the instant of the first start.
func (c SamplesConfig) Begin() segue.Time {
	if c.From == 0 && len(c.Replays) > 0 {
		return c.Replays[0].span().From.Add(warmUp)
	}
	return c.From
}

func (c SamplesConfig) validate() error {
	switch {
	case len(c.Replays) == 0:
		return segue.Errorf(segue.Invalid, "no replay")
	case len(c.Pairs) == 0:
		return segue.Errorf(segue.Invalid, "no pair")
	case c.Every < time.Minute:
		return segue.Errorf(segue.Invalid, "a start every %s, want at least a minute between two", c.Every)
	case c.Shards < 0 || c.Shard < min(c.Shards, 1) || c.Shard > c.Shards:
		return segue.Errorf(segue.Invalid, "shard %d of %d, want 1 to the number of shards", c.Shard, c.Shards)
	case c.From >= c.Until:
		return segue.Errorf(segue.Invalid, "nothing to learn from: %s is not before %s", c.From, c.Until)
	}
	for i, pair := range c.Pairs {
		if slices.Contains(c.Pairs[:i], pair) {
			return segue.Errorf(segue.Invalid, "the pair %s is named twice", pair)
		}
	}
	return nil
}

// Stream holds the episodes of one pair on one replay, in order of time.
type Stream struct {
	Replay   string
	Pair     segue.Shape
	Episodes []Episode
}

// Gather returns a stream for every replay and pair: the episodes whose every
// outcome was known before Until. Of a shard it returns all: which of them were
// known, and up to which start, shows when the shards are merged.
func Gather(ctx context.Context, cfg SamplesConfig) ([]Stream, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("gather samples: %w", err)
	}
	var done atomic.Int64
	starts := cfg.starts()
	total := len(starts) * len(cfg.Replays) * len(cfg.Pairs)
	var streams []Stream
	for _, replay := range cfg.Replays {
		for _, pair := range cfg.Pairs {
			episodes, err := Collect(ctx, cfg.setup(replay, pair), within(starts, replay.span()), func(int) {
				if n := done.Add(1); cfg.Progress != nil {
					cfg.Progress(int(n), total)
				}
			})
			if err != nil {
				return nil, fmt.Errorf("gather samples of %s on the %s replay: %w", pair, replay.Name, err)
			}
			if cfg.Shards == 0 {
				episodes = decidedBefore(episodes, cfg.Until)
			}
			streams = append(streams, Stream{replay.Name, pair, episodes})
		}
	}
	return streams, nil
}

// starts returns the starts of the shard, or all.
func (c SamplesConfig) starts() []segue.Time {
	all := Starts(c.From, c.Until, c.Every)
	if c.Shards == 0 {
		return all
	}
	var own []segue.Time
	for i := c.Shard - 1; i < len(all); i += c.Shards {
		own = append(own, all[i])
	}
	return own
}

// Merge returns what Gather would have returned at once for what it returned
// shard by shard, in any order.
func Merge(shards [][]Stream, until segue.Time) ([]Stream, error) {
	if len(shards) == 0 {
		return nil, segue.Errorf(segue.Invalid, "merge samples: no shard")
	}
	merged := slices.Clone(shards[0])
	for i := range merged {
		s := &merged[i]
		s.Episodes = slices.Clone(s.Episodes)
		for n, shard := range shards[1:] {
			if len(shard) != len(merged) || shard[i].Replay != s.Replay || shard[i].Pair != s.Pair {
				return nil, segue.Errorf(segue.Invalid, "merge samples: shard %d of the list has other streams than the first", n+2)
			}
			s.Episodes = append(s.Episodes, shard[i].Episodes...)
		}
		slices.SortFunc(s.Episodes, func(a, b Episode) int { return cmp.Compare(a.Curve.Submit, b.Curve.Submit) })
		s.Episodes = decidedBefore(s.Episodes, until)
	}
	return merged, nil
}

func (c SamplesConfig) setup(r Replay, pair segue.Shape) Setup {
	pair.Nodes = min(pair.Nodes, r.Cluster.Pools[0].Nodes)
	return Setup{
		Cluster: r.Cluster, Jobs: r.Jobs, Pair: pair, Grid: c.Grid, MonteCarlo: c.Monte, Workers: c.Workers,
		Forecasters: []string{}, Describe: true,
	}
}

// within returns the starts at which a replay can be stopped.
func within(starts []segue.Time, span evaluation.Period) []segue.Time {
	return slices.DeleteFunc(slices.Clone(starts), func(at segue.Time) bool { return at < span.From || at > span.To })
}

// decidedBefore returns the episodes up to the first one of which an outcome was
// not known at the instant until: to keep the quick ones after it would make
// the queue look short.
func decidedBefore(episodes []Episode, until segue.Time) []Episode {
	i := slices.IndexFunc(episodes, func(e Episode) bool { return e.Curve.Decided() >= until })
	if i < 0 {
		return episodes
	}
	return slices.Clip(episodes[:i])
}

// WithNodes returns the replay on a cluster with a share of its nodes, which
// makes it busier or calmer: 0.9 for a tenth fewer. Its name says so.
func (r Replay) WithNodes(share float64) Replay {
	pool := r.Cluster.Pools[0]
	pool.Nodes = max(1, int(float64(pool.Nodes)*share+0.5))
	changed := r.withPool(pool)
	changed.Name = fmt.Sprintf("%s x %.2f", r.Name, share)
	return changed
}

// Load returns the work of the replay's jobs as a share of what the cluster can
// do from the first submission to the last.
func (r Replay) Load() float64 {
	span := r.span()
	work := 0.0
	for i := range r.Jobs {
		work += r.Jobs[i].Run.Hours() * float64(r.Jobs[i].Nodes)
	}
	return work / (span.To.Sub(span.From).Hours() * float64(r.Cluster.Pools[0].Nodes))
}
