//go:build native

package libtorch

import (
	"fmt"
	"math/rand/v2"

	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer/environment"
)

// model is a network under training. Its weights are one row of numbers, tensor
// after tensor in the order of Spec.Parameters.
type model struct {
	spec       networks.Spec
	parameters []networks.Parameter
	sizes      []int64
	weights    []float32
	inputs     networks.Normaliser
	history    networks.Normaliser
}

// newModel returns a model with weights of zero and the normalisation that the
// table asks for.
func newModel(spec networks.Spec, t *environment.Table) *model {
	m := &model{spec: spec, parameters: spec.Parameters()}
	m.inputs, m.history = t.Normalise()
	total := 0
	for _, p := range m.parameters {
		m.sizes = append(m.sizes, int64(p.Size()))
		total += p.Size()
	}
	m.weights = make([]float32, total)
	return m
}

// draw gives the model the weights with which training starts.
func (m *model) draw(r *rand.Rand) {
	initial := m.spec.Initial(r)
	w := m.weights
	for _, p := range m.parameters {
		w = w[copy(w, initial[p.Name].Data):]
	}
}

// export returns the tensors of the model with the given weights, which it does
// not copy.
func (m *model) export(weights []float32) map[string]safetensors.Tensor {
	tensors := m.spec.Normalisation(m.inputs, m.history)
	for _, p := range m.parameters {
		tensors[p.Name] = safetensors.Tensor{Shape: p.Shape, Data: weights[:p.Size()]}
		weights = weights[p.Size():]
	}
	return tensors
}

// outputs is what a forward pass gives for a batch of B moments.
type outputs struct {
	actions tensor // B x 2: costs or logits of wait and submit
	value   tensor // B: of an actor, else nil
	gate    tensor // B x experts: of a mixture, else nil
}

// forward is the network over a batch: inputs B x Inputs and, for a transformer,
// history B x Steps x Width, both normalised. It is networks.Network.Forward in
// libtorch's operations.
func (m *model) forward(p *pool, weights, inputs, history tensor, batch int64) outputs {
	out := m.learned(p, weights, inputs, history, batch)
	if m.spec.Prior == nil {
		return out
	}
	lean := p.scale(p.add(m.raw(p, inputs, m.spec.Prior.Input), m.raw(p, inputs, m.spec.LogPriceInput())), float64(m.spec.PriorLean()))
	out.actions = p.add(out.actions, p.concat(p.scale(lean, -1), lean))
	return out
}

// raw returns a column of the inputs as it was before the normalisation, B x 1.
func (m *model) raw(p *pool, inputs tensor, column int) tensor {
	x := p.narrow(inputs, 1, int64(column), 1)
	return p.add(p.scale(x, float64(m.inputs.Scale[column])), p.from([]float32{m.inputs.Mean[column]}, 1, 1))
}

// learned is what is trained of the network.
func (m *model) learned(p *pool, weights, inputs, history tensor, batch int64) outputs {
	named := m.named(p, weights)
	x := inputs
	if m.spec.Kind == networks.Transformer {
		x = p.concat(inputs, p.encode(m.spec.History, under(named, ""), history, batch))
	}
	if m.spec.Kind == networks.Mixture {
		return m.mixture(p, named, x, batch)
	}
	for i := range m.spec.Hidden {
		x = p.relu(m.one(p, named, layerName(i), x))
	}
	switch m.spec.Heads {
	case networks.Dueling:
		return outputs{actions: m.duel(p, m.one(p, named, "value", x), m.one(p, named, "advantage", x))}
	case networks.Actor:
		return outputs{
			actions: m.one(p, named, "output", x),
			value:   p.view(m.one(p, named, "value", x), batch),
		}
	}
	return outputs{actions: m.one(p, named, "output", x)}
}

// named cuts the weights into the tensors of the parameters.
func (m *model) named(p *pool, weights tensor) map[string]tensor {
	named := make(map[string]tensor, len(m.parameters))
	for i, part := range p.split(weights, m.sizes) {
		named[m.parameters[i].Name] = p.view(part, long(m.parameters[i].Shape)...)
	}
	return named
}

// one is the affine map of a trunk of one expert.
func (m *model) one(p *pool, named map[string]tensor, name string, x tensor) tensor {
	return p.linear(x, p.at(named[name+".weight"], 0, 0), p.at(named[name+".bias"], 0, 0))
}

// duel joins a value (... x 1) and advantages (... x 2): Wang et al., ICML 2016,
// equation 9.
func (m *model) duel(p *pool, value, advantage tensor) tensor {
	return p.add(value, p.sub(advantage, p.meanOver(advantage, -1, true)))
}

// mixture runs all experts at once, each operation over experts x batch x units.
func (m *model) mixture(p *pool, named map[string]tensor, x tensor, batch int64) outputs {
	experts := int64(m.spec.Experts)
	gate := m.gate(p, named, x)

	first := int64(m.spec.Hidden[0])
	inputs := int64(m.spec.Inputs())
	h := p.linear(x,
		p.view(named[layerName(0)+".weight"], experts*first, inputs),
		p.view(named[layerName(0)+".bias"], experts*first))
	h = p.relu(p.transpose(p.view(h, batch, experts, first), 0, 1))
	for i := 1; i < len(m.spec.Hidden); i++ {
		h = p.relu(m.each(p, named, layerName(i), h))
	}
	// The gate as experts x batch x 1.
	weights := p.view(p.transpose(gate, 0, 1), experts, batch, 1)
	mixed := func(head tensor) tensor { return p.sumOver(p.mul(weights, head), 0, false) }
	switch m.spec.Heads {
	case networks.Dueling:
		return outputs{gate: gate, actions: mixed(m.duel(p, m.each(p, named, "value", h), m.each(p, named, "advantage", h)))}
	case networks.Actor:
		return outputs{
			gate:    gate,
			actions: mixed(m.each(p, named, "output", h)),
			value:   p.view(mixed(m.each(p, named, "value", h)), batch),
		}
	}
	return outputs{gate: gate, actions: mixed(m.each(p, named, "output", h))}
}

// each is the affine map of every expert.
func (m *model) each(p *pool, named map[string]tensor, name string, h tensor) tensor {
	y := p.matmul(h, p.transpose(named[name+".weight"], 1, 2))
	return p.add(y, p.unsqueeze(named[name+".bias"], 1))
}

// gate is the softmax over the experts, from the inputs that it may see.
func (m *model) gate(p *pool, named map[string]tensor, x tensor) tensor {
	columns := make([]tensor, len(m.spec.Gate))
	for i, from := range m.spec.Gate {
		columns[i] = p.narrow(x, 1, int64(from), 1)
	}
	seen := p.concat(columns...)
	if m.spec.GateHidden > 0 {
		seen = p.relu(p.linear(seen, named["gate.hidden.weight"], named["gate.hidden.bias"]))
	}
	return p.softmax(p.linear(seen, named["gate.output.weight"], named["gate.output.bias"]))
}

func layerName(i int) string { return fmt.Sprintf("trunk.%d", i) }

func long(shape []int) []int64 {
	dims := make([]int64, len(shape))
	for i, d := range shape {
		dims[i] = int64(d)
	}
	return dims
}
