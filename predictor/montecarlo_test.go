package predictor_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// One node, on which ada's job runs. Half of her jobs ran for 1 h, a quarter for
// 3 h and a quarter for 7 h, long ago; so the wait is one of these with these
// probabilities.
func TestMonteCarloConvergesToTheDistributionOfTheRunTimes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		elapsed time.Duration
		want    map[time.Duration]float64 // the wait with its probability
	}{
		"just started":   {0, map[time.Duration]float64{hour: 0.5, 3 * hour: 0.25, 7 * hour: 0.25}},
		"after 2 hours":  {2 * hour, map[time.Duration]float64{hour: 0.5, 5 * hour: 0.5}},
		"after 6 hours":  {6 * hour, map[time.Duration]float64{hour: 1}},
		"longer than it": {8 * hour, map[time.Duration]float64{2 * hour: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &predictor.History{}
			for i := range 16 {
				run := []time.Duration{hour, 3 * hour, hour, 7 * hour}[i%4]
				seen(h, "ada", run, 10*hour, at(time.Duration(i)*minute))
			}
			now := predictor.Present{History: h, Owner: "asker", Snapshot: segue.Snapshot{
				At: at(30 * day), Nodes: 1, Running: []segue.QueuedJob{running("ada", 10*hour, 0)},
			}}
			now.Snapshot.Running[0].Start = now.Snapshot.At.Add(-tt.elapsed)
			m := monteCarlo(t, clusterOf(1, simulator.EASY), predictor.MonteCarloConfig{Replicas: 4000, Seed: 3})
			got := map[time.Duration]float64{}
			for _, w := range forecastOf(t, m, now, request(1)).Waits {
				got[w] += 1.0 / 4000
			}
			for wait, p := range tt.want {
				if sigma := math.Sqrt(p * (1 - p) / 4000); math.Abs(got[wait]-p) > 4*sigma+1e-9 {
					t.Errorf("a wait of %s with probability %.3f, want %.3f", wait, got[wait], p)
				}
				delete(got, wait)
			}
			if len(got) > 0 {
				t.Errorf("also %v, want no other wait", got)
			}
		})
	}
}

// Every day at noon a job comes that takes the only node for ten hours. Whoever
// asks at eleven for four hours is before it; whoever asks at one is behind it,
// days ahead too.
func TestMonteCarloKnowsWhenOthersCome(t *testing.T) {
	t.Parallel()
	h := &predictor.History{}
	for d := range 20 {
		noon := at(time.Duration(d)*day + 12*hour)
		seen(h, "ada", 10*hour, 10*hour, noon.Add(10*hour))
	}
	now := predictor.Present{History: h, Owner: "asker", Snapshot: segue.Snapshot{At: at(20*day + 11*hour), Nodes: 1}}
	m := monteCarlo(t, clusterOf(1, simulator.EASY), predictor.MonteCarloConfig{})
	later, err := m.Later(&now, request(1), []time.Duration{0, 2 * hour, 12 * hour, 26 * hour, 6*day + 2*hour, 6*day + 12*hour})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		at   time.Duration
		wait time.Duration
	}{
		{11 * hour, 0},
		{13 * hour, 9 * hour},
		{23 * hour, 0},
		{day + 13*hour, 9 * hour},
		{6*day + 13*hour, 9 * hour},
		{6*day + 23*hour, 0},
	} {
		if later[i].At != at(20*day+want.at) {
			t.Errorf("forecast %d is for %s", i, later[i].At)
		}
		if got := [2]time.Duration{later[i].Quantile(0), later[i].Quantile(1)}; got != [2]time.Duration{want.wait, want.wait} {
			t.Errorf("at %s o'clock a wait from %s to %s, want %s", want.at, got[0], got[1], want.wait)
		}
	}
}

func TestMonteCarloForecastsWhereLittleIsLeftOfTheCluster(t *testing.T) {
	t.Parallel()
	h := &predictor.History{}
	for i := range 40 {
		seen(h, "ada", 5*hour, 5*hour, at(9*day+time.Duration(i)*30*minute))
	}
	wide := pending("ben", segue.Unlimited)
	wide.Nodes = 7
	for name, snap := range map[string]segue.Snapshot{
		"no node in service":          {At: tenthDay},
		"a running job over its time": {At: tenthDay, Nodes: 1, Running: []segue.QueuedJob{running("ada", 5*hour, 6*hour)}},
		"a job that cannot start":     {At: tenthDay, Nodes: 2, Pending: []segue.QueuedJob{wide}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := monteCarlo(t, clusterOf(2, simulator.EASY), predictor.MonteCarloConfig{Replicas: 3})
			if got := forecastOf(t, m, predictor.Present{History: h, Snapshot: snap}, request(1)); len(got.Waits) != 3 {
				t.Errorf("%d waits, want one per replica", len(got.Waits))
			}
		})
	}
}

