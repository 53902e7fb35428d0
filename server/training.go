package server

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/store"
)

// Training is what a server tells of the trainings that are made beside it, on a
// schedule. Make it with NewTraining.
type Training struct {
	ended *prometheus.CounterVec

	mu      sync.Mutex
	missing string // what keeps the next one from beginning, in a word or two; empty for nothing
}

// NewTraining returns one of which nothing is known yet.
func NewTraining() *Training {
	t := &Training{ended: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "segue_training_runs_total", Help: "Trainings on the schedule of this server, by what came of them.",
	}, []string{"outcome"})}
	for _, state := range []store.TrainingState{
		store.TrainingPromoted, store.TrainingKept, store.TrainingFailed, store.TrainingInterrupted, store.TrainingSkipped,
	} {
		t.ended.WithLabelValues(string(state))
	}
	return t
}

// Ended notes what came of a training.
func (t *Training) Ended(state store.TrainingState) { t.ended.WithLabelValues(string(state)).Inc() }

// Lacks notes what keeps the next training from beginning, in a word or two that
// anybody may read; empty for nothing.
func (t *Training) Lacks(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.missing = what
}

func (t *Training) lacks() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.missing
}

// check says whether the next training can begin.
func (t *Training) check() api.Check {
	if what := t.lacks(); what != "" {
		return api.Check{Name: "training", State: "cannot begin: " + what}
	}
	return api.Check{Name: "training", OK: true, State: "on schedule"}
}

// trainings tells Prometheus of trainings, those of other servers and by hand too.
type trainings struct {
	server               *Server
	able, running, ended *prometheus.Desc
	tallied              tallied
}

func newTrainings(s *Server) *trainings {
	return &trainings{
		server:  s,
		able:    prometheus.NewDesc("segue_training_able", "Whether the next training on the schedule of this server can begin.", nil, nil),
		running: prometheus.NewDesc("segue_training_running", "Trainings that run, whoever began them.", nil, nil),
		ended: prometheus.NewDesc("segue_training_last_success_timestamp_seconds",
			"When a training last ended with a model that was promoted or kept, whoever began it; 0 for never.", nil, nil),
		tallied: tallied{at: segue.NoTime},
	}
}

// Describe implements prometheus.Collector.
func (t *trainings) Describe(to chan<- *prometheus.Desc) {
	to <- t.able
	to <- t.running
	to <- t.ended
}

// Collect implements prometheus.Collector.
func (t *trainings) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(t.able, prometheus.GaugeValue, one(t.server.cfg.Training.lacks() == ""))
	t.tallied.tell(to, t.server.cfg.Now(), t.count)
}

// count returns what the store knows, nothing where it does not answer.
func (t *trainings) count() []prometheus.Metric {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	const recent = 1000
	all, err := t.server.store.Trainings(ctx, "", recent)
	if err != nil {
		return nil
	}
	var running, latest float64
	for _, x := range all {
		switch x.State {
		case store.TrainingRunning:
			running++
		case store.TrainingPromoted, store.TrainingKept:
			latest = max(latest, float64(x.Ended)/1e6)
		}
	}
	return []prometheus.Metric{
		prometheus.MustNewConstMetric(t.running, prometheus.GaugeValue, running),
		prometheus.MustNewConstMetric(t.ended, prometheus.GaugeValue, latest),
	}
}
