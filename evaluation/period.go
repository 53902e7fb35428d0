package evaluation

import (
	"encoding/json"
	"time"

	"github.com/segue-project/segue"
)

// Period is the time from From up to, but not including, To.
type Period struct {
	From, To segue.Time
}

// Holds reports whether a start at t belongs to the period: it lies in it, and
// everything that its outcome depends on, up to embargo later, does too.
func (p Period) Holds(t segue.Time, embargo time.Duration) bool {
	return t >= p.From && t < p.To && t.Add(embargo) <= p.To
}

// MarshalJSON writes {"from": ..., "to": ...} in RFC 3339.
func (p Period) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"from": p.From.String(), "to": p.To.String()})
}

// Split cuts time in three: policies are trained on the first period, their
// parameter is chosen on the second, and the third is scored.
type Split struct {
	Train, Tune, Test Period
	// Embargo is how long after a start its outcome may still be undecided:
	// the length of a pair, at least. Starts closer than that to the end of
	// their period belong to none.
	Embargo time.Duration
}

// NewSplit returns the split with the given boundaries.
func NewSplit(from, trainUntil, tuneUntil, testUntil segue.Time, embargo time.Duration) (Split, error) {
	s := Split{
		Train:   Period{From: from, To: trainUntil},
		Tune:    Period{From: trainUntil, To: tuneUntil},
		Test:    Period{From: tuneUntil, To: testUntil},
		Embargo: embargo,
	}
	if embargo < 0 {
		return Split{}, segue.Errorf(segue.Invalid, "embargo is %s, want 0 or more", embargo)
	}
	for _, part := range []struct {
		name   string
		period Period
	}{{"train", s.Train}, {"tune", s.Tune}, {"test", s.Test}} {
		if length := part.period.To.Sub(part.period.From); length <= embargo {
			return Split{}, segue.Errorf(segue.Invalid, "the %s period from %s to %s is not longer than the embargo of %s",
				part.name, part.period.From, part.period.To, embargo)
		}
	}
	return s, nil
}

// MarshalJSON writes the three periods by name and embargo_hours.
func (s Split) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Train   Period  `json:"train"`
		Tune    Period  `json:"tune"`
		Test    Period  `json:"test"`
		Embargo float64 `json:"embargo_hours"`
	}{s.Train, s.Tune, s.Test, s.Embargo.Hours()})
}

// RollingMonths returns the splits of a rolling origin: each full calendar
// month of span (UTC) is the test period once, the month before it is for
// tuning, and all the time before that, at least trainMonths full months, for
// training. The result is empty when span is too short.
func RollingMonths(span Period, trainMonths int, embargo time.Duration) []Split {
	first := monthOf(span.From)
	if segue.TimeOf(first) < span.From {
		first = first.AddDate(0, 1, 0)
	}
	var splits []Split
	for tune := first.AddDate(0, max(trainMonths, 1), 0); ; tune = tune.AddDate(0, 1, 0) {
		test, end := tune.AddDate(0, 1, 0), tune.AddDate(0, 2, 0)
		if segue.TimeOf(end) > span.To {
			return splits
		}
		splits = append(splits, Split{
			Train:   Period{From: span.From, To: segue.TimeOf(tune)},
			Tune:    Period{From: segue.TimeOf(tune), To: segue.TimeOf(test)},
			Test:    Period{From: segue.TimeOf(test), To: segue.TimeOf(end)},
			Embargo: embargo,
		})
	}
}

func monthOf(t segue.Time) time.Time {
	std := t.Std()
	return time.Date(std.Year(), std.Month(), 1, 0, 0, 0, 0, time.UTC)
}
