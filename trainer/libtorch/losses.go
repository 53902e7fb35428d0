//go:build native

package libtorch

import "github.com/segue-project/segue/policy/networks"

// imbalance is a penalty for a gate that leaves experts unused: weight x
// experts x the sum of squares of their mean weights, which is least when all
// are used alike. A negative weight is none.
func (p *pool) imbalance(gate tensor, experts int, weight float64) tensor {
	mean := p.meanOver(gate, 0, false)
	return p.scale(p.sum(p.mul(mean, mean)), max(0, weight)*float64(experts))
}

// gap is what waiting costs more than submitting, of B x 2 costs.
func (p *pool) gap(costs tensor) tensor {
	return p.sub(p.at(costs, 1, networks.Wait), p.at(costs, 1, networks.Submit))
}

// number is the value of a tensor of one element.
func (p *pool) number(t tensor) float64 {
	var value [1]float32
	p.into(value[:], t)
	return float64(value[0])
}

// surrogate is the loss of proximal policy optimisation: minus the mean of the
// lesser of ratio x advantage and the same with the ratio clipped, where the
// ratio is of the probability of the action taken to what it was (Schulman et
// al., 2017, equation 7). Probabilities come as logarithms.
func (p *pool) surrogate(now, before, advantages tensor, share float64) tensor {
	ratio := p.exp(p.sub(now, before))
	lesser := p.minimum(p.mul(ratio, advantages), p.mul(p.clamp(ratio, 1-share, 1+share), advantages))
	return p.scale(p.mean(lesser), -1)
}
