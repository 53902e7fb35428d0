package networks

import (
	"math"

	"github.com/segue-project/segue/policy/safetensors"
)

// ExtraInputs is how many inputs [Input] appends to a state.
const ExtraInputs = 4

// decayHours is how fast the input that tells the last hours apart fades.
const decayHours = 6

// Input puts the inputs of a network into dst and returns it: the state, then
// the remaining hours of the current link as they are, in logarithm and as
// exp(-remaining / 6 h), and the logarithm of the price. Remaining is what is
// left now, at least 0; price is in hours of interruption per hour of overlap,
// above 0. It allocates only when dst is too short. Training and serving both
// call it.
func Input(dst, state []float32, remaining, price float64) []float32 {
	return append(append(dst[:0], state...),
		float32(remaining),
		float32(math.Log1p(remaining)),
		float32(math.Exp(-remaining/decayHours)),
		float32(math.Log(price)),
	)
}

// LogPriceInput is the place among the inputs of the logarithm of the price.
func (s Spec) LogPriceInput() int { return s.Inputs() - 1 }

// PriorLean is what the prior adds to the output for submitting, and takes from
// the one for waiting, for log-odds of 1 above those of the rule: half of its
// gain where outputs are costs, and as much less where they are logits.
func (s Spec) PriorLean() float32 {
	half := float32(s.Prior.Gain / 2)
	if s.Heads == Actor {
		return -half
	}
	return half
}

// CostUnit is the unit of a network's costs at a price, in hours of interruption:
// four hours times the root of the price. In it an hour of interruption counts
// less the dearer overlap is, and an hour of overlap more, so that costs at all
// prices are of a like size; and since an episode has one price, the unit changes
// no decision.
func CostUnit(price float64) float64 { return 4 * math.Sqrt(price) }

// Clip bounds every input after its normalisation, so that a state far from all
// that was seen does not take the network where it never was.
const Clip = 5

// Normaliser makes inputs comparable: each minus its mean, over its scale,
// between -Clip and Clip. What is not a number becomes 0, the mean.
type Normaliser struct {
	Mean, Scale []float32 // scales above 0
}

// Apply puts the normalised values of x into dst. Both are as long as the
// normaliser, or a multiple of it for several rows at once.
func (n Normaliser) Apply(dst, x []float32) {
	for len(x) > 0 {
		n.row(dst[:len(n.Mean)], x[:len(n.Mean)])
		dst, x = dst[len(n.Mean):], x[len(n.Mean):]
	}
}

func (n Normaliser) row(dst, x []float32) {
	mean, scale := n.Mean[:len(x)], n.Scale[:len(x)]
	for i, v := range x {
		z := (v - mean[i]) / scale[i]
		switch {
		case z != z:
			z = 0
		case z > Clip:
			z = Clip
		case z < -Clip:
			z = -Clip
		}
		dst[i] = z
	}
}

// Identity is the normaliser that only clips.
func Identity(width int) Normaliser {
	n := Normaliser{Mean: make([]float32, width), Scale: make([]float32, width)}
	for i := range n.Scale {
		n.Scale[i] = 1
	}
	return n
}

// Normalisation returns the tensors of the normalisers of a network's inputs
// and, for a transformer, of its history.
func (s Spec) Normalisation(inputs, history Normaliser) map[string]safetensors.Tensor {
	tensors := map[string]safetensors.Tensor{meanName: row(inputs.Mean), scaleName: row(inputs.Scale)}
	if s.Kind == Transformer {
		tensors[historyMeanName] = row(history.Mean)
		tensors[historyScaleName] = row(history.Scale)
	}
	return tensors
}

func row(data []float32) safetensors.Tensor {
	return safetensors.Tensor{Shape: []int{len(data)}, Data: data}
}
