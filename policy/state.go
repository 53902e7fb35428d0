package policy

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// stateFeatures are the features that networks see: what simulations and recent
// waits say, and the load. Networks that saw all features learned the months
// of their training by heart (docs/learning.md).
var stateFeatures = []string{
	"request.size", "request.limit", "free.size",
	"running.work_expected", "pending.jobs_log", "pending.work_expected", "release.expected",
	"forward-limits.wait", "forward-last-two.wait", "forward-learned.wait",
	"monte-carlo.mean", "monte-carlo.p10", "monte-carlo.p50", "monte-carlo.p90",
	"recent-shape.mean", "past.wait_mean.24h", "past.load.24h", "past.load.72h",
}

// stateLevels are the quantiles of the forecast that a state holds.
var stateLevels = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95}

// inLogarithm says of which features the state holds log(1 + hours): they have
// no upper bound, and what matters is how many times longer one is.
func inLogarithm(name string) bool {
	return !slices.Contains([]string{"request.size", "free.size", "pending.jobs_log", "past.load.24h", "past.load.72h"}, name)
}

// stateColumns are the places of stateFeatures among the features.
var stateColumns = func() []int {
	names := predictor.FeatureNames()
	columns := make([]int, len(stateFeatures))
	for i, name := range stateFeatures {
		columns[i] = slices.Index(names, name)
	}
	return columns
}()

// StateNames returns the names of the numbers of a state, in order: some of the
// features, then what the forecast says of a submission now.
func StateNames() []string {
	names := slices.Clone(stateFeatures)
	for _, p := range stateLevels {
		names = append(names, "forecast.p"+strconv.Itoa(int(math.Round(100*p))))
	}
	return append(names, "forecast.mean", "forecast.no_gap_logit", "forecast.interruption", "forecast.overlap")
}

// State appends to out what a learned policy decides from, and returns it: some
// of the features of a predictor.Describer and the forecast of the wait of a
// submission now, seen from the time that remains of the current link. Hours
// are in logarithm, log(1 + hours).
func State(features []float32, f segue.Forecast, remaining time.Duration, out []float32) []float32 {
	for i, column := range stateColumns {
		value := features[column]
		if inLogarithm(stateFeatures[i]) {
			value = float32(math.Log1p(max(float64(value), 0)))
		}
		out = append(out, value)
	}
	if f.Empty() {
		for range len(stateLevels) + 4 {
			out = append(out, float32(math.NaN()))
		}
		return out
	}
	log := func(d time.Duration) float32 { return float32(math.Log1p(d.Hours())) }
	for _, p := range stateLevels {
		out = append(out, log(f.Quantile(p)))
	}
	return append(out, log(f.Mean()), logit(f.StartsWithin(remaining), len(f.Waits)), log(f.Interruption(remaining)), log(f.Overlap(remaining)))
}

// logit returns the log-odds of a share of n, which is kept half of one away
// from certainty.
func logit(p float64, n int) float32 {
	least := 0.5 / float64(n)
	p = min(max(p, least), 1-least)
	return float32(math.Log(p / (1 - p)))
}
