package published

import "time"

// Threshold is the outcome in hours at which the published method submits: as
// soon as the regressor foretells no more than half an hour of overlap.
const Threshold = -0.5

// MostOutcome is the foretold outcome in hours above which it does not believe
// the regressor, and waits.
const MostOutcome = 500

// Submits reports whether the rule submits at a foretold outcome in hours. What
// is not a number never does.
func Submits(outcome, threshold float64) bool { return outcome >= threshold && outcome <= MostOutcome }

// Thresholds returns the thresholds that are tried, from MostOutcome, which waits
// for the end, to as far below 0, which submits at once. Threshold is among them.
func Thresholds() []float64 {
	list := []float64{MostOutcome, 72, 48, 36, 24, 18, 12}
	for t := 10.0; t >= -12; t -= 0.5 {
		list = append(list, t)
	}
	for t := -13.0; t >= -48; t-- {
		list = append(list, t)
	}
	return append(list, -60, -72, -MostOutcome)
}

// The submissions that a regressor is fitted on: for every start Probes of them,
// evenly spread from ProbeDelay after the submission of the pair's first job to
// its end.
const (
	Probes     = 7
	ProbeDelay = time.Minute
)
