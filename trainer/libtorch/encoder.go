//go:build native

package libtorch

import (
	"fmt"
	"math"

	"github.com/segue-project/segue/policy/networks"
)

// parts finds the tensors of a part of a network by their names in it.
type parts func(name string) tensor

// under returns the tensors whose names begin with a prefix.
func under(named map[string]tensor, prefix string) parts {
	return func(name string) tensor { return named[prefix+name] }
}

// layer returns the tensors of a layer.
func (of parts) layer(i int) parts {
	return func(name string) tensor { return of(fmt.Sprintf("layers.%d.%s", i, name)) }
}

// encode is networks' encoder over a batch of B histories, B x steps x width: what
// is pooled of them, B x model, or B x (steps x model) of all rows.
func (p *pool) encode(h *networks.History, of parts, history tensor, batch int64) tensor {
	width := int64(h.Model)
	x := p.linear(history, of("embed.weight"), of("embed.bias"))
	switch h.Positions {
	case networks.Learned:
		x = p.add(x, of("positions"))
	case networks.Sinusoidal:
		x = p.add(x, p.from(networks.Sinusoids(h.Steps, h.Model), int64(h.Steps), width))
	}
	for i := range h.Layers {
		layer := of.layer(i)
		x = p.part(h, layer, "norm1", x, func(y tensor) tensor { return p.attend(h, layer, y, batch) })
		x = p.part(h, layer, "norm2", x, func(y tensor) tensor {
			y = p.relu(p.linear(y, layer("feed.in.weight"), layer("feed.in.bias")))
			return p.linear(y, layer("feed.out.weight"), layer("feed.out.bias"))
		})
	}
	if h.Norm == networks.Before {
		x = p.normalise(h, of, "final", x)
	}
	switch h.Pool {
	case networks.Last:
		return p.at(x, 1, int64(h.Steps-1))
	case networks.All:
		return p.view(x, batch, int64(h.Steps)*width)
	}
	return p.meanOver(x, 1, false)
}

// part adds to x what f makes of it, and normalises before or after.
func (p *pool) part(h *networks.History, of parts, norm string, x tensor, f func(tensor) tensor) tensor {
	if h.Norm == networks.After {
		return p.normalise(h, of, norm, p.add(x, f(x)))
	}
	return p.add(x, f(p.normalise(h, of, norm, x)))
}

func (p *pool) normalise(h *networks.History, of parts, norm string, x tensor) tensor {
	return p.layerNorm(x, of(norm+".weight"), of(norm+".bias"), int64(h.Model), networks.Epsilon)
}

// attend is multi-head attention of the rows to each other.
func (p *pool) attend(h *networks.History, of parts, x tensor, batch int64) tensor {
	steps, heads, width := int64(h.Steps), int64(h.Heads), int64(h.Model/h.Heads)
	all := p.linear(x, of("attention.in.weight"), of("attention.in.bias"))
	// 3 x B x heads x steps x width
	all = p.permute(p.view(all, batch, steps, 3, heads, width), 2, 0, 3, 1, 4)
	query, key, value := p.at(all, 0, 0), p.at(all, 0, 1), p.at(all, 0, 2)
	scores := p.scale(p.matmul(query, p.transpose(key, 2, 3)), 1/math.Sqrt(float64(width)))
	gathered := p.matmul(p.softmax(scores), value)
	joined := p.view(p.transpose(gathered, 1, 2), batch, steps, int64(h.Model))
	return p.linear(joined, of("attention.out.weight"), of("attention.out.bias"))
}