func TestMonteCarloDrawsFromItsSeed(t *testing.T) {
	t.Parallel()
	h := &predictor.History{}
	for i := range 16 {
		seen(h, "ada", time.Duration(1+i)*30*minute, 10*hour, at(time.Duration(i)*minute))
	}
	now := predictor.Present{History: h, Snapshot: segue.Snapshot{
		At: tenthDay, Nodes: 1, Running: []segue.QueuedJob{running("ada", 10*hour, 0)},
	}}
	of := func(seed uint64) []time.Duration {
		m := monteCarlo(t, clusterOf(1, simulator.EASY), predictor.MonteCarloConfig{Seed: seed})
		return forecastOf(t, m, now, request(1)).Waits
	}
	if diff := cmp.Diff(of(5), of(5)); diff != "" {
		t.Errorf("the same seed gives other waits:\n%s", diff)
	}
	if cmp.Equal(of(5), of(6)) {
		t.Error("another seed gives the same waits")
	}
}

// What is far ahead is asked of fewer futures, of the same ones.
func TestMonteCarloAsksFewerFuturesFarAhead(t *testing.T) {
	t.Parallel()
	h := &predictor.History{}
	for d := range 20 {
		seen(h, "ada", time.Duration(1+d%5)*hour, 10*hour, at(time.Duration(d)*day+12*hour))
	}
	now := predictor.Present{History: h, Owner: "asker", Snapshot: segue.Snapshot{
		At: at(20*day + 11*hour), Nodes: 1, Running: []segue.QueuedJob{running("ada", 10*hour, 0)},
	}}
	now.Snapshot.Running[0].Start = now.Snapshot.At
	m := monteCarlo(t, clusterOf(1, simulator.EASY), predictor.MonteCarloConfig{Replicas: 120, Seed: 3})
	later, err := m.Later(&now, request(1), []time.Duration{0, 12 * hour, 12*hour + 1, 100 * day})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{120, 120, 30, 30} {
		if got := len(later[i].Waits); got != want {
			t.Errorf("%d futures of submission %d, want %d", got, i, want)
		}
	}
	if diff := cmp.Diff(forecastOf(t, m, now, request(1)).Waits, later[0].Waits); diff != "" {
		t.Errorf("a submission now is foreseen otherwise when later ones are asked about too (-alone +beside):\n%s", diff)
	}
}

func TestMonteCarloRefuses(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]predictor.MonteCarloConfig{
		"fewer than no replicas":   {Replicas: -1},
		"a horizon in the past":    {ArrivalHorizon: -hour},
		"more than can be kept":    {Replicas: 1_000_000_000},
		"arrivals of days to come": {ArrivalDays: -1},
	} {
		if _, err := predictor.NewMonteCarlo(clusterOf(1, simulator.EASY), cfg); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", name, err)
		}
	}
}

// The asker's own jobs are links: they run to their limits, whatever others with
// that name did before, and the next ones come when it is decided, not when they
// came on other days.
func TestMonteCarloKnowsTheAskersLinks(t *testing.T) {
	t.Parallel()
	h := &predictor.History{}
	for i := range 20 { // a short job every half day, before and after noon
		seen(h, "asker", hour, 10*hour, at(time.Duration(i)*12*hour))
	}
	now := predictor.Present{History: h, Owner: "asker", Snapshot: segue.Snapshot{
		At: tenthDay, Nodes: 1, Running: []segue.QueuedJob{running("asker", 10*hour, 2*hour)},
	}}
	m := monteCarlo(t, clusterOf(1, simulator.NoBackfill), predictor.MonteCarloConfig{Replicas: 8})
	later, err := m.Later(&now, request(1), []time.Duration{0, 11 * hour})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Duration{8 * hour, 0} {
		if got := [2]time.Duration{later[i].Quantile(0), later[i].Quantile(1)}; got != [2]time.Duration{want, want} {
			t.Errorf("forecast %d: a wait from %s to %s, want %s", i, got[0], got[1], want)
		}
	}
}
