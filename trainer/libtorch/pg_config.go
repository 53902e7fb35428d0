//go:build native

package libtorch

import "github.com/segue-project/segue"

// PGConfig says how [TrainPG] trains. The zero value works.
type PGConfig struct {
	Seed     uint64
	Steps    int // default 300
	Episodes int // that are followed a step. Default 128
	Epochs   int // times that a step goes over its decisions. Default 4
	Batch    int // decisions of one step of the optimiser. Default 256

	LearningRate float64 // at the start; it falls to a twentieth; a transformer wants less. Default 0.002
	Decay        float64 // share of the weights that is taken away, times the rate, each step (AdamW). Default 0
	Clip         float64 // greatest length of a gradient. Default 1
	ClipRatio    float64 // how far a probability may move from what it was, as a share. Default 0.2
	Lambda       float64 // of GAE. Default 0.95
	Huber        float64 // error of the value from which its loss grows evenly, in networks.CostUnit. Default 5
	ValueWeight  float64 // of the value's loss. Default 0.5
	Entropy      float64 // bonus at the start; it fades to nothing. Below 0 for none. Default 0.01
	Balance      float64 // of a mixture: weight of the penalty for an uneven gate. Below 0 for none. Default 0.01

	ValidateEvery int       // steps. Default 10
	Patience      int       // validations without a better one until it stops. Default 12
	Prices        []float64 // of the validation. Default 0.05, 0.25 and 1

	Device string // "cpu", "cuda", or "auto": cuda where there is one. Default auto

	Checkpoint      string // path of the file, "" for none
	CheckpointEvery int    // steps. Default 10
	Resume          bool   // go on from the checkpoint, where there is one
}

// withDefaults fills in what is zero.
func (c PGConfig) withDefaults() PGConfig {
	fill(&c.Steps, 300)
	fill(&c.Episodes, 128)
	fill(&c.Epochs, 4)
	fill(&c.Batch, 256)
	fill(&c.LearningRate, 0.002)
	fill(&c.Clip, 1)
	fill(&c.ClipRatio, 0.2)
	fill(&c.Lambda, 0.95)
	fill(&c.Huber, 5)
	fill(&c.ValueWeight, 0.5)
	fill(&c.Entropy, 0.01)
	fill(&c.Balance, 0.01)
	fill(&c.ValidateEvery, 10)
	fill(&c.Patience, 12)
	if len(c.Prices) == 0 {
		c.Prices = defaultPrices()
	}
	fill(&c.Device, "auto")
	fill(&c.CheckpointEvery, 10)
	return c
}

// validate names the first field that is out of its range.
func (c PGConfig) validate() error {
	err := validateShared(c.Prices, c.Device, []bounds{
		{"Steps", float64(c.Steps), 1, 1e9},
		{"Episodes", float64(c.Episodes), 1, 1e6},
		{"Epochs", float64(c.Epochs), 1, 1000},
		{"Batch", float64(c.Batch), 1, 1e6},
		{"LearningRate", c.LearningRate, 0, 1},
		{"Decay", c.Decay, 0, 1},
		{"Clip", c.Clip, 0, 1e9},
		{"ClipRatio", c.ClipRatio, 0, 1},
		{"Lambda", c.Lambda, 0, 1},
		{"Huber", c.Huber, 1e-6, 1e9},
		{"ValueWeight", c.ValueWeight, 0, 1e6},
		{"ValidateEvery", float64(c.ValidateEvery), 1, 1e9},
		{"Patience", float64(c.Patience), 1, 1e9},
		{"CheckpointEvery", float64(c.CheckpointEvery), 1, 1e9},
	})
	if err != nil {
		return segue.Errorf(segue.Invalid, "policy gradient: %w", err)
	}
	return nil
}

func (c PGConfig) common() common {
	return common{
		seed: c.Seed, steps: c.Steps, learningRate: c.LearningRate, decay: c.Decay, clip: c.Clip,
		validateEvery: c.ValidateEvery, patience: c.Patience, prices: c.Prices,
		checkpoint: c.Checkpoint, checkpointEvery: c.CheckpointEvery, resume: c.Resume,
	}
}

// withoutFiles leaves out what does not change the result.
func (c PGConfig) withoutFiles() PGConfig {
	c.Checkpoint, c.CheckpointEvery, c.Resume, c.Device = "", 0, false, ""
	return c
}
