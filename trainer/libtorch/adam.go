//go:build native

package libtorch

import "math"

// The usual constants of Adam.
const (
	beta1       = 0.9
	beta2       = 0.999
	adamEpsilon = 1e-8
)

// adam is the optimiser of Kingma and Ba (ICLR 2015, algorithm 1) over a row of
// weights. It is ours because gotch cannot hand over the moments of libtorch's,
// without which training could not go on from a checkpoint.
type adam struct {
	steps        int
	mean, square []float32 // moments of the gradient
}

func newAdam(weights int) *adam {
	return &adam{mean: make([]float32, weights), square: make([]float32, weights)}
}

// step moves the weights against the gradient.
func (a *adam) step(weights, gradient []float32, rate float64) {
	a.steps++
	correct1 := 1 - math.Pow(beta1, float64(a.steps))
	correct2 := 1 - math.Pow(beta2, float64(a.steps))
	size := float32(rate / correct1)
	inverse := float32(1 / correct2)
	mean, square := a.mean[:len(weights)], a.square[:len(weights)]
	gradient = gradient[:len(weights)]
	for i := range weights {
		g := gradient[i]
		mean[i] += (g - mean[i]) * (1 - beta1)
		square[i] += (g*g - square[i]) * (1 - beta2)
		weights[i] -= size * mean[i] / (float32(math.Sqrt(float64(square[i]*inverse))) + adamEpsilon)
	}
}

// shrink takes a share of the weights away: decay apart from the gradient
// (Loshchilov and Hutter, ICLR 2019).
func shrink(weights []float32, share float64) {
	if share == 0 {
		return
	}
	keep := float32(1 - share)
	for i := range weights {
		weights[i] *= keep
	}
}

// clip scales the gradient so that its length is at most the limit, and returns
// the length that it had.
func clip(gradient []float32, limit float64) float64 {
	var sum float64
	for _, g := range gradient {
		sum += float64(g) * float64(g)
	}
	length := math.Sqrt(sum)
	if length > limit {
		factor := float32(limit / length)
		for i := range gradient {
			gradient[i] *= factor
		}
	}
	return length
}

// follow moves the target a share of the way towards the weights.
func follow(target, weights []float32, share float64) {
	s := float32(share)
	for i, w := range weights {
		target[i] += s * (w - target[i])
	}
}
