package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

const (
	// gapsBack is how far back gaps are looked for: accountings forget.
	gapsBack = 90 * day
	// gapsAtOnce is how many days the accounting is asked for at a time, and gapsEvery
	// the time between: it has its own work.
	gapsAtOnce = 7
	gapsEvery  = time.Hour
	// gapsSettled is how long after a day it is looked at: its jobs come late.
	gapsSettled = 6 * time.Hour
)

// mender looks for days without a job in the history of the cluster, such as those
// in which no server ran for longer than the accounting is asked for back, and asks
// the accounting for them again: once each, since there may have been no job.
type mender struct {
	store     *store.Store
	cluster   *schedulers.Cluster
	historian schedulers.Historian
	leads     func(now segue.Time) bool
	now       func() segue.Time
	log       *slog.Logger

	asked   map[segue.Time]bool // by the beginning of the day
	missing prometheus.Gauge
	filled  prometheus.Counter
}

// newMender returns nil where there is nobody to ask.
func newMender(s *store.Store, cluster *schedulers.Cluster, l *loops, cfg Config) *mender {
	historian, ok := cfg.Driver.(schedulers.Historian)
	if !ok {
		return nil
	}
	return &mender{
		store: s, cluster: cluster, historian: historian, leads: l.leads, now: cfg.Now, log: cfg.Log, asked: map[segue.Time]bool{},
		missing: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "segue_history_days_without_jobs", Help: "Days of the last 90 of which the history of the cluster has no job, as the leader sees it.",
		}),
		filled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "segue_history_jobs_filled_total", Help: "Jobs that the accounting told of days without any.",
		}),
	}
}

func (m *mender) run(ctx context.Context) {
	for schedulers.Sleep(ctx, gapsEvery) == nil {
		if !m.leads(m.now()) {
			continue
		}
		if err := m.runOnce(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("gaps of the history are not filled", "error", err)
		}
	}
}

// runOnce asks for some of the days of which nothing is known.
func (m *mender) runOnce(ctx context.Context) error {
	caps, err := m.cluster.Capabilities(ctx)
	if err != nil || !caps.Accounting {
		return err
	}
	coverage, err := m.store.Coverage(ctx, caps.Cluster)
	if segue.KindOf(err) == segue.NotFound {
		return nil // nothing has been collected yet
	}
	if err != nil {
		return err
	}
	gaps := gapsOf(coverage.Days, m.now())
	m.missing.Set(float64(len(gaps)))
	asked := 0
	for _, begin := range gaps {
		if m.asked[begin] {
			continue
		}
		if asked++; asked > gapsAtOnce {
			break
		}
		fetched, err := provisioner.FetchHistory(ctx, m.store, m.historian, caps.Cluster, begin, begin.Add(day))
		if err != nil {
			return err
		}
		m.asked[begin] = true
		m.filled.Add(float64(fetched.Changed))
		m.log.Info("accounting is asked again for a day without jobs", "cluster", caps.Cluster, "day", begin.String(), "jobs", fetched.Changed)
	}
	return nil
}

// gapsOf returns the days without a job after the first one that has any, the latest
// first.
func gapsOf(days []store.DayCount, now segue.Time) []segue.Time {
	if len(days) == 0 {
		return nil
	}
	has := map[segue.Time]bool{}
	for _, d := range days {
		has[d.Day] = d.Jobs > 0
	}
	latest := now.Add(-day - gapsSettled)
	latest -= latest % segue.Time(day/time.Microsecond)
	var gaps []segue.Time
	for at := latest; at > days[0].Day && now.Sub(at) < gapsBack; at = at.Add(-day) {
		if !has[at] {
			gaps = append(gaps, at)
		}
	}
	return gaps
}
