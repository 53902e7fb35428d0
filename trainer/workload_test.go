package trainer

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * hour
)

// midnight returns the beginning of the nth day of the histories here, the
// first of January 2023 being the first.
func midnight(n int) segue.Time { return segue.Seconds(1672531200).Add(time.Duration(n-1) * day) }

// busyReplay returns the jobs of five users on a cluster of 8 nodes: nearly as
// many as it can run, in waves of some days.
func busyReplay(seed uint64, days int) Replay {
	rng := rand.New(rand.NewPCG(seed, 0))
	r := Replay{Name: "plain", Cluster: simulator.Config{
		Pools: []simulator.Pool{{Name: "batch", Nodes: 8}}, Backfill: simulator.EASY,
		Users: []string{"ada", "ben", "cleo", "dan", "eve"},
	}}
	for d := 1; d <= days; d++ {
		for range 9 + 7*(d/3%2) {
			r.Jobs = append(r.Jobs, busyJob(rng, midnight(d)))
		}
	}
	slices.SortStableFunc(r.Jobs, func(a, b simulator.Job) int { return int((a.Submit - b.Submit) / 1e6) })
	r.Jobs[0].Submit = midnight(1)
	return r
}

// busyJob draws a job that is submitted on the day that begins at from.
func busyJob(rng *rand.Rand, from segue.Time) simulator.Job {
	limit := []time.Duration{2 * hour, 6 * hour, 12 * hour, 24 * hour}[rng.IntN(4)]
	return simulator.Job{
		Submit: from.Add(time.Duration(rng.IntN(24*60)) * minute), Limit: limit,
		Run: max(minute, time.Duration(rng.Float64()*float64(limit))), Nodes: int32(1 + rng.IntN(4)), User: int32(rng.IntN(5)),
	}
}

// pair is the pair of jobs that is probed in these tests.
var pair = segue.Shape{Nodes: 2, Limit: 12 * hour}

// quickly returns a backtest of a replay of at least 30 days that takes no time
// to speak of.
func quickly(replays ...Replay) BacktestConfig {
	cfg := BacktestConfig{
		Replays: replays, Pair: pair, Every: 12 * hour, Monte: predictor.MonteCarloConfig{Replicas: 2, ArrivalDays: 4}, Workers: 2, Replicates: 20,
		Split: evaluation.Split{
			Train: evaluation.Period{From: midnight(1), To: midnight(6)}, Tune: evaluation.Period{From: midnight(6), To: midnight(16)},
			Test: evaluation.Period{From: midnight(16), To: midnight(26)}, Embargo: 18 * hour,
		},
	}
	cfg.Grid.Step = 2 * hour
	return cfg
}

// watched returns the cluster at an instant, and what was seen of it.
func watched(t testing.TB, s Setup, at segue.Time) (*simulator.Sim, *predictor.History) {
	t.Helper()
	cluster, err := simulator.New(s.Cluster, s.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	history := &predictor.History{}
	cluster.Observe(&witness{cluster, history})
	cluster.AdvanceTo(at)
	return cluster, history
}

// families returns the named families.
func families(t testing.TB, names ...string) []policy.Family {
	t.Helper()
	list := slices.DeleteFunc(policy.Families(), func(f policy.Family) bool { return !slices.Contains(names, f.Name) })
	if len(list) != len(names) {
		t.Fatalf("of the families %v there are only %d", names, len(list))
	}
	return list
}
