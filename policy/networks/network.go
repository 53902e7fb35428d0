package networks

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/safetensors"
)

// Network is a network ready to answer. It never changes, and may be used from
// several places at once, each with its own [Scratch].
type Network struct {
	spec    Spec
	inputs  Normaliser
	encoder *encoder // of a transformer
	gate    []linear // of a mixture, its output last
	experts []expert
}

// expert is the layers and heads of one network of the trunk.
type expert struct {
	layers []linear
	output linear // costs or logits; the advantages when dueling
	value  linear // when dueling
}

// New returns the network of a specification and its tensors: the parameters
// and the normalisation. It fails with kind [segue.Corrupt] when a tensor is
// missing, is not asked for, or has another shape, a number that is not finite,
// or a scale that is not above 0; and with [segue.Invalid] for a specification
// that nothing can be built from.
func New(spec Spec, tensors map[string]safetensors.Tensor) (*Network, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := spec.check(tensors); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "network tensors: %w", err)
	}
	n := &Network{
		spec:   spec,
		inputs: Normaliser{tensors[meanName].Data, tensors[scaleName].Data},
	}
	if spec.Kind == Transformer {
		n.encoder = newEncoder(spec.History, tensors)
	}
	if spec.Kind == Mixture {
		if spec.GateHidden > 0 {
			n.gate = append(n.gate, affineOf(tensors, "gate.hidden"))
		}
		n.gate = append(n.gate, affineOf(tensors, "gate.output"))
	}
	for k := range spec.ExpertCount() {
		n.experts = append(n.experts, spec.expert(tensors, k))
	}
	return n, nil
}

// check wants the tensors to be those of the specification, and no others.
func (s Spec) check(tensors map[string]safetensors.Tensor) error {
	want := s.Parameters()
	fixed := s.Normalisation(Normaliser{make([]float32, s.Inputs()), make([]float32, s.Inputs())}, s.emptyHistory())
	for name, t := range fixed {
		want = append(want, Parameter{Name: name, Shape: t.Shape})
	}
	return checkTensors(tensors, want, fmt.Sprintf("a %s with %s heads", s.Kind, s.Heads))
}

// checkTensors wants the tensors to be those of the parameters, all finite, and
// no others.
func checkTensors(tensors map[string]safetensors.Tensor, want []Parameter, what string) error {
	known := make(map[string]bool)
	for _, p := range want {
		known[p.Name] = true
		t, ok := tensors[p.Name]
		if !ok {
			return fmt.Errorf("%q is missing", p.Name)
		}
		if !slices.Equal(t.Shape, p.Shape) || len(t.Data) != p.Size() {
			return fmt.Errorf("%q has shape %v and %d numbers, want shape %v", p.Name, t.Shape, len(t.Data), p.Shape)
		}
		for i, v := range t.Data {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("%q has %v at place %d", p.Name, v, i)
			}
			if (p.Name == scaleName || p.Name == historyScaleName) && v <= 0 {
				return fmt.Errorf("%q has %v at place %d: want a scale above 0", p.Name, v, i)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if !known[name] {
			return fmt.Errorf("%q is none of %s", name, what)
		}
	}
	return nil
}

func (s Spec) emptyHistory() Normaliser {
	if s.Kind != Transformer {
		return Normaliser{}
	}
	return Identity(s.History.Width)
}

// expert returns the network of expert k.
func (s Spec) expert(tensors map[string]safetensors.Tensor, k int) expert {
	var e expert
	for i := range s.Hidden {
		e.layers = append(e.layers, affineOfExpert(tensors, fmt.Sprintf("trunk.%d", i), k))
	}
	switch s.Heads {
	case Dueling:
		e.output, e.value = affineOfExpert(tensors, "advantage", k), affineOfExpert(tensors, "value", k)
	default:
		e.output = affineOfExpert(tensors, "output", k)
	}
	return e
}

func affineOf(tensors map[string]safetensors.Tensor, name string) linear {
	w := tensors[name+".weight"]
	return linear{inputs: w.Shape[len(w.Shape)-1], weights: w.Data, bias: tensors[name+".bias"].Data}
}

// affineOfExpert is affineOf for tensors with the experts in front.
func affineOfExpert(tensors map[string]safetensors.Tensor, name string, k int) linear {
	w := tensors[name+".weight"]
	outputs, inputs := w.Shape[1], w.Shape[2]
	return linear{
		inputs:  inputs,
		weights: w.Data[k*outputs*inputs:][:outputs*inputs],
		bias:    tensors[name+".bias"].Data[k*outputs:][:outputs],
	}
}

// Spec returns the specification of the network.
func (n *Network) Spec() Spec { return n.spec }

// Submits reports whether the outputs of a network with such heads say submit:
// the lesser cost, or the greater logit. A tie submits: waiting must be worth
// something.
func (s Spec) Submits(out []float32) bool {
	if s.Heads == Actor {
		return out[Submit] >= out[Wait]
	}
	return out[Submit] <= out[Wait]
}
