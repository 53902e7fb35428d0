//go:build native

package libtorch

import "github.com/segue-project/segue"

// DQNConfig says how [TrainDQN] trains. The zero value works.
type DQNConfig struct {
	Seed  uint64
	Steps int // default 20000
	Batch int // transitions a step. Default 256

	LearningRate float64 // at the start; it falls to a twentieth. Default 0.002
	Decay        float64 // share of the weights that is taken away, times the rate, each step (AdamW). Default 0
	Clip         float64 // greatest length of a gradient. Default 10
	Huber        float64 // error from which the loss grows evenly, in networks.CostUnit. Default 20
	Contrast     float64 // weight of the loss of the difference between the two costs. Below 0 for none. Default 20
	Balance      float64 // of a mixture: weight of the penalty for an uneven gate. Below 0 for none. Default 0.01

	NStep       int     // leads that are followed before the target network is asked. Default 3
	Tau         float64 // share by which the target network follows each step. Default 0.005
	TargetEvery int     // when above 0, the target network is copied every so many steps instead. Default 0

	PriorityExponent   float64 // of errors in the replay; below 0 to draw evenly. Default 0.3
	PriorityCorrection float64 // of the bias that this brings at the start; it rises to 1. Default 0.4

	ValidateEvery int       // steps. Default 500
	Patience      int       // validations without a better one until it stops. Default 12
	Prices        []float64 // of the validation. Default 0.05, 0.25 and 1

	Device string // "cpu", "cuda", or "auto": cuda where there is one. Default auto

	Checkpoint      string // path of the file, "" for none
	CheckpointEvery int    // steps. Default 1000
	Resume          bool   // go on from the checkpoint, where there is one
}

// withDefaults fills in what is zero.
func (c DQNConfig) withDefaults() DQNConfig {
	fill(&c.Steps, 20000)
	fill(&c.Batch, 256)
	fill(&c.LearningRate, 0.002)
	fill(&c.Clip, 10)
	fill(&c.Huber, 20)
	fill(&c.Contrast, 20)
	fill(&c.Balance, 0.01)
	fill(&c.NStep, 3)
	fill(&c.Tau, 0.005)
	fill(&c.PriorityExponent, 0.3)
	fill(&c.PriorityCorrection, 0.4)
	fill(&c.ValidateEvery, 500)
	fill(&c.Patience, 12)
	if len(c.Prices) == 0 {
		c.Prices = defaultPrices()
	}
	fill(&c.Device, "auto")
	fill(&c.CheckpointEvery, 1000)
	return c
}

// validate names the first field that is out of its range.
func (c DQNConfig) validate() error {
	err := validateShared(c.Prices, c.Device, []bounds{
		{"Steps", float64(c.Steps), 1, 1e9},
		{"Batch", float64(c.Batch), 1, 1e6},
		{"LearningRate", c.LearningRate, 0, 1},
		{"Decay", c.Decay, 0, 1},
		{"Clip", c.Clip, 0, 1e9},
		{"Huber", c.Huber, 1e-6, 1e9},
		{"NStep", float64(c.NStep), 1, 1000},
		{"Tau", c.Tau, 0, 1},
		{"TargetEvery", float64(c.TargetEvery), 0, 1e9},
		{"PriorityExponent", c.PriorityExponent, -1, 1},
		{"PriorityCorrection", c.PriorityCorrection, 0, 1},
		{"ValidateEvery", float64(c.ValidateEvery), 1, 1e9},
		{"Patience", float64(c.Patience), 1, 1e9},
		{"CheckpointEvery", float64(c.CheckpointEvery), 1, 1e9},
	})
	if err != nil {
		return segue.Errorf(segue.Invalid, "DQN: %w", err)
	}
	return nil
}

func (c DQNConfig) common() common {
	return common{
		seed: c.Seed, steps: c.Steps, learningRate: c.LearningRate, decay: c.Decay, clip: c.Clip,
		validateEvery: c.ValidateEvery, patience: c.Patience, prices: c.Prices,
		checkpoint: c.Checkpoint, checkpointEvery: c.CheckpointEvery, resume: c.Resume,
	}
}

// withoutFiles leaves out what does not change the result.
func (c DQNConfig) withoutFiles() DQNConfig {
	c.Checkpoint, c.CheckpointEvery, c.Resume, c.Device = "", 0, false, ""
	return c
}
