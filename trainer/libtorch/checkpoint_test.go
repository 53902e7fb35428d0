//go:build native

package libtorch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer/environment"
)

// training runs one of the algorithms with a checkpoint at path, for a while
// that is enough for several.
type training func(ctx context.Context, path string, resume bool, progress func(Progress)) (Result, error)

func trainings() map[string]training {
	train, valid := queues(1, 60), queues(2, 30)
	mixture := networks.Spec{
		Kind: networks.Mixture, Heads: networks.Dueling, State: 2, Hidden: []int{8, 8}, Experts: 3, Gate: []int{0},
	}
	actor := networks.Spec{Kind: networks.MLP, Heads: networks.Actor, State: 2, Hidden: []int{8}}
	return map[string]training{
		"DQN": func(ctx context.Context, path string, resume bool, progress func(Progress)) (Result, error) {
			return TrainDQN(ctx, mixture, train, valid, DQNConfig{Common: Common{
				Seed: 7, Steps: 60, Batch: 32, ValidateEvery: 10, Device: "cpu",
				Checkpoint: path, CheckpointEvery: 15, Resume: resume,
			}}, progress)
		},
		"policy gradient": func(ctx context.Context, path string, resume bool, progress func(Progress)) (Result, error) {
			return TrainPG(ctx, actor, train, valid, PGConfig{Episodes: 16, Common: Common{
				Seed: 7, Steps: 12, Batch: 32, ValidateEvery: 2, Device: "cpu",
				Checkpoint: path, CheckpointEvery: 3, Resume: resume,
			}}, progress)
		},
	}
}

func TestTrainingGoesOnToTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, train := range trainings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := train(t.Context(), filepath.Join(t.TempDir(), "whole"), false, nil)
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
			_, err = train(ctx, path, false, func(Progress) {
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
			for _, checkpoint := range []string{path, killed} {
				resumed, err := train(t.Context(), checkpoint, true, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(whole.History, resumed.History); diff != "" {
					t.Errorf("%s: the history differs (-uninterrupted +resumed):\n%s", filepath.Base(checkpoint), diff)
				}
				if !bytes.Equal(safetensors.Encode(whole.Tensors, nil), safetensors.Encode(resumed.Tensors, nil)) {
					t.Errorf("%s: the tensors differ", filepath.Base(checkpoint))
				}
			}
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

func TestSameSeedGivesTheSameNetworkAndAnotherAnother(t *testing.T) {
	t.Parallel()
	train, valid := queues(1, 30), queues(2, 15)
	spec := networks.Spec{Kind: networks.MLP, Heads: networks.Plain, State: 2, Hidden: []int{8}}
	encoded := func(seed uint64) []byte {
		r, err := TrainDQN(t.Context(), spec, train, valid, DQNConfig{Common: Common{Seed: seed, Steps: 20, Batch: 16, Device: "cpu"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return safetensors.Encode(r.Tensors, nil)
	}
	if !bytes.Equal(encoded(1), encoded(1)) {
		t.Error("the same seed gives another network")
	}
	if bytes.Equal(encoded(1), encoded(2)) {
		t.Error("another seed gives the same network")
	}
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	train := trainings()["DQN"]
	good := filepath.Join(t.TempDir(), "good")
	if _, err := train(t.Context(), good, false, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file []byte
		kind segue.Kind
		want string
	}{
		"half a file": {b[:len(b)/2], segue.Corrupt, "safetensors"},
		"no checkpoint": {
			safetensors.Encode(f.Tensors, nil), segue.Corrupt, "read checkpoint",
		},
		"another training": {
			safetensors.Encode(f.Tensors, map[string]string{
				checkpointKey: strings.Replace(f.Metadata[checkpointKey], `"Fingerprint":"`, `"Fingerprint":"x`, 1),
			}), segue.Conflict, "is of another training",
		},
		"a missing row of numbers": {
			safetensors.Encode(map[string]safetensors.Tensor{}, f.Metadata), segue.Corrupt, "has 0 numbers",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "checkpoint")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := train(t.Context(), path, true, nil)
			if err == nil || segue.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %v with %q", err, tt.kind, tt.want)
			}
		})
	}
}

func TestTrainingRefuses(t *testing.T) {
	t.Parallel()
	table := queues(1, 6)
	spec := networks.Spec{Kind: networks.MLP, Heads: networks.Plain, State: 2, Hidden: []int{8}}
	with := func(change func(*networks.Spec)) networks.Spec {
		s := spec
		change(&s)
		return s
	}
	short := environment.Table{Width: 2, Episodes: []environment.Episode{{
		States: []float32{1, 2}, Leads: []float32{0}, Outcomes: []float32{1}, Weight: 1,
	}}}
	tests := map[string]struct {
		spec  networks.Spec
		table environment.Table
		cfg   DQNConfig
		want  string
	}{
		"an actor":                {with(func(s *networks.Spec) { s.Heads = networks.Actor }), table, DQNConfig{}, "heads is actor"},
		"another width":           {with(func(s *networks.Spec) { s.State = 3 }), table, DQNConfig{}, "states of width 2, the network takes 3"},
		"no layer":                {with(func(s *networks.Spec) { s.Hidden = nil }), table, DQNConfig{}, "hidden has 0 layers"},
		"no moment to wait at":    {spec, short, DQNConfig{}, "no episode of the training table has a lead above 0"},
		"a negative batch":        {spec, table, DQNConfig{Common: Common{Batch: -1}}, "Batch is -1"},
		"a device of no kind":     {spec, table, DQNConfig{Common: Common{Device: "tpu"}}, `device is "tpu"`},
		"a price that is nothing": {spec, table, DQNConfig{Common: Common{Prices: []float64{0}}}, "Prices is 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := TrainDQN(t.Context(), tt.spec, tt.table, tt.table, tt.cfg, nil)
			if err == nil || segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want an invalid argument with %q", err, tt.want)
			}
		})
	}
}

func TestTrainingStopsWhenItGetsNoBetter(t *testing.T) {
	t.Parallel()
	table := queues(1, 30)
	spec := networks.Spec{Kind: networks.MLP, Heads: networks.Plain, State: 2, Hidden: []int{8}}
	var costs []float64
	r, err := TrainDQN(t.Context(), spec, table, table, DQNConfig{Common: Common{
		Steps: 400, Batch: 16, LearningRate: 1e-12, ValidateEvery: 10, Patience: 3, Device: "cpu",
	}}, func(p Progress) { costs = append(costs, p.ValidationCost) })
	if err != nil {
		t.Fatal(err)
	}
	// A network that does not learn is best at its first validation.
	if want := 40; r.Steps != want || len(costs) != 4 || r.Best != costs[0] {
		t.Errorf("it stopped after %d steps with costs %v and best %v, want after %d", r.Steps, fmt.Sprint(costs), r.Best, want)
	}
}
