//go:build native

package learning_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/learning"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// first is the first submission of the histories here.
var first = segue.Seconds(1672531200)

// weeks returns a replay of seven weeks on a cluster of 8 nodes, in waves of
// some days.
func weeks() trainer.Replay {
	rng := rand.New(rand.NewPCG(1, 0))
	r := trainer.Replay{Name: "plain", Cluster: simulator.Config{
		Pools: []simulator.Pool{{Name: "batch", Nodes: 8}}, Backfill: simulator.EASY, Users: []string{"ada", "ben", "cleo"},
	}}
	for d := range 49 {
		for range 9 + 8*(d/3%2) {
			limit := []time.Duration{2 * hour, 6 * hour, 12 * hour, 24 * hour}[rng.IntN(4)]
			r.Jobs = append(r.Jobs, simulator.Job{
				Submit: first.Add(time.Duration(d)*day + time.Duration(rng.IntN(24*60))*time.Minute), Limit: limit,
				Run: max(time.Minute, time.Duration(rng.Float64()*float64(limit))), Nodes: int32(1 + rng.IntN(4)), User: int32(rng.IntN(3)),
			})
		}
	}
	slices.SortStableFunc(r.Jobs, func(a, b simulator.Job) int { return int((a.Submit - b.Submit) / 1e6) })
	return r
}

// quickly returns a training of seconds in a folder.
func quickly(dir string) learning.Config {
	cfg := learning.Config{
		Samples: trainer.SamplesConfig{
			Replays: []trainer.Replay{weeks()}, Pairs: []segue.Shape{{Nodes: 2, Limit: 12 * hour}}, From: first.Add(7 * day), Until: first.Add(48 * day),
			Every: 12 * hour, Monte: predictor.MonteCarloConfig{Replicas: 2, ArrivalDays: 3, Seed: 1}, Workers: 2,
		},
		Trees:    learning.TreesConfig{Rounds: 15, Step: 2 * hour, Threads: 1},
		Policies: []string{"moe-dqn", "pg"}, Steps: 100, Key: "seven weeks", Dir: dir,
	}
	cfg.Samples.Grid.Step = 2 * hour
	return cfg
}

// filesOf trains and returns the model's files.
func filesOf(t *testing.T, cfg learning.Config) map[string][]byte {
	t.Helper()
	result, err := learning.Learn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	files, err := learned.Encode(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTrainingTakenUpAgainMakesTheSameModel(t *testing.T) {
	t.Parallel()
	want := filesOf(t, quickly(""))
	if _, err := learned.Read(func(name string) []byte { return want[name] }); err != nil {
		t.Fatalf("the model cannot be read: %v", err)
	}

	kept := t.TempDir()
	if diff := cmp.Diff(want, filesOf(t, quickly(kept))); diff != "" {
		t.Error("the same training makes another model")
	}
	for _, lost := range []string{"", "moe-dqn.checkpoint", "trees.gob", "samples.gob"} {
		if lost != "" {
			if err := os.Remove(filepath.Join(kept, lost)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		cfg := quickly(kept)
		cfg.Resume = true
		if !cmp.Equal(want, filesOf(t, cfg)) {
			t.Errorf("taken up again without %q it makes another model", lost)
		}
	}

	other := quickly(kept)
	other.Resume, other.Key = true, "eight weeks"
	if _, err := learning.Learn(t.Context(), other); segue.KindOf(err) != segue.Conflict {
		t.Errorf("error %v of a training with other settings, want one of kind conflict", err)
	}
}

func TestTrainingsShareSamples(t *testing.T) {
	t.Parallel()
	of := func(seed uint64, samples string) learning.Config {
		cfg := quickly("")
		cfg.Policies, cfg.Seed, cfg.SamplesDir = []string{}, seed, samples
		return cfg
	}
	shared := t.TempDir()
	filesOf(t, of(1, shared))
	again := of(2, shared)
	again.Samples.Replays = nil // of which nothing could be gathered
	if !cmp.Equal(filesOf(t, of(2, "")), filesOf(t, again)) {
		t.Error("samples that were kept make another model than those gathered anew")
	}

	other := of(2, shared)
	other.Key = "eight weeks"
	if _, err := learning.Learn(t.Context(), other); segue.KindOf(err) != segue.Conflict {
		t.Errorf("error %v of samples made from something else, want one of kind conflict", err)
	}
}

func TestShardsMakeTheSameModel(t *testing.T) {
	t.Parallel()
	want := filesOf(t, quickly(""))
	dir := t.TempDir()
	var paths []string
	for i := range 3 {
		cfg := quickly("")
		cfg.Samples.Shard, cfg.Samples.Shards = i+1, 3
		path := filepath.Join(dir, string(rune('a'+i)))
		for range 2 { // a task that ran twice
			if err := learning.GatherShard(t.Context(), cfg, path); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, path)
	}
	merged := filepath.Join(dir, "merged")
	if err := learning.MergeShards(append(paths, paths[1]), merged); err != nil {
		t.Fatal(err)
	}
	cfg := quickly(merged)
	cfg.Resume, cfg.Samples.Replays = true, []trainer.Replay{weeks()}
	if !cmp.Equal(want, filesOf(t, cfg)) {
		t.Error("the shards make another model than one run")
	}

	if err := learning.MergeShards(paths[:2], merged); segue.KindOf(err) != segue.NotFound {
		t.Errorf("error %v of a lost shard, want one of kind not found", err)
	}
	data, err := os.ReadFile(paths[2])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(paths[2], data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := learning.MergeShards(paths, merged); segue.KindOf(err) != segue.Corrupt {
		t.Errorf("error %v of half a shard, want one of kind corrupt", err)
	}
}

func TestTrainingIsRefused(t *testing.T) {
	t.Parallel()
	unknown := quickly("")
	unknown.Policies = []string{"oracle"}
	if _, err := learning.Learn(t.Context(), unknown); segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v of a policy that there is not, want one of kind invalid", err)
	}
	short := quickly("")
	short.Samples.Until = first.Add(9 * day)
	if _, err := learning.Learn(t.Context(), short); segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v of two days, want one of kind invalid", err)
	}
}
