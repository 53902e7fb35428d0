package networks

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/safetensors"
)

// built returns the network of a specification with drawn parameters and
// normalisers that only clip.
func built(tb testing.TB, spec Spec) *Network {
	tb.Helper()
	net, err := New(spec, drawn(spec))
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

func drawn(spec Spec) map[string]safetensors.Tensor {
	tensors := spec.Initial(rand.New(rand.NewPCG(1, 2)))
	var history Normaliser
	if spec.History != nil {
		history = Identity(spec.History.Width)
	}
	maps.Copy(tensors, spec.Normalisation(Identity(spec.Inputs()), history))
	return tensors
}

// tensor returns a tensor of a shape.
func tensor(data []float32, shape ...int) safetensors.Tensor {
	return safetensors.Tensor{Shape: shape, Data: data}
}

var approximately = cmpopts.EquateApprox(0, 1e-6)

// byHand is a network of one state, one input of which is used: the hidden
// units are max(0, x) and max(0, -x).
func byHand(heads Heads) (Spec, map[string]safetensors.Tensor) {
	spec := Spec{Kind: MLP, Heads: heads, State: 1, Hidden: []int{2}}
	tensors := drawn(spec)
	tensors[meanName] = tensor([]float32{1, 0, 0, 0, 0}, 5)
	tensors[scaleName] = tensor([]float32{2, 1, 1, 1, 1}, 5)
	tensors["trunk.0.weight"] = tensor([]float32{1, 0, 0, 0, 0, -1, 0, 0, 0, 0}, 1, 2, 5)
	tensors["trunk.0.bias"] = tensor([]float32{0, 0}, 1, 2)
	return spec, tensors
}

func TestForwardIsWhatOneWorksOutByHand(t *testing.T) {
	t.Parallel()
	head := func(weights ...float32) safetensors.Tensor { return tensor(weights, 1, 2, 2) }
	tests := map[string]struct {
		heads   Heads
		tensors map[string]safetensors.Tensor
		x       float32
		want    []float32
	}{
		"plain: (5-1)/2 = 2, units 2 and 0": {
			Plain,
			map[string]safetensors.Tensor{"output.weight": head(3, 1, -1, 1), "output.bias": tensor([]float32{0.5, 0}, 1, 2)},
			5,
			[]float32{6.5, -2},
		},
		"plain: (-3-1)/2 = -2, units 0 and 2": {
			Plain,
			map[string]safetensors.Tensor{"output.weight": head(3, 1, -1, 1), "output.bias": tensor([]float32{0.5, 0}, 1, 2)},
			-3,
			[]float32{2.5, 2},
		},
		"far away: clipped at 5": {
			Plain,
			map[string]safetensors.Tensor{"output.weight": head(3, 1, -1, 1), "output.bias": tensor([]float32{0, 0}, 1, 2)},
			1e30,
			[]float32{15, -5},
		},
		"unknown: the mean": {
			Plain,
			map[string]safetensors.Tensor{"output.weight": head(3, 1, -1, 1), "output.bias": tensor([]float32{1, 2}, 1, 2)},
			float32(math.NaN()),
			[]float32{1, 2},
		},
		"dueling: value 2, advantages 6 and -2 less their mean": {
			Dueling,
			map[string]safetensors.Tensor{
				"advantage.weight": head(3, 0, -1, 0), "advantage.bias": tensor([]float32{0, 0}, 1, 2),
				"value.weight": tensor([]float32{0.5, 0}, 1, 1, 2), "value.bias": tensor([]float32{1}, 1, 1),
			},
			5,
			[]float32{6, -2},
		},
		"actor: the value is left alone": {
			Actor,
			map[string]safetensors.Tensor{
				"output.weight": head(3, 0, -1, 0), "output.bias": tensor([]float32{0, 0}, 1, 2),
				"value.weight": tensor([]float32{100, 0}, 1, 1, 2), "value.bias": tensor([]float32{100}, 1, 1),
			},
			5,
			[]float32{6, -2},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, tensors := byHand(tt.heads)
			maps.Copy(tensors, tt.tensors)
			net, err := New(spec, tensors)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, Outputs)
			net.Decide(net.NewScratch(), []float32{tt.x}, nil, 3, 0.25, got)
			if diff := cmp.Diff(tt.want, got, approximately); diff != "" {
				t.Errorf("outputs differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMixtureIsTheGatedSumOfItsExperts(t *testing.T) {
	t.Parallel()
	spec := small(Mixture, Dueling)
	tensors := drawn(spec)
	net, err := New(spec, tensors)
	if err != nil {
		t.Fatal(err)
	}
	state := []float32{0.3, -1, 2}
	scratch := net.NewScratch()
	got := make([]float32, Outputs)
	net.Decide(scratch, state, nil, 7, 1, got)

	want := make([]float32, Outputs)
	var sum float32
	for k, weight := range scratch.Gate {
		alone := Spec{Kind: MLP, Heads: spec.Heads, State: spec.State, Hidden: spec.Hidden}
		own := alone.Normalisation(Identity(spec.Inputs()), Normaliser{})
		for _, p := range alone.Parameters() {
			all := tensors[p.Name].Data
			size := len(all) / spec.Experts
			own[p.Name] = safetensors.Tensor{Shape: p.Shape, Data: all[k*size:][:size]}
		}
		expert, err := New(alone, own)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, Outputs)
		expert.Decide(expert.NewScratch(), state, nil, 7, 1, out)
		for i := range want {
			want[i] += weight * out[i]
		}
		sum += weight
	}
	if diff := cmp.Diff(want, got, approximately); diff != "" {
		t.Errorf("outputs differ (-want +got):\n%s", diff)
	}
	if math.Abs(float64(sum-1)) > 1e-6 {
		t.Errorf("the gate's weights sum up to %v, want 1", sum)
	}
}

func TestTransformerTellsTheOrderOfItsHistory(t *testing.T) {
	t.Parallel()
	for _, positions := range []Positions{Learned, Sinusoidal} {
		t.Run(string(positions), func(t *testing.T) {
			t.Parallel()
			spec := small(Transformer, Plain)
			spec.History.Positions = positions
			net := built(t, spec)
			rows := randomRow(spec.History.Steps * spec.History.Width)
			turned := slices.Clone(rows)
			slices.Reverse(turned)
			same := answer(net, rows)
			if diff := cmp.Diff(same, answer(net, rows)); diff != "" {
				t.Errorf("the same history gives another answer:\n%s", diff)
			}
			if cmp.Equal(same, answer(net, turned), cmpopts.EquateApprox(0, 1e-4)) {
				t.Error("the history turned round gives the same answer")
			}
		})
	}
}

func TestTransformerGoesOnWithTheHistoryThatItHas(t *testing.T) {
	t.Parallel()
	spec := small(Transformer, Plain)
	net := built(t, spec)
	first := randomRow(spec.History.Steps * spec.History.Width)
	second := slices.Clone(first)
	slices.Reverse(second)
	scratch, state, out := net.NewScratch(), randomRow(spec.State), make([]float32, Outputs)
	for _, history := range [][]float32{first, second} {
		net.Decide(scratch, state, history, 5, 1, out)
		net.Decide(scratch, state, nil, 7, 1, out)
		if diff := cmp.Diff(answer(net, history), out); diff != "" {
			t.Errorf("without the history it answers otherwise than with it (-with +without):\n%s", diff)
		}
	}
}

func answer(net *Network, history []float32) []float32 {
	out := make([]float32, Outputs)
	net.Decide(net.NewScratch(), randomRow(net.Spec().State), history, 7, 1, out)
	return out
}

func randomRow(n int) []float32 {
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// small is a network of few units.
func small(kind Kind, heads Heads) Spec {
	spec := Spec{Kind: kind, Heads: heads, State: 3, Hidden: []int{6, 5}}
	switch kind {
	case Mixture:
		spec.Experts, spec.Gate, spec.GateHidden = 3, []int{0, 2, 4}, 4
	case Transformer:
		spec.History = &History{
			Steps: 4, Width: 3, Model: 8, Heads: 2, Layers: 2, FeedForward: 6, Positions: Learned, Pool: Mean,
		}
	}
	return spec
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	tests := map[string]struct {
		spoil func(map[string]safetensors.Tensor)
		want  string
	}{
		"a missing tensor":      {func(m map[string]safetensors.Tensor) { delete(m, "trunk.1.bias") }, `"trunk.1.bias" is missing`},
		"a tensor of nothing":   {func(m map[string]safetensors.Tensor) { m["gate"] = tensor(nil, 0) }, `"gate" is none of a mlp`},
		"another shape":         {func(m map[string]safetensors.Tensor) { m["trunk.1.bias"] = tensor(make([]float32, 5), 5) }, "want shape [1 5]"},
		"data that do not fill": {func(m map[string]safetensors.Tensor) { m["trunk.1.bias"] = tensor(make([]float32, 4), 1, 5) }, "4 numbers"},
		"a weight of NaN":       {func(m map[string]safetensors.Tensor) { m["value.bias"] = tensor([]float32{nan}, 1, 1) }, `"value.bias" has NaN`},
		"a scale of 0":          {func(m map[string]safetensors.Tensor) { m[scaleName].Data[2] = 0 }, "want a scale above 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := small(MLP, Dueling)
			tensors := drawn(spec)
			tt.spoil(tensors)
			_, err := New(spec, tensors)
			if err == nil || !strings.Contains(err.Error(), tt.want) || segue.KindOf(err) != segue.Corrupt {
				t.Errorf("error is %v, want a corrupt network with %q", err, tt.want)
			}
		})
	}
}

func TestSubmitsAtTheLesserCostOrTheGreaterLogit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		heads Heads
		out   []float32
		want  bool
	}{
		"waiting is cheaper":        {Dueling, []float32{1, 2}, false},
		"submitting is cheaper":     {Plain, []float32{2, 1}, true},
		"both cost the same":        {Plain, []float32{1, 1}, true},
		"waiting is more likely":    {Actor, []float32{2, 1}, false},
		"submitting is more likely": {Actor, []float32{1, 2}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (Spec{Heads: tt.heads}).Submits(tt.out); got != tt.want {
				t.Errorf("submits is %v, want %v", got, tt.want)
			}
		})
	}
}

