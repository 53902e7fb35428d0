//go:build native

package libtorch

import (
	torch "github.com/sugarme/gotch/libtch"
)

// The operations that the networks and losses are made of. Each is libtorch's
// of that name.

func (p *pool) linear(x, weight, bias tensor) tensor {
	return p.run("linear", func(out *tensor) { torch.AtgLinear(out, x, weight, bias) })
}

func (p *pool) matmul(a, b tensor) tensor {
	return p.run("matmul", func(out *tensor) { torch.AtgMatmul(out, a, b) })
}

func (p *pool) relu(x tensor) tensor {
	return p.run("relu", func(out *tensor) { torch.AtgRelu(out, x) })
}

func (p *pool) exp(x tensor) tensor {
	return p.run("exp", func(out *tensor) { torch.AtgExp(out, x) })
}

// softmax is over the last dimension, as are logSoftmax and layerNorm.
func (p *pool) softmax(x tensor) tensor {
	return p.run("softmax", func(out *tensor) { torch.AtgSoftmax(out, x, -1, float32Kind) })
}

func (p *pool) logSoftmax(x tensor) tensor {
	return p.run("log_softmax", func(out *tensor) { torch.AtgLogSoftmax(out, x, -1, float32Kind) })
}

func (p *pool) layerNorm(x, weight, bias tensor, width int64, epsilon float64) tensor {
	return p.run("layer_norm", func(out *tensor) {
		torch.AtgLayerNorm(out, x, []int64{width}, 1, weight, bias, epsilon, 0)
	})
}

func (p *pool) add(a, b tensor) tensor {
	return p.run("add", func(out *tensor) { torch.AtgAdd(out, a, b) })
}

func (p *pool) sub(a, b tensor) tensor {
	return p.run("sub", func(out *tensor) { torch.AtgSub(out, a, b) })
}

func (p *pool) mul(a, b tensor) tensor {
	return p.run("mul", func(out *tensor) { torch.AtgMul(out, a, b) })
}

func (p *pool) minimum(a, b tensor) tensor {
	return p.run("minimum", func(out *tensor) { torch.AtgMinimum(out, a, b) })
}

func (p *pool) scale(x tensor, factor float64) tensor {
	return p.run("mul", func(out *tensor) {
		s := torch.AtsFloat(factor)
		torch.AtgMulScalar(out, x, s)
		torch.AtsFree(s)
	})
}

func (p *pool) clamp(x tensor, least, greatest float64) tensor {
	return p.run("clamp", func(out *tensor) {
		low, high := torch.AtsFloat(least), torch.AtsFloat(greatest)
		torch.AtgClamp(out, x, low, high)
		torch.AtsFree(low)
		torch.AtsFree(high)
	})
}

// huber is the loss element by element.
func (p *pool) huber(x, target tensor, delta float64) tensor {
	return p.run("huber_loss", func(out *tensor) { torch.AtgHuberLoss(out, x, target, 0, delta) })
}

func (p *pool) mean(x tensor) tensor {
	return p.run("mean", func(out *tensor) { torch.AtgMean(out, x, float32Kind) })
}

func (p *pool) sum(x tensor) tensor {
	return p.run("sum", func(out *tensor) { torch.AtgSum(out, x, float32Kind) })
}

// meanOver and sumOver take a dimension away, or leave it with size 1.
func (p *pool) meanOver(x tensor, dim int64, keep bool) tensor {
	return p.run("mean", func(out *tensor) { torch.AtgMeanDim(out, x, []int64{dim}, 1, flag(keep), float32Kind) })
}

func (p *pool) sumOver(x tensor, dim int64, keep bool) tensor {
	return p.run("sum", func(out *tensor) { torch.AtgSumDimIntlist(out, x, []int64{dim}, 1, flag(keep), float32Kind) })
}

func (p *pool) view(x tensor, shape ...int64) tensor {
	return p.run("reshape", func(out *tensor) { torch.AtgReshape(out, x, shape, len(shape)) })
}

func (p *pool) transpose(x tensor, a, b int64) tensor {
	return p.run("transpose", func(out *tensor) { torch.AtgTranspose(out, x, a, b) })
}

func (p *pool) permute(x tensor, dims ...int64) tensor {
	return p.run("permute", func(out *tensor) { torch.AtgPermute(out, x, dims, len(dims)) })
}

func (p *pool) unsqueeze(x tensor, dim int64) tensor {
	return p.run("unsqueeze", func(out *tensor) { torch.AtgUnsqueeze(out, x, dim) })
}

func (p *pool) narrow(x tensor, dim, from, length int64) tensor {
	return p.run("narrow", func(out *tensor) { torch.AtgNarrow(out, x, dim, from, length) })
}

// at takes the element i of a dimension.
func (p *pool) at(x tensor, dim, i int64) tensor {
	return p.run("select", func(out *tensor) { torch.AtgSelect(out, x, dim, i) })
}

// concat puts rows of equal numbers beside each other.
func (p *pool) concat(parts ...tensor) tensor {
	return p.run("cat", func(out *tensor) { torch.AtgCat(out, parts, len(parts), 1) })
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
