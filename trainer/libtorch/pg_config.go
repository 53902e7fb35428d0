//go:build native

package libtorch

import "github.com/segue-project/segue"

// PGConfig says how [TrainPG] trains. The zero value works: of Common it takes 300
// steps, a clip of 1, a Huber of 5 for the value, a validation and a checkpoint
// every 10 steps. Batch counts decisions.
type PGConfig struct {
	Common

	Episodes int // that are followed a step. Default 128
	Epochs   int // times that a step goes over its decisions. Default 4

	ClipRatio   float64 // how far a probability may move from what it was, as a share. Default 0.2
	Lambda      float64 // of GAE. Default 0.95
	ValueWeight float64 // of the value's loss. Default 0.5
	Entropy     float64 // bonus at the start; it fades to nothing. Below 0 for none. Default 0.01
}

// withDefaults fills in what is zero.
func (c PGConfig) withDefaults() PGConfig {
	c.fill(Common{Steps: 300, Clip: 1, Huber: 5, ValidateEvery: 10, CheckpointEvery: 10})
	fill(&c.Episodes, 128)
	fill(&c.Epochs, 4)
	fill(&c.ClipRatio, 0.2)
	fill(&c.Lambda, 0.95)
	fill(&c.ValueWeight, 0.5)
	fill(&c.Entropy, 0.01)
	return c
}

// validate names the first field that is out of its range.
func (c PGConfig) validate() error {
	err := c.check(
		bounds{"Episodes", float64(c.Episodes), 1, 1e6},
		bounds{"Epochs", float64(c.Epochs), 1, 1000},
		bounds{"ClipRatio", c.ClipRatio, 0, 1},
		bounds{"Lambda", c.Lambda, 0, 1},
		bounds{"ValueWeight", c.ValueWeight, 0, 1e6},
	)
	if err != nil {
		return segue.Errorf(segue.Invalid, "policy gradient: %w", err)
	}
	return nil
}

// withoutFiles leaves out what does not change the result.
func (c PGConfig) withoutFiles() PGConfig {
	c.Common = c.Common.withoutFiles()
	return c
}
