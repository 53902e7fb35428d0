package predictor_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * hour
)

// at returns the instant d after the epoch.
func at(d time.Duration) segue.Time { return segue.Time(0).Add(d) }

// request asks for nodes for four hours, as the user who asks.
func request(nodes int) segue.Request {
	return segue.Request{Shape: segue.Shape{Nodes: nodes, Limit: 4 * hour}, User: "asker"}
}

// userNames are the users of the drawn workloads, by index.
var userNames = []string{"ada", "ben", "cleo", "asker"}

// clusterOf returns a cluster of whole nodes with those users.
func clusterOf(nodes int, backfill simulator.Backfill) simulator.Config {
	cfg := simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: nodes}}, Backfill: backfill, Users: userNames}
	if backfill == simulator.SlurmBackfill {
		cfg.Order, cfg.Slurm = simulator.PublishedOrder(), simulator.Published()
	}
	return cfg
}

// newForecasters returns one of every kind.
func newForecasters(t fataler, cluster simulator.Config) []predictor.Forecaster {
	t.Helper()
	list := []predictor.Forecaster{predictor.NewRecent(20), predictor.NewRecentShape(20)}
	for _, runs := range []predictor.RunTimes{predictor.Limits{}, predictor.LastTwo{}, &predictor.Learned{}} {
		list = append(list, forward(t, cluster, runs))
	}
	return append(list, monteCarlo(t, cluster, predictor.MonteCarloConfig{Replicas: 5, ArrivalDays: 3, Seed: 7}))
}

func forward(t fataler, cluster simulator.Config, runs predictor.RunTimes) *predictor.Forward {
	t.Helper()
	f, err := predictor.NewForward(cluster, runs)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func monteCarlo(t fataler, cluster simulator.Config, cfg predictor.MonteCarloConfig) *predictor.MonteCarlo {
	t.Helper()
	m, err := predictor.NewMonteCarlo(cluster, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fataler is the part of *testing.T that *rapid.T has too.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func forecastOf(t fataler, f predictor.Forecaster, now predictor.Present, req segue.Request) segue.Forecast {
	t.Helper()
	forecast, err := f.Forecast(&now, req)
	if err != nil {
		t.Fatal(err)
	}
	return forecast
}

// replayed is a simulated cluster that is watched.
type replayed struct {
	*simulator.Sim
	history *predictor.History
}

func replay(t fataler, cluster simulator.Config, jobs []simulator.Job) *replayed {
	t.Helper()
	s, err := simulator.New(cluster, jobs)
	if err != nil {
		t.Fatal(err)
	}
	r := &replayed{s, &predictor.History{}}
	s.Observe(r)
	return r
}

func (r *replayed) Submitted(simulator.Ref, segue.Time) {}

func (r *replayed) Started(ref simulator.Ref, at segue.Time) {
	q := r.Job(ref)
	r.history.Start(&q, at)
}

func (r *replayed) Ended(ref simulator.Ref, start, at segue.Time) {
	q := r.Job(ref)
	r.history.End(&q, start, at)
}

func (r *replayed) present() predictor.Present {
	return predictor.Present{Snapshot: r.Snapshot(0), History: r.history, Owner: "asker"}
}

// drawJobs draws the jobs of some days, of which the first is submitted at the
// epoch.
func drawJobs(t *rapid.T, nodes int, days int) []simulator.Job {
	jobs := make([]simulator.Job, rapid.IntRange(1, 40).Draw(t, "jobs"))
	for i := range jobs {
		jobs[i] = drawJob(t, nodes, 0, time.Duration(days)*day)
	}
	jobs[0].Submit = at(0)
	return jobs
}

func drawJob(t *rapid.T, nodes int, from, to time.Duration) simulator.Job {
	limit := time.Duration(rapid.SampledFrom([]int{1, 2, 4, 12, 24, 48}).Draw(t, "limit, hours")) * hour
	return simulator.Job{
		Submit: at(from + time.Duration(rapid.Int64Range(0, int64((to-from)/minute)).Draw(t, "submitted at minute"))*minute),
		Run:    drawRun(t, minute, limit), Limit: limit,
		Nodes: int32(rapid.IntRange(1, nodes).Draw(t, "nodes")), User: int32(rapid.IntRange(0, 2).Draw(t, "user")),
	}
}

func drawRun(t *rapid.T, least, most time.Duration) time.Duration {
	return least + time.Duration(rapid.Float64Range(0, 1).Draw(t, "run")*float64(most-least)).Truncate(time.Second)
}
