package networks_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
)

// A network that has learned nothing decides by the newsvendor rule: submit when
// the odds of a start in time are at most 1 / price.
func TestPriorAloneIsTheNewsvendorRule(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	for _, spec := range []networks.Spec{
		{Kind: networks.MLP, Heads: networks.Dueling, State: 3, Hidden: []int{4}, Prior: &networks.Prior{Input: 1, Gain: 0.5}},
		{Kind: networks.MLP, Heads: networks.Actor, State: 3, Hidden: []int{4}, Prior: &networks.Prior{Input: 1, Gain: 2}},
		{Kind: networks.Mixture, Heads: networks.Plain, State: 3, Hidden: []int{4}, Experts: 2, Gate: []int{0}, Prior: &networks.Prior{Input: 1, Gain: 1}},
	} {
		inputs := networks.Identity(spec.Inputs())
		inputs.Mean[1], inputs.Scale[1] = 0.5, 2
		tensors := spec.Normalisation(inputs, networks.Normaliser{})
		for _, p := range spec.Parameters() {
			tensors[p.Name] = safetensors.Tensor{Shape: p.Shape, Data: make([]float32, p.Size())}
		}
		net, err := networks.New(spec, tensors)
		if err != nil {
			t.Fatal(err)
		}
		scratch, out := net.NewScratch(), make([]float32, networks.Outputs)
		for range 200 {
			price := math.Exp(r.NormFloat64())
			logit := r.NormFloat64() * 3
			state := []float32{float32(r.NormFloat64()), float32(logit), float32(r.NormFloat64())}
			want := logit <= -math.Log(price)
			if got := net.Decide(scratch, state, nil, 5, price, out); got != want && math.Abs(logit+math.Log(price)) > 1e-5 {
				t.Errorf("%s, %s: submit %t at odds of %.3f and a price of %.3f", spec.Kind, spec.Heads, got, math.Exp(logit), price)
			}
		}
	}
}
