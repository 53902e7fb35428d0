package networks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/segue-project/segue"
)

// Kind is the architecture of a network.
type Kind string

// The kinds of networks.
const (
	MLP         Kind = "mlp"         // layers of rectified units
	Mixture     Kind = "moe"         // several such networks, weighed by a gate
	Transformer Kind = "transformer" // an encoder of the history before the layers
)

// Heads is the meaning of the two outputs, and how they come from the last
// hidden layer.
type Heads string

// The heads of a network.
const (
	Plain   Heads = "plain"   // costs to go of wait and submit, in [CostUnit]s
	Dueling Heads = "dueling" // the same as a value and centred advantages (Wang et al., ICML 2016)
	Actor   Heads = "actor"   // logits of wait and submit, and a value that only training reads
)

// Outputs is the number of outputs of a network.
const Outputs = 2

// The places of the outputs.
const (
	Wait = iota
	Submit
)

// Spec says how a network is built. It determines the names and shapes of its
// tensors ([Spec.Parameters]).
type Spec struct {
	Kind   Kind  `json:"kind"`
	Heads  Heads `json:"heads"`
	State  int   `json:"state"`  // width of a state, before [Input]
	Hidden []int `json:"hidden"` // widths of the hidden layers, of every expert

	// Of a mixture: the number of experts, the places among the inputs of what
	// the gate sees (the regime of load), and the width of its hidden layer, 0
	// for none.
	Experts    int   `json:"experts,omitempty"`
	Gate       []int `json:"gate,omitempty"`
	GateHidden int   `json:"gate_hidden,omitempty"`

	History *History `json:"history,omitempty"` // of a transformer

	// Prior is the rule from which learning starts; nil for none.
	Prior *Prior `json:"prior,omitempty"`
}

// Prior leans the outputs towards the newsvendor rule, which covers the quantile
// 1 / (1 + price) of the forecast wait ([segue.Preference.CriticalQuantile]):
// submit when the log-odds of a start before the current link ends are at most
// -log(price). What is trained comes on top, so that a network that has learned
// nothing decides by the rule.
type Prior struct {
	Input int     `json:"input"` // the place among the inputs of those log-odds
	Gain  float64 `json:"gain"`  // by which the outputs differ for log-odds of 1 too many
}

// History says how a transformer encodes what came before.
type History struct {
	Steps       int       `json:"steps"`        // rows, the oldest first
	Width       int       `json:"width"`        // of a row
	Model       int       `json:"model"`        // width inside the encoder, a multiple of Heads
	Heads       int       `json:"heads"`        // of attention
	Layers      int       `json:"layers"`       // of the encoder
	FeedForward int       `json:"feed_forward"` // width between the two maps that follow attention
	Positions   Positions `json:"positions"`
	Norm        Norm      `json:"norm,omitempty"`
	Pool        Pool      `json:"pool"`
}

// Positions is how a row's place in time is told to the encoder.
type Positions string

// The encodings of positions.
const (
	Learned    Positions = "learned"
	Sinusoidal Positions = "sinusoidal" // Vaswani et al., NeurIPS 2017, section 3.5
	None       Positions = "none"       // not at all: an encoder that does not tell the order of its rows
)

// Norm is where in a layer the rows are normalised.
type Norm string

// The places of the normalisation.
const (
	Before Norm = ""      // before each part of a layer, and once at the end (Xiong et al., ICML 2020)
	After  Norm = "after" // after each part, as in Vaswani et al., NeurIPS 2017
)

// Pool is how the encoded rows become one.
type Pool string

// The ways of pooling.
const (
	Mean Pool = "mean"
	Last Pool = "last" // the newest row
	All  Pool = "all"  // all rows side by side
)

// encoded is the width of what the encoded rows become.
func (h *History) encoded() int {
	if h.Pool == All {
		return h.Steps * h.Model
	}
	return h.Model
}

// ParseSpec reads a specification in JSON. A field that it does not know, text
// after the object, and a network that cannot be built are errors of kind
// [segue.Invalid].
func ParseSpec(text []byte) (Spec, error) {
	var s Spec
	if err := segue.UnmarshalStrict(text, &s); err != nil {
		return Spec{}, segue.Errorf(segue.Invalid, "read network specification: %w", err)
	}
	return s, s.Validate()
}

// Inputs is the number of inputs of the network: the state and what [Input]
// appends.
func (s Spec) Inputs() int { return s.State + ExtraInputs }

