package trainer

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// quickSamples returns how a week and a half of samples are gathered quickly.
func quickSamples() SamplesConfig {
	cfg := SamplesConfig{
		Replays: []Replay{busyReplay(1, 20)}, Pairs: []segue.Shape{pair}, From: midnight(8), Until: midnight(17),
		Every: 8 * hour, Monte: predictor.MonteCarloConfig{Replicas: 2, ArrivalDays: 3}, Workers: 2,
	}
	cfg.Grid.Step = 4 * hour
	return cfg
}

// sameBits compares features, in which what is not known is NaN.
var sameBits = cmp.Comparer(func(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
})

func TestShardsMergeToTheWhole(t *testing.T) {
	t.Parallel()
	whole, err := Gather(t.Context(), quickSamples())
	if err != nil {
		t.Fatal(err)
	}
	for _, shards := range []int{1, 2, 5, 40} {
		var parts [][]Stream
		for i := shards; i >= 1; i-- { // in any order
			cfg := quickSamples()
			cfg.Shard, cfg.Shards = i, shards
			part, err := Gather(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part)
		}
		merged, err := Merge(parts, quickSamples().Until)
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(whole, merged, sameBits) {
			t.Errorf("%d shards give other samples than one run", shards)
		}
	}
}

func TestSamplesAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*SamplesConfig)
		want   string
	}{
		"no replay":          {func(c *SamplesConfig) { c.Replays = nil }, "no replay"},
		"no pair":            {func(c *SamplesConfig) { c.Pairs = nil }, "no pair"},
		"a pair twice":       {func(c *SamplesConfig) { c.Pairs = []segue.Shape{pair, pair} }, "the pair " + pair.String() + " is named twice"},
		"too many starts":    {func(c *SamplesConfig) { c.Every = 1 }, "a start every 1ns, want at least a minute between two"},
		"no time":            {func(c *SamplesConfig) { c.Until = c.From }, "nothing to learn from: 2023-01-08T00:00:00Z is not before 2023-01-08T00:00:00Z"},
		"a shard beyond all": {func(c *SamplesConfig) { c.Shard, c.Shards = 3, 2 }, "shard 3 of 2, want 1 to the number of shards"},
		"a shard 0":          {func(c *SamplesConfig) { c.Shard, c.Shards = 0, 2 }, "shard 0 of 2, want 1 to the number of shards"},
		"a shard of none":    {func(c *SamplesConfig) { c.Shard = 1 }, "shard 1 of 0, want 1 to the number of shards"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quickSamples()
			tt.change(&cfg)
			_, err := Gather(t.Context(), cfg)
			if want := "gather samples: " + tt.want; err == nil || err.Error() != want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error %v, want %q (invalid)", err, want)
			}
		})
	}
	if _, err := Merge(nil, 0); segue.KindOf(err) != segue.Invalid {
		t.Errorf("no shards: error %v, want one of kind invalid", err)
	}
	if _, err := Merge([][]Stream{{{Replay: "plain"}}, {{Replay: "faithful"}}}, 0); segue.KindOf(err) != segue.Invalid {
		t.Errorf("shards of different replays: error %v, want one of kind invalid", err)
	}
}

func TestLoadOfAReplay(t *testing.T) {
	t.Parallel()
	r := Replay{Cluster: simulator.Config{Pools: []simulator.Pool{{Nodes: 10}}}, Jobs: []simulator.Job{
		{Submit: midnight(1), Run: 6 * hour, Nodes: 10}, {Submit: midnight(2), Run: 12 * hour, Nodes: 5},
	}}
	if got := r.Load(); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("60 and 60 node-hours on 10 nodes in a day are a load of %v, want 0.5", got)
	}
	if got := r.WithNodes(0.5).Load(); math.Abs(got-0.75) > 1e-9 {
		t.Errorf("on half the nodes, to which jobs are cut, the load is %v, want 0.75", got)
	}
}
