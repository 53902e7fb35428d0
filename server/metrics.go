package server

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/segue-project/segue"
)

// gauges are what a server tells of itself beside its requests.
func (s *Server) gauges(version string) []prometheus.Collector {
	all := []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "segue_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": version},
		}, func() float64 { return 1 }),
		&tallies{
			server: s, chains: prometheus.NewDesc("segue_chains", "Chains, by state.", []string{"state"}, nil),
			links: prometheus.NewDesc("segue_live_links", "Links that wait or run, by state.", []string{"state"}, nil),
			up:    prometheus.NewDesc("segue_store_up", "Whether the store answers and takes changes.", nil, nil), tallied: tallied{at: segue.NoTime},
		},
		decides{s},
		s.advisor.computed, s.advisor.computing, s.keeper.removed, s.keeper.size,
	}
	if s.cfg.Training != nil {
		all = append(all, s.cfg.Training.ended, newTrainings(s))
	}
	if s.spans != nil {
		all = append(all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "segue_spans_lost_total", Help: "Spans that the collector did not take.",
		}, func() float64 { return float64(s.spans.Lost()) }))
	}
	if s.mender != nil {
		all = append(all, s.mender.missing, s.mender.filled)
	}
	if s.loops != nil || s.cfg.NoDriver != "" { // where it is meant, nobody is to lead
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "segue_lease_held", Help: "Whether this server leads: it alone submits.",
		}, func() float64 { return one(s.loops != nil && s.loops.leads(s.cfg.Now())) }))
	}
	if s.loops != nil {
		all = append(all, s.loops.rounds, s.loops.failed,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "segue_scheduler_last_answer_timestamp_seconds", Help: "When the scheduler last answered the loops; 0 for never.",
			}, func() float64 {
				at, _ := s.loops.watched.last()
				return float64(max(0, at)) / 1e6
			}))
	}
	return all
}

// decides tells which model decides.
type decides struct{ server *Server }

var decidesDesc = prometheus.NewDesc("segue_model_info", "1, with the model that decides at this server; \"\" for a planner.", []string{"model"}, nil)

// Describe implements prometheus.Collector.
func (decides) Describe(to chan<- *prometheus.Desc) { to <- decidesDesc }

// Collect implements prometheus.Collector.
func (d decides) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(decidesDesc, prometheus.GaugeValue, 1, d.server.models.decides())
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// talliesFresh is how long what was counted serves everybody who asks.
const talliesFresh = 5 * time.Second

// tallied are metrics for which the store is looked at when somebody asks, at most
// once in talliesFresh.
type tallied struct {
	mu      sync.Mutex
	at      segue.Time // NoTime before the first time
	metrics []prometheus.Metric
}

// tell hands the metrics out, which count counts where they are too old.
func (c *tallied) tell(to chan<- prometheus.Metric, now segue.Time, count func() []prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.Known() || now.Sub(c.at).Abs() >= talliesFresh {
		c.metrics, c.at = count(), now
	}
	for _, m := range c.metrics {
		to <- m
	}
}

// tallies count chains and links when somebody asks.
type tallies struct {
	server            *Server
	chains, links, up *prometheus.Desc
	tallied           tallied
}

// Describe implements prometheus.Collector.
func (t *tallies) Describe(to chan<- *prometheus.Desc) {
	to <- t.chains
	to <- t.links
	to <- t.up
}

// Collect implements prometheus.Collector.
func (t *tallies) Collect(to chan<- prometheus.Metric) {
	t.tallied.tell(to, t.server.cfg.Now(), t.count)
}

func (t *tallies) count() []prometheus.Metric {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
		return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	chains, err := t.server.store.CountChains(ctx)
	if err != nil {
		return []prometheus.Metric{gauge(t.up, 0)}
	}
	links, err := t.server.store.LiveLinks(ctx)
	if err != nil {
		return []prometheus.Metric{gauge(t.up, 0)}
	}
	all := []prometheus.Metric{gauge(t.up, one(t.server.store.Refused() == nil))}
	for state := segue.ChainActive; state <= segue.ChainFailed; state++ {
		all = append(all, gauge(t.chains, float64(chains[state]), state.String()))
	}
	var live [segue.LinkLost + 1]int
	for _, l := range links {
		live[l.State]++
	}
	for _, state := range []segue.LinkState{segue.LinkSubmitting, segue.LinkQueued, segue.LinkRunning} {
		all = append(all, gauge(t.links, float64(live[state]), state.String()))
	}
	return all
}
