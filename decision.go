package segue

import "time"

// Decision is the answer to "submit the next link now?", with what it was
// based on, so that it can be logged, stored, explained and replayed.
type Decision struct {
	At        Time
	Policy    string // stable name of the policy that decided
	Model     string // ID of the model that was asked; empty for none
	Request   Request
	Remaining time.Duration // until the predecessor ends
	Prefer    Preference
	// Submit is true for "now"; otherwise SubmitAt is when to ask again at
	// the latest (and when to submit if nobody asks).
	Submit       bool
	SubmitAt     Time
	Forecast     Forecast
	Alternatives []Alternative // submit now first, then later and later
	Reason       string        // one sentence with numbers
}

// Alternative is one moment at which the next link could be submitted, and
// what is expected then.
type Alternative struct {
	SubmitAt        Time
	Interruption    time.Duration // expected
	Overlap         time.Duration // expected
	StartsBeforeEnd float64       // probability that there is no interruption
	Cost            float64       // hours, at the user's preference
	Forecaster      string        // whose forecast this is
}
