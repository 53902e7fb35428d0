package networks

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/segue-project/segue/policy/safetensors"
)

// Parameter is a tensor that training changes.
type Parameter struct {
	Name  string
	Shape []int

	fanIn int     // number of inputs of each unit, 0 for what is not drawn
	gain  float64 // by which the spread at the start differs from He's
	start float32 // of what is not drawn
}

// Size is the number of elements.
func (p Parameter) Size() int {
	n := 1
	for _, d := range p.Shape {
		n *= d
	}
	return n
}

// The names of the tensors that training does not change: the mean and the
// spread of every input, and of every column of the history.
const (
	meanName         = "inputs.mean"
	scaleName        = "inputs.scale"
	historyMeanName  = "history.mean"
	historyScaleName = "history.scale"
)

// headGain makes the outputs small at the start, so that no action is
// preferred before anything was learned.
const headGain = 0.1

// Parameters returns what training changes, always in the same order. Matrices
// have a row per output. Those of the trunk and its heads have one dimension
// more in front: the expert.
func (s Spec) Parameters() []Parameter {
	var all []Parameter
	if s.Kind == Transformer {
		all = append(all, s.History.parameters()...)
	}
	if s.Kind == Mixture {
		width := len(s.Gate)
		if s.GateHidden > 0 {
			all = append(all, affine("gate.hidden", s.GateHidden, width, 1)...)
			width = s.GateHidden
		}
		all = append(all, affine("gate.output", s.Experts, width, headGain)...)
	}
	experts := s.ExpertCount()
	width := s.trunkInputs()
	for i, hidden := range s.Hidden {
		all = append(all, byExpert(experts, affine(fmt.Sprintf("trunk.%d", i), hidden, width, 1))...)
		width = hidden
	}
	gain := headGain
	if s.Prior != nil {
		gain = 0 // the prior alone
	}
	for _, head := range s.heads() {
		all = append(all, byExpert(experts, affine(head.name, head.outputs, width, gain))...)
	}
	return all
}

type head struct {
	name    string
	outputs int
}

// heads are the last maps of an expert.
func (s Spec) heads() []head {
	switch s.Heads {
	case Dueling:
		return []head{{"value", 1}, {"advantage", Outputs}}
	case Actor:
		return []head{{"output", Outputs}, {"value", 1}}
	}
	return []head{{"output", Outputs}}
}

func (h *History) parameters() []Parameter {
	all := affine("embed", h.Model, h.Width, 1)
	if h.Positions == Learned {
		// Small beside the rows that they are added to.
		all = append(all, Parameter{Name: "positions", Shape: []int{h.Steps, h.Model}, fanIn: h.Model, gain: 0.5})
	}
	for i := range h.Layers {
		layer := func(name string) string { return fmt.Sprintf("layers.%d.%s", i, name) }
		all = append(all, normal(layer("norm1"), h.Model)...)
		all = append(all, affine(layer("attention.in"), 3*h.Model, h.Model, math.Sqrt2/2)...)
		all = append(all, affine(layer("attention.out"), h.Model, h.Model, math.Sqrt2/2)...)
		all = append(all, normal(layer("norm2"), h.Model)...)
		all = append(all, affine(layer("feed.in"), h.FeedForward, h.Model, 1)...)
		all = append(all, affine(layer("feed.out"), h.Model, h.FeedForward, math.Sqrt2/2)...)
	}
	if h.Norm == After {
		return all
	}
	return append(all, normal("final", h.Model)...)
}

// affine returns the two parameters of a map to outputs from inputs.
func affine(name string, outputs, inputs int, gain float64) []Parameter {
	return []Parameter{
		{Name: name + ".weight", Shape: []int{outputs, inputs}, fanIn: inputs, gain: gain},
		{Name: name + ".bias", Shape: []int{outputs}},
	}
}

// byExpert puts the dimension of the experts in front.
func byExpert(experts int, parameters []Parameter) []Parameter {
	for i, p := range parameters {
		parameters[i].Shape = append([]int{experts}, p.Shape...)
	}
	return parameters
}

// normal returns the two parameters of a layer's normalisation.
func normal(name string, width int) []Parameter {
	return []Parameter{
		{Name: name + ".weight", Shape: []int{width}, start: 1},
		{Name: name + ".bias", Shape: []int{width}},
	}
}

// Initial draws the parameters with which training starts: normal with variance
// 2 / inputs (He et al., ICCV 2015), smaller at the heads; biases at zero. The
// tensors of the normalisation are not among them.
func (s Spec) Initial(r *rand.Rand) map[string]safetensors.Tensor {
	return initial(s.Parameters(), r)
}

func initial(parameters []Parameter, r *rand.Rand) map[string]safetensors.Tensor {
	tensors := make(map[string]safetensors.Tensor)
	for _, p := range parameters {
		data := make([]float32, p.Size())
		for i := range data {
			data[i] = p.start
			if p.fanIn > 0 {
				data[i] = float32(r.NormFloat64() * p.gain * math.Sqrt(2/float64(p.fanIn)))
			}
		}
		tensors[p.Name] = safetensors.Tensor{Shape: p.Shape, Data: data}
	}
	return tensors
}