// trunkInputs is the number of inputs of the first hidden layer.
func (s Spec) trunkInputs() int {
	if s.Kind == Transformer {
		return s.Inputs() + s.History.encoded()
	}
	return s.Inputs()
}

// ExpertCount is the number of experts: 1 unless it is a mixture.
func (s Spec) ExpertCount() int {
	if s.Kind == Mixture {
		return s.Experts
	}
	return 1
}

// maxWidth bounds every number of a specification, so that a damaged one does
// not ask for all memory.
const maxWidth = 1 << 14

// maxGain bounds the gain of a prior.
const maxGain = 1000

// Validate returns an error of kind [segue.Invalid] that names the first field
// that no network can have.
func (s Spec) Validate() error {
	err := s.validate()
	if err != nil {
		err = segue.Errorf(segue.Invalid, "network specification: %w", err)
	}
	return err
}

func (s Spec) validate() error {
	if !slices.Contains([]Kind{MLP, Mixture, Transformer}, s.Kind) {
		return fmt.Errorf("kind is %q, want mlp, moe or transformer", s.Kind)
	}
	if !slices.Contains([]Heads{Plain, Dueling, Actor}, s.Heads) {
		return fmt.Errorf("heads is %q, want plain, dueling or actor", s.Heads)
	}
	if err := within("state", s.State, 1); err != nil {
		return err
	}
	if len(s.Hidden) < 1 || len(s.Hidden) > 8 {
		return fmt.Errorf("hidden has %d layers, want 1 to 8", len(s.Hidden))
	}
	for _, width := range s.Hidden {
		if err := within("hidden", width, 1); err != nil {
			return err
		}
	}
	if p := s.Prior; p != nil && (p.Input < 0 || p.Input >= s.State || !(p.Gain >= 0 && p.Gain <= maxGain)) {
		return fmt.Errorf("prior reads input %d with gain %v, want 0 to %d and 0 to %d", p.Input, p.Gain, s.State-1, maxGain)
	}
	if err := s.validateMixture(); err != nil {
		return err
	}
	return s.validateHistory()
}

func (s Spec) validateMixture() error {
	if s.Kind != Mixture {
		if s.Experts != 0 || len(s.Gate) != 0 || s.GateHidden != 0 {
			return fmt.Errorf("experts, gate and gate_hidden are for moe, not for %s", s.Kind)
		}
		return nil
	}
	if s.Experts < 2 || s.Experts > 64 {
		return fmt.Errorf("experts is %d, want 2 to 64", s.Experts)
	}
	if len(s.Gate) == 0 {
		return errors.New("gate is empty: it needs inputs to see")
	}
	for _, i := range s.Gate {
		if i < 0 || i >= s.Inputs() {
			return fmt.Errorf("gate names input %d, want 0 to %d", i, s.Inputs()-1)
		}
	}
	return within("gate_hidden", s.GateHidden, 0)
}

func (s Spec) validateHistory() error {
	if s.Kind != Transformer {
		if s.History != nil {
			return fmt.Errorf("history is for transformer, not for %s", s.Kind)
		}
		return nil
	}
	if s.History == nil {
		return errors.New("history is missing: a transformer encodes one")
	}
	return s.History.validate()
}

func (h *History) validate() error {
	for _, field := range []struct {
		name  string
		value int
	}{
		{"steps", h.Steps},
		{"width", h.Width},
		{"model", h.Model},
		{"heads", h.Heads},
		{"layers", h.Layers},
		{"feed_forward", h.FeedForward},
	} {
		if err := within("history."+field.name, field.value, 1); err != nil {
			return err
		}
	}
	if h.Model%h.Heads != 0 {
		return fmt.Errorf("history.model is %d, want a multiple of the %d heads", h.Model, h.Heads)
	}
	if h.Layers > 16 {
		return fmt.Errorf("history.layers is %d, want 1 to 16", h.Layers)
	}
	if !slices.Contains([]Positions{Learned, Sinusoidal, None}, h.Positions) {
		return fmt.Errorf("history.positions is %q, want learned, sinusoidal or none", h.Positions)
	}
	if h.Norm != Before && h.Norm != After {
		return fmt.Errorf("history.norm is %q, want nothing or after", h.Norm)
	}
	if !slices.Contains([]Pool{Mean, Last, All}, h.Pool) {
		return fmt.Errorf("history.pool is %q, want mean, last or all", h.Pool)
	}
	return nil
}

func within(name string, value, least int) error {
	if value < least || value > maxWidth {
		return fmt.Errorf("%s is %d, want %d to %d", name, value, least, maxWidth)
	}
	return nil
}
