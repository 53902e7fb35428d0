//go:build native

package libtorch

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer/environment"
)

// training is one that takes a moment and writes several checkpoints. In its
// third validation, after step third, the last checkpoint is that of step saved.
type training struct {
	run          func(ctx context.Context, path string, resume bool, progress func(Progress)) (Result, error)
	saved, third int
}

func trainings() map[string]training {
	train, valid := queues(1, 60), queues(2, 30)
	past, validPast := remembered(queues(1, 60)), remembered(queues(2, 30))
	dqn := func(spec networks.Spec) training {
		return training{func(ctx context.Context, path string, resume bool, progress func(Progress)) (Result, error) {
			return TrainDQN(ctx, spec, train, valid, DQNConfig{Common: Common{
				Seed: 7, Steps: 60, Batch: 32, ValidateEvery: 10, Device: "cpu",
				Checkpoint: path, CheckpointEvery: 15, Resume: resume,
			}}, progress)
		}, 15, 30}
	}
	pg := func(spec networks.Spec, train, valid environment.Table) training {
		return training{func(ctx context.Context, path string, resume bool, progress func(Progress)) (Result, error) {
			return TrainPG(ctx, spec, train, valid, PGConfig{Episodes: 16, Common: Common{
				Seed: 7, Steps: 12, Batch: 32, ValidateEvery: 2, Device: "cpu",
				Checkpoint: path, CheckpointEvery: 3, Resume: resume,
			}}, progress)
		}, 3, 6}
	}
	mixture := func(heads networks.Heads) networks.Spec {
		return networks.Spec{Kind: networks.Mixture, Heads: heads, State: 2, Hidden: []int{8, 8}, Experts: 3, Gate: []int{0}}
	}
	return map[string]training{
		"DQN":                      dqn(networks.Spec{Kind: networks.MLP, Heads: networks.Plain, State: 2, Hidden: []int{8}}),
		"mixture, DQN":             dqn(mixture(networks.Dueling)),
		"policy gradient":          pg(networks.Spec{Kind: networks.MLP, Heads: networks.Actor, State: 2, Hidden: []int{8}}, train, valid),
		"mixture, policy gradient": pg(mixture(networks.Actor), train, valid),
		"transformer, policy gradient": pg(networks.Spec{
			Kind: networks.Transformer, Heads: networks.Actor, State: 2, Hidden: []int{8},
			History: &networks.History{
				Steps: 4, Width: 2, Model: 4, Heads: 2, Layers: 1, FeedForward: 8, Positions: networks.Learned, Pool: networks.Mean,
			},
		}, past, validPast),
	}
}

// goesOn resumes a training from the checkpoint of a step and compares it with
// one that was not interrupted: it ends with the same network, and of the work it
// does only what the checkpoint does not hold. That a training which begins again
// ends with the same network too proves nothing about the checkpoint.
func (tr training) goesOn(t *testing.T, path string, step int, whole Result) {
	t.Helper()
	var reports []Progress
	resumed, err := tr.run(t.Context(), path, true, func(p Progress) { reports = append(reports, p) })
	if err != nil {
		t.Fatal(err)
	}
	left := whole.History
	for len(left) > 0 && left[0].Step <= step {
		left = left[1:]
	}
	if diff := cmp.Diff(left, reports); diff != "" {
		t.Errorf("from step %d on, reports differ (-uninterrupted +resumed):\n%s", step, diff)
	}
	if diff := cmp.Diff(whole.History, resumed.History); diff != "" {
		t.Errorf("from step %d on, the history differs (-uninterrupted +resumed):\n%s", step, diff)
	}
	if resumed.Steps != whole.Steps || resumed.Best != whole.Best {
		t.Errorf("from step %d on: %d steps in all and a best of %v, want %d and %v",
			step, resumed.Steps, resumed.Best, whole.Steps, whole.Best)
	}
	if !bytes.Equal(safetensors.Encode(whole.Tensors, nil), safetensors.Encode(resumed.Tensors, nil)) {
		t.Errorf("from step %d on, the tensors differ", step)
	}
}

func TestTrainingGoesOnToTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, train := range trainings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := train.run(t.Context(), filepath.Join(t.TempDir(), "whole"), false, nil)
			if err != nil {
				t.Fatal(err)
			}

			// Interrupted at the third validation; before that, at the second, a copy
			// of the checkpoint is taken: what a kill at any later moment leaves.
			path := filepath.Join(t.TempDir(), "training")
			killed := path + ".killed"
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			seen := 0
			_, err = train.run(ctx, path, false, func(Progress) {
				seen++
				switch seen {
				case 2:
					copyFile(t, path, killed)
				case 3:
					cancel()
				}
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("error is %v, want the context's", err)
			}
			train.goesOn(t, path, train.third, whole)
			train.goesOn(t, killed, train.saved, whole)
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// Whether the rest of a training needs something of its checkpoint depends on how
// the rest goes. Here everything is compared as it comes out of the file.
func TestCheckpointHoldsAllOfATraining(t *testing.T) {
	t.Parallel()
	table := queues(1, 30)
	spec := networks.Spec{Kind: networks.Mixture, Heads: networks.Dueling, State: 2, Hidden: []int{8}, Experts: 3, Gate: []int{0}}
	cfg := DQNConfig{Common: Common{
		Steps: 20, Batch: 16, Device: "cpu", Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
	}}.withDefaults()
	fresh := func() *dqn {
		l, err := newLearner(spec, &table, &table, cfg.Common)
		if err != nil {
			t.Fatal(err)
		}
		return newDQN(l, cfg)
	}
	defer onOneThread()()
	saved, restored := fresh(), fresh()
	for saved.Step < 3 {
		if err := saved.learn(); err != nil {
			t.Fatal(err)
		}
		saved.Step++
		if saved.Step == 2 {
			if err := saved.validate(saved.judged()); err != nil {
				t.Fatal(err)
			}
		}
	}
	saved.Stale = 2
	if err := saved.save(saved.arrays()); err != nil {
		t.Fatal(err)
	}
	before := whatIsLearned(restored)
	if err := restored.restore(restored.arrays()); err != nil {
		t.Fatal(err)
	}
	restored.restored()

	want, got := whatIsLearned(saved), whatIsLearned(restored)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the restored training differs (-saved +restored):\n%s", diff)
	}
	for name := range want {
		if cmp.Equal(want[name], before[name]) {
			t.Errorf("%s: a fresh training has the same, so that the comparison says nothing", name)
		}
	}
}

// whatIsLearned is what a training by deep Q-learning has beyond its arguments, by
// name, and the transitions that it would draw next.
func whatIsLearned(d *dqn) map[string]any {
	random := *d.source
	r := rand.New(&random)
	draws := make([]int, 20)
	for i := range draws {
		draws[i] = d.replay.Draw(r)
	}
	all := map[string]any{"draws": draws, "random number": r.Uint64(), "steps of Adam": d.adam.steps}
	for name, row := range d.learner.arrays(d.arrays()) {
		all[name] = append([]float32{}, row...)
	}
	all["step"], all["stale"], all["best cost"] = d.Step, d.Stale, d.Best
	all["sum of losses"], all["batches"] = d.LossSum, d.Batches
	all["sums of the gate"] = append([]float64{}, d.GateSums...)
	all["history"] = append([]Progress{}, d.History...)
	return all
}
