package segue

import (
	"fmt"
	"strconv"
	"time"
)

// Preference is the user's price: how many hours of overlap are worth one hour
// of interruption. Above 1 a gap is dreaded, below 1 waste is.
type Preference float64

// The named preferences of --prefer.
const (
	NoWaste  Preference = 1
	Balanced Preference = 4
	NoGap    Preference = 24
)

// The least and the greatest preference. Beyond them an hour of one kind is
// worth weeks of the other, and it is a mistake rather than a wish.
const (
	minPreference = 0.001
	maxPreference = 1000
)

// ParsePreference reads a name ("no-gap", "balanced", "no-waste") or a number
// of hours from 0.001 to 1000; the empty string is balanced.
func ParsePreference(s string) (Preference, error) {
	switch s {
	case "", "balanced":
		return Balanced, nil
	case "no-gap":
		return NoGap, nil
	case "no-waste":
		return NoWaste, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= minPreference && v <= maxPreference) {
		return 0, Errorf(Invalid, "preference %q: want no-gap, balanced, no-waste or a number from %g to %g "+
			"(hours of overlap worth one hour of interruption)", s, minPreference, float64(maxPreference))
	}
	return Preference(v), nil
}

// OverlapPrice returns the cost of one hour of overlap in hours of
// interruption: 0.25 when balanced.
func (p Preference) OverlapPrice() float64 { return 1 / float64(p) }

// Cost returns interruption + OverlapPrice x overlap, in hours.
func (p Preference) Cost(interruption, overlap time.Duration) float64 {
	return interruption.Hours() + overlap.Hours()*p.OverlapPrice()
}

// CriticalQuantile returns the quantile of the wait that a submission should
// cover: with price c per hour of overlap, the expected cost is least when
// P(wait <= remaining) = 1/(1+c) (the newsvendor rule; Arrow, Harris and
// Marschak, 1951).
func (p Preference) CriticalQuantile() float64 { return 1 / (1 + p.OverlapPrice()) }

// String returns the name, or the number for an unnamed preference.
func (p Preference) String() string {
	switch p {
	case NoWaste:
		return "no-waste"
	case Balanced:
		return "balanced"
	case NoGap:
		return "no-gap"
	}
	return fmt.Sprintf("%g", float64(p))
}