// It counts the allocations of the whole process, and so runs alone.
func TestDecideAllocatesNothing(t *testing.T) {
	for _, kind := range []Kind{MLP, Mixture, Transformer} {
		spec := small(kind, Dueling)
		net := built(t, spec)
		scratch, out := net.NewScratch(), make([]float32, Outputs)
		state := randomRow(spec.State)
		var history []float32
		if spec.History != nil {
			history = randomRow(spec.History.Steps * spec.History.Width)
		}
		if n := testing.AllocsPerRun(10, func() { net.Decide(scratch, state, history, 3, 0.25, out) }); n != 0 {
			t.Errorf("a decision of a %s allocates %v times, want none", kind, n)
		}
	}
}

// BenchmarkForward is of the sizes that segue-trainer trains by default, and of
// larger ones.
func BenchmarkForward(b *testing.B) {
	encoder := &History{
		Steps: 24, Width: 24, Model: 64, Heads: 4, Layers: 2, FeedForward: 128, Positions: Sinusoidal, Pool: Mean,
	}
	trained := &History{Steps: 24, Width: 15, Model: 16, Heads: 2, Layers: 1, FeedForward: 32, Positions: Learned, Pool: Last}
	gate := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	prior := &Prior{Input: 25, Gain: 0.2}
	for _, bm := range []struct {
		name string
		spec Spec
	}{
		{"trained", Spec{Kind: MLP, Heads: Dueling, State: 28, Hidden: []int{64, 64}, Prior: prior}},
		{"trained", Spec{Kind: Mixture, Heads: Dueling, State: 28, Hidden: []int{32, 32}, Experts: 4, Gate: gate, GateHidden: 16, Prior: prior}},
		{"trained", Spec{Kind: Transformer, Heads: Actor, State: 28, Hidden: []int{32}, History: trained, Prior: prior}},
		{"larger", Spec{Kind: MLP, Heads: Dueling, State: 92, Hidden: []int{128, 128}}},
		{"larger", Spec{Kind: Mixture, Heads: Dueling, State: 92, Hidden: []int{64, 64}, Experts: 4, Gate: gate, GateHidden: 16}},
		{"larger", Spec{Kind: Mixture, Heads: Dueling, State: 92, Hidden: []int{64, 64}, Experts: 8, Gate: gate, GateHidden: 16}},
		{"larger", Spec{Kind: Transformer, Heads: Actor, State: 92, Hidden: []int{128}, History: encoder}},
	} {
		b.Run(fmt.Sprintf("%s-%s-%d", bm.name, bm.spec.Kind, bm.spec.ExpertCount()), func(b *testing.B) {
			net := built(b, bm.spec)
			scratch, out := net.NewScratch(), make([]float32, Outputs)
			input := randomRow(bm.spec.Inputs())
			var history []float32
			if h := bm.spec.History; h != nil {
				history = randomRow(h.Steps * h.Width)
			}
			b.ReportAllocs()
			for b.Loop() {
				net.Forward(scratch, input, history, out)
			}
		})
	}
}
