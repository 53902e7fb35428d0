//go:build native

package libtorch

import (
	"fmt"
	"slices"
)

// Common is what the configurations of all trainings have. Where a default
// depends on the training, [DQNConfig] and [PGConfig] say which it is.
type Common struct {
	Seed  uint64
	Steps int
	Batch int // rows of one step of the optimiser. Default 256

	LearningRate float64 // at the start; it falls to a twentieth; a transformer wants less. Default 0.002
	Decay        float64 // share of the weights that is taken away, times the rate, each step (AdamW). Default 0
	Clip         float64 // greatest length of a gradient
	Huber        float64 // error from which the loss of costs grows evenly, in networks.CostUnit
	Balance      float64 // of a mixture: weight of the penalty for an uneven gate. Below 0 for none. Default 0.01

	ValidateEvery int       // steps
	Patience      int       // validations without a better one until it stops. Default 12
	Prices        []float64 // of the validation. Default 0.05, 0.25 and 1

	Device string // "cpu", "cuda", or "auto": cuda where there is one. Default auto

	Checkpoint      string // path of the file, "" for none
	CheckpointEvery int    // steps
	Resume          bool   // go on from the checkpoint, where there is one
}

// fill sets what is zero to the defaults of all trainings, and to those of one.
func (c *Common) fill(own Common) {
	fill(&c.Steps, own.Steps)
	fill(&c.Batch, 256)
	fill(&c.LearningRate, 0.002)
	fill(&c.Clip, own.Clip)
	fill(&c.Huber, own.Huber)
	fill(&c.Balance, 0.01)
	fill(&c.ValidateEvery, own.ValidateEvery)
	fill(&c.Patience, 12)
	if len(c.Prices) == 0 {
		c.Prices = defaultPrices()
	}
	fill(&c.Device, "auto")
	fill(&c.CheckpointEvery, own.CheckpointEvery)
}

// check names the first field that is out of its range, of these and of those
// that one training has as well.
func (c *Common) check(own ...bounds) error {
	return validateShared(c.Prices, c.Device, append([]bounds{
		{"Steps", float64(c.Steps), 1, 1e9},
		{"Batch", float64(c.Batch), 1, 1e6},
		{"LearningRate", c.LearningRate, 0, 1},
		{"Decay", c.Decay, 0, 1},
		{"Clip", c.Clip, 0, 1e9},
		{"Huber", c.Huber, 1e-6, 1e9},
		{"ValidateEvery", float64(c.ValidateEvery), 1, 1e9},
		{"Patience", float64(c.Patience), 1, 1e9},
		{"CheckpointEvery", float64(c.CheckpointEvery), 1, 1e9},
	}, own...))
}

// withoutFiles leaves out what does not change the result.
func (c Common) withoutFiles() Common {
	c.Checkpoint, c.CheckpointEvery, c.Resume, c.Device = "", 0, false, ""
	return c
}

// defaultPrices are those at which a network is judged: an hour of interruption
// is worth 20, 4 or 1 of overlap.
func defaultPrices() []float64 { return []float64{0.05, 0.25, 1} }

// fill sets a field that is zero to its default.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// bounds are the range of a field.
type bounds struct {
	field                  string
	value, least, greatest float64
}

// validateShared names the first field that is out of its range, of those that
// every configuration has as well.
func validateShared(prices []float64, device string, fields []bounds) error {
	for _, p := range prices {
		fields = append(fields, bounds{"Prices", p, 1e-6, 1e6})
	}
	for _, f := range fields {
		if !(f.value >= f.least && f.value <= f.greatest) {
			return fmt.Errorf("%s is %v, want %v to %v", f.field, f.value, f.least, f.greatest)
		}
	}
	if !slices.Contains([]string{"auto", "cpu", "cuda"}, device) {
		return fmt.Errorf("device is %q, want auto, cpu or cuda", device)
	}
	return nil
}
