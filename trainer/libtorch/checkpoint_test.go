//go:build native

package libtorch

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer/environment"
)

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

// withSum is what a file of this content is.
func withSum(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(content, sum[:]...)
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	train := trainings()["mixture, DQN"].run
	good := filepath.Join(t.TempDir(), "good")
	if _, err := train(t.Context(), good, false, nil); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Decode(b[:len(b)-sha256.Size])
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file []byte
		kind segue.Kind
		want string
	}{
		"an empty file": {nil, segue.Corrupt, "SHA-256"},
		"half a file":   {b[:len(b)/2], segue.Corrupt, "SHA-256"},
		"no checkpoint": {
			withSum(safetensors.Encode(f.Tensors, nil)), segue.Corrupt, "read checkpoint",
		},
		"another training": {
			withSum(safetensors.Encode(f.Tensors, map[string]string{
				checkpointKey: strings.Replace(f.Metadata[checkpointKey], `"Fingerprint":"`, `"Fingerprint":"x`, 1),
			})), segue.Conflict, "is of another training",
		},
		"a missing row of numbers": {
			withSum(safetensors.Encode(map[string]safetensors.Tensor{}, f.Metadata)), segue.Corrupt, "has 0 numbers",
		},
	}
	for k := range 16 {
		flipped := bytes.Clone(b)
		flipped[(2*k+1)*len(b)/32] ^= 1 << (k % 8)
		tests[fmt.Sprintf("a flipped bit in part %d of 16", k+1)] = struct {
			file []byte
			kind segue.Kind
			want string
		}{flipped, segue.Corrupt, "SHA-256"}
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
