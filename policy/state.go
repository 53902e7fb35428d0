package policy

import (
	"math"
	"strconv"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// stateLevels are the quantiles of the forecast that a state holds.
var stateLevels = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95}

// StateNames returns the names of the numbers of a state, in order: the
// features, then what the forecast says of a submission now.
func StateNames() []string {
	names := predictor.FeatureNames()
	for _, p := range stateLevels {
		names = append(names, "forecast.p"+strconv.Itoa(int(math.Round(100*p))))
	}
	return append(names, "forecast.mean", "forecast.no_gap_logit", "forecast.interruption", "forecast.overlap")
}

// State appends to out what a learned policy decides from, and returns it: the
// features of a predictor.Describer and the forecast of the wait of a submission
// now, in hours, seen from the time that remains of the current link.
func State(features []float32, f segue.Forecast, remaining time.Duration, out []float32) []float32 {
	out = append(out, features...)
	if f.Empty() {
		for range len(stateLevels) + 4 {
			out = append(out, float32(math.NaN()))
		}
		return out
	}
	for _, p := range stateLevels {
		out = append(out, float32(f.Quantile(p).Hours()))
	}
	return append(out, float32(f.Mean().Hours()), logit(f.StartsWithin(remaining), len(f.Waits)),
		float32(f.Interruption(remaining).Hours()), float32(f.Overlap(remaining).Hours()))
}

// logit returns the log-odds of a share of n, which is kept half of one away
// from certainty.
func logit(p float64, n int) float32 {
	least := 0.5 / float64(n)
	p = min(max(p, least), 1-least)
	return float32(math.Log(p / (1 - p)))
}
