package networks

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/safetensors"
)

// smallRegressor is a regressor of few units.
func smallRegressor(experts int) RegressorSpec {
	spec := RegressorSpec{Experts: experts, History: History{
		Steps: 4, Width: 3, Model: 8, Heads: 2, Layers: 2, FeedForward: 6, Positions: None, Norm: After, Pool: All,
	}}
	if experts > 1 {
		spec.GateHidden = 5
	}
	return spec
}

func TestRegressorByHand(t *testing.T) {
	t.Parallel()
	spec := RegressorSpec{Experts: 1, History: History{
		Steps: 2, Width: 1, Model: 2, Heads: 1, Layers: 1, FeedForward: 1, Positions: None, Norm: After, Pool: All,
	}}
	tensors := spec.Initial(rand.New(rand.NewPCG(1, 1)))
	for name, t := range tensors { // attention and the feed-forward part give nothing
		if !strings.Contains(name, "norm") {
			tensors[name] = safetensors.Tensor{Shape: t.Shape, Data: make([]float32, len(t.Data))}
		}
	}
	tensors["experts.0.embed.weight"] = tensor([]float32{1, -1}, 2, 1)
	// A row of x and -x becomes 1 and -1 once normalised, for x far above 0.
	tensors["experts.0.output.weight"] = tensor([]float32{1, 2, 10, 20}, 1, 4)
	tensors["experts.0.output.bias"] = tensor([]float32{0.5}, 1)
	net, err := NewRegressor(spec, tensors)
	if err != nil {
		t.Fatal(err)
	}
	got := net.Predict(net.NewScratch(), []float32{1000, -3000})
	if want := 1.0 - 2 - 10 + 20 + 0.5; math.Abs(float64(got)-want) > 1e-4 {
		t.Errorf("the answer is %v, want %v", got, want)
	}
}

func TestRegressorOfSeveralExpertsIsTheirGatedSum(t *testing.T) {
	t.Parallel()
	spec := smallRegressor(3)
	tensors := spec.Initial(rand.New(rand.NewPCG(1, 2)))
	net, err := NewRegressor(spec, tensors)
	if err != nil {
		t.Fatal(err)
	}
	rows := randomRow(spec.Inputs())
	scratch := net.NewScratch()
	got := net.Predict(scratch, rows)
	var want, sum float32
	for k, weight := range scratch.Gate {
		own := make(map[string]safetensors.Tensor)
		for _, p := range spec.Alone().Parameters() {
			own[p.Name] = tensors[strings.Replace(p.Name, ExpertPrefix(0), ExpertPrefix(k), 1)]
		}
		expert, err := NewRegressor(spec.Alone(), own)
		if err != nil {
			t.Fatal(err)
		}
		want += weight * expert.Predict(expert.NewScratch(), rows)
		sum += weight
	}
	if math.Abs(float64(got-want)) > 1e-6 || math.Abs(float64(sum-1)) > 1e-6 {
		t.Errorf("the answer is %v with weights of sum %v, want %v and 1", got, sum, want)
	}
}

func TestEncoderWithoutPositionsDoesNotTellTheOrder(t *testing.T) {
	t.Parallel()
	spec := smallRegressor(1)
	spec.History.Pool = Mean
	net, err := NewRegressor(spec, spec.Initial(rand.New(rand.NewPCG(1, 2))))
	if err != nil {
		t.Fatal(err)
	}
	rows := randomRow(spec.Inputs())
	width := spec.History.Width
	turned := slices.Concat(rows[3*width:], rows[2*width:3*width], rows[width:2*width], rows[:width])
	scratch := net.NewScratch()
	got := []float32{net.Predict(scratch, rows), net.Predict(scratch, turned)}
	if diff := cmp.Diff(got[0], got[1], approximately); diff != "" {
		t.Errorf("the rows turned round give another answer:\n%s", diff)
	}
}

func TestRegressorIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*RegressorSpec, map[string]safetensors.Tensor)
		want   string
		kind   segue.Kind
	}{
		"no expert":           {func(s *RegressorSpec, _ map[string]safetensors.Tensor) { s.Experts = 0 }, "experts is 0", segue.Invalid},
		"a gate for one":      {func(s *RegressorSpec, _ map[string]safetensors.Tensor) { s.Experts = 1 }, "gate_hidden is for several", segue.Invalid},
		"a gate of nothing":   {func(s *RegressorSpec, _ map[string]safetensors.Tensor) { s.GateHidden = 0 }, "gate_hidden is 0", segue.Invalid},
		"an unknown norm":     {func(s *RegressorSpec, _ map[string]safetensors.Tensor) { s.History.Norm = "between" }, `history.norm is "between"`, segue.Invalid},
		"an unknown pool":     {func(s *RegressorSpec, _ map[string]safetensors.Tensor) { s.History.Pool = "first" }, `history.pool is "first"`, segue.Invalid},
		"a missing tensor":    {func(_ *RegressorSpec, m map[string]safetensors.Tensor) { delete(m, "experts.1.output.bias") }, `"experts.1.output.bias" is missing`, segue.Corrupt},
		"one expert too many": {func(s *RegressorSpec, _ map[string]safetensors.Tensor) { s.Experts = 2 }, "want shape", segue.Corrupt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := smallRegressor(3)
			tensors := spec.Initial(rand.New(rand.NewPCG(1, 2)))
			tt.change(&spec, tensors)
			_, err := NewRegressor(spec, tensors)
			if err == nil || !strings.Contains(err.Error(), tt.want) || segue.KindOf(err) != tt.kind {
				t.Errorf("error is %v, want one of kind %s with %q", err, tt.kind, tt.want)
			}
		})
	}
}

// It counts the allocations of the whole process, and so runs alone.
func TestPredictAllocatesNothing(t *testing.T) {
	for _, experts := range []int{1, 3} {
		spec := smallRegressor(experts)
		net, err := NewRegressor(spec, spec.Initial(rand.New(rand.NewPCG(1, 2))))
		if err != nil {
			t.Fatal(err)
		}
		scratch, rows := net.NewScratch(), randomRow(spec.Inputs())
		if n := testing.AllocsPerRun(10, func() { net.Predict(scratch, rows) }); n != 0 {
			t.Errorf("an answer of %d experts allocates %v times, want none", experts, n)
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	for name, spec := range map[string]RegressorSpec{
		"transformer, width 16": {Experts: 1, History: History{Model: 16, Heads: 2, Layers: 2, FeedForward: 4}},
		"transformer, width 32": {Experts: 1, History: History{Model: 32, Heads: 2, Layers: 2, FeedForward: 8}},
		"mixture, width 16":     {Experts: 10, GateHidden: 32, History: History{Model: 16, Heads: 1, Layers: 1, FeedForward: 4}},
	} {
		h := &spec.History
		h.Steps, h.Width, h.Positions, h.Norm, h.Pool = 144, 42, None, After, All
		b.Run(name, func(b *testing.B) {
			net, err := NewRegressor(spec, spec.Initial(rand.New(rand.NewPCG(1, 2))))
			if err != nil {
				b.Fatal(err)
			}
			scratch, rows := net.NewScratch(), randomRow(spec.Inputs())
			for b.Loop() {
				net.Predict(scratch, rows)
			}
		})
	}
}
