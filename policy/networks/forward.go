package networks

import (
	"math"
	"slices"
)

// Scratch is the memory of a forward pass. After one, Gate holds the weights
// that a mixture gave its experts: positive, with sum 1. One Scratch serves one
// caller at a time.
type Scratch struct {
	Gate []float32 // as many as experts; nil unless it is a mixture

	input  []float32 // raw, for Decide
	joint  []float32 // normalised inputs, then the pooled history
	hidden [2][]float32
	gate   []float32 // what the gate sees, and its hidden layer
	out    [Outputs]float32
	code   *encoding
	coded  bool // joint holds a history
}

// NewScratch returns the memory for forward passes of n.
func (n *Network) NewScratch() *Scratch {
	s := &Scratch{
		input: make([]float32, 0, n.spec.Inputs()),
		joint: make([]float32, n.spec.trunkInputs()),
	}
	for i := range s.hidden {
		s.hidden[i] = make([]float32, slices.Max(n.spec.Hidden))
	}
	if n.spec.Kind == Mixture {
		s.Gate = make([]float32, n.spec.Experts)
		s.gate = make([]float32, len(n.spec.Gate)+n.spec.GateHidden)
	}
	if n.encoder != nil {
		s.code = newEncoding(n.spec.History)
	}
	return s
}

// Forward puts the two outputs for one moment into out. The input is raw, as
// [Input] makes it; the history is that of the Spec in rows, the oldest first,
// and is read by a transformer only. A nil history is the one of the call before
// with the same scratch, which need not be encoded again. It panics when they are
// too short.
func (n *Network) Forward(s *Scratch, input, history, out []float32) {
	width := n.spec.Inputs()
	n.inputs.Apply(s.joint[:width], input[:width])
	if n.encoder != nil && (history != nil || !s.coded) {
		n.encoder.encode(s.code, history, s.joint[width:])
		s.coded = true
	}
	if n.spec.Kind == Mixture {
		n.weigh(s)
		out[Wait], out[Submit] = 0, 0
		for k := range n.experts {
			n.experts[k].forward(s, s.out[:])
			out[Wait] += s.Gate[k] * s.out[Wait]
			out[Submit] += s.Gate[k] * s.out[Submit]
		}
	} else {
		n.experts[0].forward(s, out)
	}
	if n.spec.Prior != nil {
		lean := n.lean(s)
		out[Wait] -= lean
		out[Submit] += lean
	}
}

// lean returns what the prior adds to the output for submitting, and takes from
// the one for waiting.
func (n *Network) lean(s *Scratch) float32 {
	excess := float32(0)
	for _, i := range [2]int{n.spec.Prior.Input, n.spec.LogPriceInput()} {
		excess += s.joint[i]*n.inputs.Scale[i] + n.inputs.Mean[i]
	}
	return n.spec.PriorLean() * excess
}

// Decide says whether to submit now: state and history as [Network.Forward] and
// [Input] take them, the remaining hours of the current link, and the price in
// hours of interruption per hour of overlap. It puts the outputs into out.
func (n *Network) Decide(s *Scratch, state, history []float32, remaining, price float64, out []float32) (submit bool) {
	s.input = Input(s.input, state[:n.spec.State], remaining, price)
	n.Forward(s, s.input, history, out)
	return n.spec.Submits(out)
}

// weigh puts the gate's weights into s.Gate.
func (n *Network) weigh(s *Scratch) {
	seen, hidden := s.gate[:len(n.spec.Gate)], s.gate[len(n.spec.Gate):]
	for i, from := range n.spec.Gate {
		seen[i] = s.joint[from]
	}
	if n.spec.GateHidden > 0 {
		n.gate[0].apply(hidden, seen)
		rectify(hidden)
		seen = hidden
	}
	n.gate[len(n.gate)-1].apply(s.Gate, seen)
	softmax(s.Gate)
}

func (e *expert) forward(s *Scratch, out []float32) {
	x := s.joint
	for i := range e.layers {
		y := s.hidden[i%2][:len(e.layers[i].bias)]
		e.layers[i].apply(y, x)
		rectify(y)
		x = y
	}
	e.output.apply(out, x)
	if e.value.bias != nil {
		// The value plus the advantages, of which the mean is taken away: Wang et
		// al., ICML 2016, equation 9.
		shift := dot(e.value.weights, x) + e.value.bias[0] - (out[Wait]+out[Submit])/Outputs
		out[Wait] += shift
		out[Submit] += shift
	}
}

// nothing is a logarithm whose exponential is 0 as a float32.
const nothing = -104

// softmax turns logits into weights with sum 1.
func softmax(x []float32) {
	top := slices.Max(x)
	var sum float32
	for i, v := range x {
		if v-top < nothing { // common in attention to raw numbers
			x[i] = 0
			continue
		}
		x[i] = float32(math.Exp(float64(v - top)))
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
