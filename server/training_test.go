package server

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/store"
)

// Health and metrics tell of trainings: whether the next one can begin, what came of
// those of this server, and what the store knows of all.
func TestTrainingsAreToldOf(t *testing.T) {
	t.Parallel()
	clock := &clock{at: t0}
	s := openStore(t)
	about := NewTraining()
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Training: about, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(id string, state store.TrainingState, ended segue.Time) func() {
		return func() {
			t.Helper()
			if err := s.BeginTraining(t.Context(), store.Training{
				ID: id, Cluster: "c", Cause: "hand", Scheduled: segue.NoTime, Started: t0, Ended: ended, State: state, Step: "begin",
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		name    string
		do      func()
		want    api.Check
		metrics []string
	}{
		{
			"at first", func() {},
			api.Check{Name: "training", OK: true, State: "on schedule"},
			[]string{"able 1", "running 0", "last_success_timestamp_seconds 0", `runs_total{outcome="failed"} 0`},
		},
		{
			"something is missing", func() { about.Lacks("there is no history") },
			api.Check{Name: "training", State: "cannot begin: there is no history"},
			[]string{"able 0"},
		},
		{
			"one runs", func() { about.Lacks(""); begin("1", store.TrainingRunning, segue.NoTime)() },
			api.Check{Name: "training", OK: true, State: "on schedule"},
			[]string{"able 1", "running 1"},
		},
		{
			"one was kept, another failed", func() {
				begin("2", store.TrainingKept, segue.TimeOf(time.Unix(1700000000, 0)))()
				about.Ended(store.TrainingFailed)
			},
			api.Check{Name: "training", OK: true, State: "on schedule"},
			[]string{"last_success_timestamp_seconds 1.7e+09", `runs_total{outcome="failed"} 1`, `runs_total{outcome="kept"} 0`},
		},
	} {
		step.do()
		clock.advance(talliesFresh)
		checks := srv.health.Checks(t.Context())
		if diff := cmp.Diff(step.want, checks[len(checks)-1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		text := metricsOf(t, srv)
		for _, want := range step.metrics {
			if !strings.Contains(text, "\nsegue_training_"+want+"\n") {
				t.Errorf("%s: the metrics lack %s", step.name, want)
			}
		}
	}
}
