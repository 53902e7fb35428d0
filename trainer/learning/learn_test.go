//go:build native

package learning_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// steps are those that a training worked on.
type steps struct {
	mu   sync.Mutex
	seen map[string]bool
}

// of lets a training tell its steps.
func (s *steps) of(cfg learning.Config) learning.Config {
	s.seen = map[string]bool{}
	cfg.Progress = func(step string, _, _ int, _ string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen[step] = true
	}
	return cfg
}

// A training that is taken up again makes what is lost, and nothing else.
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
	trees := []string{"trees on everything", "trees without fold 1 of 4", "trees without fold 2 of 4", "trees without fold 3 of 4", "trees without fold 4 of 4"}
	for lost, wantSteps := range map[string][]string{
		"": nil, "moe-dqn.gob": {"moe-dqn"}, "pg.gob": {"pg"}, "trees.gob": trees, "samples.gob": {"samples"},
	} {
		var told steps
		cfg := told.of(quickly(kept))
		cfg.Resume = true
		if lost != "" {
			if err := os.Remove(filepath.Join(kept, lost)); err != nil {
				t.Fatal(err)
			}
		}
		if lost != "samples.gob" {
			cfg.Samples.Replays = nil // of which nothing could be gathered
		}
		if !cmp.Equal(want, filesOf(t, cfg)) {
			t.Errorf("taken up again without %q it makes another model", lost)
		}
		if diff := cmp.Diff(wantSteps, slices.Sorted(maps.Keys(told.seen))); diff != "" {
			t.Errorf("taken up again without %q its steps differ (-want +got):\n%s", lost, diff)
		}
	}

	other := quickly(kept)
	other.Resume, other.Key = true, "eight weeks"
	_, err := learning.Learn(t.Context(), other)
	if segue.KindOf(err) != segue.Conflict || !strings.Contains(err.Error(), "(seven weeks, and not eight weeks)") {
		t.Errorf("error %v of a training with other settings, want one of kind conflict that names them", err)
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
	cfg.Resume, cfg.Samples.Replays = true, nil // of which nothing could be gathered
	if !cmp.Equal(want, filesOf(t, cfg)) {
		t.Error("the shards make another model than one run")
	}

	if err := learning.MergeShards(paths[:2], merged); segue.KindOf(err) != segue.NotFound {
		t.Errorf("error %v of a lost shard, want one of kind not found", err)
	}
	for name, change := range map[string]func(*learning.Config){
		"of 2":  func(cfg *learning.Config) { cfg.Samples.Shards = 2 },
		"eight": func(cfg *learning.Config) { cfg.Key = "eight weeks" },
	} {
		other := quickly("")
		other.Samples.Shard, other.Samples.Shards, other.Samples.Until = 2, 3, first.Add(9*day)
		change(&other)
		path := filepath.Join(dir, "other")
		if err := learning.GatherShard(t.Context(), other, path); err != nil {
			t.Fatal(err)
		}
		err := learning.MergeShards([]string{paths[0], path, paths[2]}, merged)
		if segue.KindOf(err) != segue.Conflict || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one of kind conflict that names %s and says %q", err, path, name)
		}
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
