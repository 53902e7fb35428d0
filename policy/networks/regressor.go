package networks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/safetensors"
)

// RegressorSpec says how a network is built that answers rows of raw numbers with
// one number: an encoder and an affine map of what it pools, or several such
// experts, whose answers a gate weighs. The gate is two affine maps of all rows
// side by side and nothing between them.
type RegressorSpec struct {
	History    History `json:"history"` // of every expert
	Experts    int     `json:"experts"`
	GateHidden int     `json:"gate_hidden,omitempty"` // width between the maps of the gate; 0 for one expert
}

// Validate returns an error of kind [segue.Invalid] that names the first field
// that no network can have.
func (s RegressorSpec) Validate() error {
	if err := s.validate(); err != nil {
		return segue.Errorf(segue.Invalid, "regressor specification: %w", err)
	}
	return nil
}

func (s RegressorSpec) validate() error {
	if err := s.History.validate(); err != nil {
		return err
	}
	switch {
	case s.Experts < 1 || s.Experts > 64:
		return fmt.Errorf("experts is %d, want 1 to 64", s.Experts)
	case s.Experts == 1 && s.GateHidden != 0:
		return errors.New("gate_hidden is for several experts, not for one")
	case s.Experts > 1:
		return within("gate_hidden", s.GateHidden, 1)
	}
	return nil
}

// Alone returns the specification of one of the experts.
func (s RegressorSpec) Alone() RegressorSpec { return RegressorSpec{History: s.History, Experts: 1} }

// Inputs is the number of numbers that it reads.
func (s RegressorSpec) Inputs() int { return s.History.Steps * s.History.Width }

// ExpertPrefix begins the names of the tensors of expert k.
func ExpertPrefix(k int) string { return fmt.Sprintf("experts.%d.", k) }

// Parameters returns what training changes, always in the same order.
func (s RegressorSpec) Parameters() []Parameter {
	var all []Parameter
	for k := range s.Experts {
		own := s.History.parameters()
		own = append(own, affine("output", 1, s.History.encoded(), headGain)...)
		for _, p := range own {
			p.Name = ExpertPrefix(k) + p.Name
			all = append(all, p)
		}
	}
	if s.Experts > 1 {
		all = append(all, affine("gate.hidden", s.GateHidden, s.Inputs(), 1)...)
		all = append(all, affine("gate.output", s.Experts, s.GateHidden, headGain)...)
	}
	return all
}

// Initial draws the parameters with which training starts, as [Spec.Initial]
// does.
func (s RegressorSpec) Initial(r *rand.Rand) map[string]safetensors.Tensor {
	return initial(s.Parameters(), r)
}

// Regressor is such a network ready to answer. It never changes, and may be used
// from several places at once, each with its own [RegressorScratch].
type Regressor struct {
	spec     RegressorSpec
	encoders []*encoder
	outputs  []linear
	gate     [2]linear // of several experts
}

// NewRegressor returns the network of a specification and its tensors. It refuses
// what [New] does.
func NewRegressor(spec RegressorSpec, tensors map[string]safetensors.Tensor) (*Regressor, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := checkTensors(tensors, spec.Parameters(), fmt.Sprintf("a regressor of %d experts", spec.Experts)); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "network tensors: %w", err)
	}
	n := &Regressor{spec: spec}
	for k := range spec.Experts {
		own := under(tensors, ExpertPrefix(k))
		n.encoders = append(n.encoders, newEncoder(&n.spec.History, own))
		n.outputs = append(n.outputs, affineOf(own, "output"))
	}
	if spec.Experts > 1 {
		n.gate = [2]linear{affineOf(tensors, "gate.hidden"), affineOf(tensors, "gate.output")}
	}
	return n, nil
}

// under returns the tensors whose names begin with a prefix, by the rest of
// their names.
func under(tensors map[string]safetensors.Tensor, prefix string) map[string]safetensors.Tensor {
	own := make(map[string]safetensors.Tensor)
	for name, t := range tensors {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			own[rest] = t
		}
	}
	return own
}

// Spec returns the specification of the network.
func (n *Regressor) Spec() RegressorSpec { return n.spec }

// RegressorScratch is the memory of a forward pass. After one, Gate holds the
// weights of the experts.
type RegressorScratch struct {
	Gate []float32 // as many as experts; nil for one

	hidden  []float32 // of the gate
	code    *encoding
	encoded []float32
	out     [1]float32
}

// NewScratch returns the memory for forward passes of n.
func (n *Regressor) NewScratch() *RegressorScratch {
	s := &RegressorScratch{code: newEncoding(&n.spec.History), encoded: make([]float32, n.spec.History.encoded())}
	if n.spec.Experts > 1 {
		s.Gate, s.hidden = make([]float32, n.spec.Experts), make([]float32, n.spec.GateHidden)
	}
	return s
}

// Predict returns the answer to rows, the oldest first. It panics when they are
// too short, and does not allocate.
func (n *Regressor) Predict(s *RegressorScratch, rows []float32) float32 {
	if n.spec.Experts == 1 {
		return n.ask(0, s, rows)
	}
	n.gate[0].apply(s.hidden, rows)
	n.gate[1].apply(s.Gate, s.hidden)
	softmax(s.Gate)
	var sum float32
	for k, weight := range s.Gate {
		sum += weight * n.ask(k, s, rows)
	}
	return sum
}

// ask returns the answer of expert k.
func (n *Regressor) ask(k int, s *RegressorScratch, rows []float32) float32 {
	n.encoders[k].encode(s.code, rows, s.encoded)
	n.outputs[k].apply(s.out[:], s.encoded)
	return s.out[0]
}
