//go:build native

package libtorch

import (
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
)

// regressor is a network of networks.Regressor under training. Its weights are
// one row of numbers, tensor after tensor in the order of the specification's
// parameters.
type regressor struct {
	spec       networks.RegressorSpec
	parameters []networks.Parameter
	sizes      []int64
	weights    []float32
}

func newRegressor(spec networks.RegressorSpec) *regressor {
	r := &regressor{spec: spec, parameters: spec.Parameters()}
	total := 0
	for _, p := range r.parameters {
		r.sizes = append(r.sizes, int64(p.Size()))
		total += p.Size()
	}
	r.weights = make([]float32, total)
	return r
}

// load gives it the weights of tensors.
func (r *regressor) load(tensors map[string]safetensors.Tensor) {
	w := r.weights
	for _, p := range r.parameters {
		w = w[copy(w, tensors[p.Name].Data):]
	}
}

// export returns the tensors of weights, which it does not copy.
func (r *regressor) export(weights []float32) map[string]safetensors.Tensor {
	tensors := make(map[string]safetensors.Tensor, len(r.parameters))
	for _, p := range r.parameters {
		tensors[p.Name] = safetensors.Tensor{Shape: p.Shape, Data: weights[:p.Size()]}
		weights = weights[p.Size():]
	}
	return tensors
}

// forward is networks.Regressor.Predict over a batch of B examples: B answers.
func (r *regressor) forward(p *pool, weights tensor, rows []float32, batch int64) tensor {
	named := make(map[string]tensor, len(r.parameters))
	for i, part := range p.split(weights, r.sizes) {
		named[r.parameters[i].Name] = p.view(part, long(r.parameters[i].Shape)...)
	}
	h := &r.spec.History
	history := p.from(rows, batch, int64(h.Steps), int64(h.Width))
	answers := make([]tensor, r.spec.Experts) // each B x 1
	for k := range answers {
		of := under(named, networks.ExpertPrefix(k))
		answers[k] = p.linear(p.encode(h, of, history, batch), of("output.weight"), of("output.bias"))
	}
	if r.spec.Experts == 1 {
		return p.view(answers[0], batch)
	}
	gate := p.linear(p.view(history, batch, int64(r.spec.Inputs())), named["gate.hidden.weight"], named["gate.hidden.bias"])
	gate = p.softmax(p.linear(gate, named["gate.output.weight"], named["gate.output.bias"]))
	return p.sumOver(p.mul(gate, p.concat(answers...)), 1, false)
}
