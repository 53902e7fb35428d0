package provisioner

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
)

// HistoryConfig says how the history of a cluster is brought into a store from
// its accounting. Its zero value will do.
type HistoryConfig struct {
	Back    time.Duration // how far the first time goes back; default 30 days
	Slice   time.Duration // the most that is asked for at once; default a day
	Overlap time.Duration // what is asked for again, since records come late; default an hour
}

func (c HistoryConfig) withDefaults() HistoryConfig {
	if c.Back == 0 {
		c.Back = 30 * 24 * time.Hour
	}
	if c.Slice == 0 {
		c.Slice = 24 * time.Hour
	}
	if c.Overlap == 0 {
		c.Overlap = time.Hour
	}
	return c
}

func (c HistoryConfig) validate() error {
	if c.Back < 0 || c.Slice <= 0 || c.Overlap < 0 || c.Overlap >= c.Slice {
		return segue.Errorf(segue.Invalid, "history: %s back in slices of %s that overlap by %s: want more than 0, and less overlap than slice", c.Back, c.Slice, c.Overlap)
	}
	return nil
}

// Collected says what one slice of a history brought.
type Collected struct {
	From, Until segue.Time
	store.Imported
	Rejected int64  // records that could not be read
	Why      string // what was wrong with the first of them
}

// CollectHistory asks the accounting for the next slice of a cluster's history,
// from where the store's ends, and brings it into the store. It is up to date when
// Until is now. What a slice holds already is not written again: it may be
// interrupted anywhere, and whoever comes next goes on.
func CollectHistory(ctx context.Context, s *store.Store, from schedulers.Historian, cluster string, now segue.Time, cfg HistoryConfig) (Collected, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return Collected{}, err
	}
	until, err := s.Accounted(ctx, cluster)
	if err != nil {
		return Collected{}, err
	}
	begin := now.Add(-cfg.Back)
	if until.Known() {
		begin = max(begin, until.Add(-cfg.Overlap))
	}
	end := min(now, begin.Add(cfg.Slice))
	if begin >= end { // the clock went back
		return Collected{From: begin, Until: end}, nil
	}
	c, err := FetchHistory(ctx, s, from, cluster, begin, end)
	if err != nil {
		return c, err
	}
	return c, s.SetAccounted(ctx, cluster, c.Until)
}

// FetchHistory brings what the accounting knows of a stretch into the store's
// history of a cluster, however far that goes.
func FetchHistory(ctx context.Context, s *store.Store, from schedulers.Historian, cluster string, begin, end segue.Time) (Collected, error) {
	c := Collected{From: begin, Until: end}
	if err := c.fetch(ctx, s, from, cluster); err != nil {
		return c, fmt.Errorf("history of %s from %s to %s: %w", cluster, c.From, c.Until, err)
	}
	return c, nil
}

// CatchUp collects slice by slice until the history is up to date, and tells of
// each.
func CatchUp(ctx context.Context, s *store.Store, from schedulers.Historian, cluster string, now segue.Time, cfg HistoryConfig, told func(Collected)) error {
	for {
		c, err := CollectHistory(ctx, s, from, cluster, now, cfg)
		if err != nil {
			return err
		}
		if told(c); c.Until >= now {
			return nil
		}
	}
}

func (c *Collected) fetch(ctx context.Context, s *store.Store, from schedulers.Historian, cluster string) error {
	var records bytes.Buffer
	if err := from.History(ctx, c.From, c.Until, &records); err != nil {
		return err
	}
	r, err := traces.NewReader(&records, traces.Options{Format: traces.Sacct, Name: "sacct"})
	if err != nil {
		return err
	}
	defer r.Close()
	if c.Imported, err = s.ImportJobs(ctx, cluster, notPending(r.All())); err != nil {
		return err
	}
	if c.Rejected = r.Report().Rejected(); c.Rejected > 0 {
		first := r.Report().Findings()[0]
		c.Why = fmt.Sprintf("%s: %s", first.Reason, first.Examples[0])
	}
	return nil
}

// notPending leaves out jobs that still wait: that is the scheduler's to say.
func notPending(jobs iter.Seq2[segue.Job, error]) iter.Seq2[segue.Job, error] {
	return func(yield func(segue.Job, error) bool) {
		for j, err := range jobs {
			if err == nil && !j.Start.Known() && !j.End.Known() {
				continue
			}
			if !yield(j, err) {
				return
			}
		}
	}
}
