package segue

import (
	"math"
	"time"
)

// Time is an instant in UTC, in microseconds since the Unix epoch. It is what
// the store keeps and what the simulator counts in; durations are
// time.Duration everywhere.
type Time int64

const (
	// NoTime is the instant that is not known. The zero Time is a real
	// instant (the epoch, where logs without a start date begin).
	NoTime Time = math.MinInt64
	// Never is later than every other instant.
	Never Time = math.MaxInt64
)

// TimeOf returns t rounded down to the microsecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// Seconds returns the instant s seconds after the Unix epoch.
func Seconds(s int64) Time { return Time(s * 1e6) }

// Known reports whether t is an instant at all.
func (t Time) Known() bool { return t != NoTime }

// Add returns t+d, in whole microseconds; a sum that is out of range is Never or
// the earliest instant. NoTime and Never stay what they are.
func (t Time) Add(d time.Duration) Time {
	us := Time(d / time.Microsecond)
	switch {
	case t == NoTime || t == Never:
		return t
	case us > 0 && t > Never-us:
		return Never
	case us < 0 && t <= NoTime-us:
		return NoTime + 1
	}
	return t + us
}

// Sub returns t-u, saturating at the largest duration (292 years) either way,
// as it does when only one of the two is Never or NoTime.
func (t Time) Sub(u Time) time.Duration {
	us := int64(t) - int64(u) // wraps around when out of range
	switch {
	case t > u && (us < 0 || us > math.MaxInt64/1000 || t == Never || u == NoTime):
		return math.MaxInt64
	case t < u && (us > 0 || us < math.MinInt64/1000 || t == NoTime || u == Never):
		return math.MinInt64
	}
	return time.Duration(us) * time.Microsecond
}

// Before reports whether t is earlier than u.
func (t Time) Before(u Time) bool { return t < u }

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Unix returns t in whole seconds since the epoch, rounded down.
func (t Time) Unix() int64 {
	s := int64(t) / 1e6
	if int64(t)%1e6 < 0 {
		s--
	}
	return s
}

// String returns RFC 3339 in UTC, or "unknown" or "never".
func (t Time) String() string {
	switch t {
	case NoTime:
		return "unknown"
	case Never:
		return "never"
	}
	return t.Std().Format(time.RFC3339)
}
