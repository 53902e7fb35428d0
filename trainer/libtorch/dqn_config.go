//go:build native

package libtorch

import "github.com/segue-project/segue"

// DQNConfig says how [TrainDQN] trains. The zero value works: of Common it takes
// 20000 steps, a clip of 10, a Huber of 20, a validation every 500 steps and a
// checkpoint every 1000. Batch counts transitions.
type DQNConfig struct {
	Common

	Contrast float64 // weight of the loss of the difference between the two costs. Below 0 for none. Default 20

	NStep       int     // leads that are followed before the target network is asked. Default 3
	Tau         float64 // share by which the target network follows each step. Default 0.005
	TargetEvery int     // when above 0, the target network is copied every so many steps instead. Default 0

	PriorityExponent   float64 // of errors in the replay; below 0 to draw evenly. Default 0.3
	PriorityCorrection float64 // of the bias that this brings at the start; it rises to 1. Default 0.4
}

// withDefaults fills in what is zero.
func (c DQNConfig) withDefaults() DQNConfig {
	c.fill(Common{Steps: 20000, Clip: 10, Huber: 20, ValidateEvery: 500, CheckpointEvery: 1000})
	fill(&c.Contrast, 20)
	fill(&c.NStep, 3)
	fill(&c.Tau, 0.005)
	fill(&c.PriorityExponent, 0.3)
	fill(&c.PriorityCorrection, 0.4)
	return c
}

// validate names the first field that is out of its range.
func (c DQNConfig) validate() error {
	err := c.check(
		bounds{"NStep", float64(c.NStep), 1, 1000},
		bounds{"Tau", c.Tau, 0, 1},
		bounds{"TargetEvery", float64(c.TargetEvery), 0, 1e9},
		bounds{"PriorityExponent", c.PriorityExponent, -1, 1},
		bounds{"PriorityCorrection", c.PriorityCorrection, 0, 1},
	)
	if err != nil {
		return segue.Errorf(segue.Invalid, "DQN: %w", err)
	}
	return nil
}

// withoutFiles leaves out what does not change the result.
func (c DQNConfig) withoutFiles() DQNConfig {
	c.Common = c.Common.withoutFiles()
	return c
}
