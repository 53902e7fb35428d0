package evaluation

import (
	"fmt"
	"math"
	"strings"

	"github.com/segue-project/segue"
)

// Config holds the choices of the measure. The zero value is the measure that
// the project reports.
type Config struct {
	// Prefer prices an hour of overlap in hours of interruption.
	// Default segue.Balanced, a price of 0.25.
	Prefer segue.Preference
	// Planners names the policies that learn nothing. The one of least cost on
	// the tuning period is the best planner, with which every cost is
	// compared. Default none, no comparison.
	Planners []string
	// Replicates is the number of bootstrap replicates. Default 2,000.
	Replicates int
	// Seed of the bootstrap. Default 1.
	Seed uint64
}

func (c Config) withDefaults() Config {
	if c.Prefer == 0 {
		c.Prefer = segue.Balanced
	}
	if c.Replicates == 0 {
		c.Replicates = 2000
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	return c
}

func (c Config) validate() error {
	switch {
	case !(c.Prefer > 0) || math.IsInf(float64(c.Prefer), 0):
		return segue.Errorf(segue.Invalid, "Prefer is %v, want a positive number", float64(c.Prefer))
	case c.Replicates < 1:
		return segue.Errorf(segue.Invalid, "Replicates is %d, want at least 1", c.Replicates)
	}
	return nil
}

// Days per block of the two bootstraps: the honest one, and the one that
// flatters.
const (
	longBlock  = 4
	shortBlock = 1
)

// Run is one split of time, seen through the same policies on its tuning and
// on its test period. A stress run keeps Tune and replaces Test by the
// outcomes in the changed cluster.
type Run struct {
	Label string // "2023-03" in a rolling origin
	Split Split
	Tune  Trial
	Test  Trial
	// Coverage is carried into the result as it is.
	Coverage []ForecastCoverage
}

// name returns "backtest" with the label, for messages.
func (r Run) name() string { return strings.TrimSuffix("backtest "+r.Label, " ") }

// Backtest chooses each policy's parameter on run.Tune, where its mean cost is
// least, and scores it on run.Test. The scores are in the order constant, the
// policies, oracle. The oracle needs no tuning: its parameter is the price.
//
// The errors are of kind Invalid: shapes that disagree, values that are not
// finite, names that are missing.
func Backtest(run Run, cfg Config) (Result, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return Result{}, fmt.Errorf("backtest: %w", err)
	}
	tuned, err := tune(run, cfg)
	if err != nil {
		return Result{}, err
	}
	result, err := tuned.score(cfg)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", run.name(), err)
	}
	result.Coverage = run.Coverage
	return result, nil
}

// Roll backtests every run and then scores all test starts together, each at
// the parameter that was tuned for its own run. All runs need the same
// policies with the same parameter values.
func Roll(runs []Run, cfg Config) (Rolling, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return Rolling{}, fmt.Errorf("rolling origin: %w", err)
	}
	if len(runs) == 0 {
		return Rolling{}, segue.Errorf(segue.Invalid, "rolling origin: no runs")
	}
	var rolling Rolling
	var pooled tuned
	for _, run := range runs {
		tuned, err := tune(run, cfg)
		if err != nil {
			return Rolling{}, err
		}
		result, err := tuned.score(cfg)
		if err != nil {
			return Rolling{}, fmt.Errorf("%s: %w", run.name(), err)
		}
		result.Coverage = run.Coverage
		rolling.Runs = append(rolling.Runs, Labelled{Label: run.Label, Periods: run.Split, Result: result})
		if pooled, err = pooled.join(tuned); err != nil {
			return Rolling{}, fmt.Errorf("rolling origin: %s: %w", run.Label, err)
		}
	}
	var err error
	if rolling.Pooled, err = pooled.score(cfg); err != nil {
		return Rolling{}, fmt.Errorf("rolling origin: %w", err)
	}
	return rolling, nil
}
