package policy

import (
	"fmt"
	"math"
	"time"

	"github.com/segue-project/segue"
)

// Situation is what a decision is made from.
type Situation struct {
	At        segue.Time
	Request   segue.Request
	Remaining time.Duration    // until the current link ends
	Prefer    segue.Preference // default balanced
	// MaxLead is the user's cap: never submit with more than that remaining. 0
	// is none.
	MaxLead time.Duration
	// Forecast is the rule's forecaster's, for a submission now; for a rule with
	// AtStart, as it was when the current link started.
	Forecast segue.Forecast
	// Later are forecasts for submissions from now on, each at its At, in
	// order; they become the alternatives.
	Later []segue.Forecast
}

// Decide applies the rule within the safe envelope of [Enveloped]. A decision
// that had no forecast to go by bears the policy name "no-forecast".
func Decide(rule Rule, s Situation) segue.Decision {
	if s.Prefer == 0 {
		s.Prefer = segue.Balanced
	}
	d := Enveloped(rule.Name, rule.Need(s.Forecast), s)
	if rule.Blind(s.Forecast) {
		d.Policy = "no-forecast"
	}
	d.Reason = reason(rule, s, d)
	return d
}

// Enveloped returns the decision of the policy of that name, which wants to
// submit when no more than lead remains, within the safe envelope: it submits at
// the latest when the current link ends and never with more than MaxLead
// remaining. Its Reason is left to the caller.
func Enveloped(name string, lead time.Duration, s Situation) segue.Decision {
	if s.Prefer == 0 {
		s.Prefer = segue.Balanced
	}
	if s.MaxLead > 0 {
		lead = min(lead, s.MaxLead)
	}
	// Instants are whole microseconds: less than that is no time to wait.
	wait := (s.Remaining - max(lead, 0)).Truncate(time.Microsecond)
	return segue.Decision{
		At: s.At, Policy: name, Request: s.Request, Remaining: s.Remaining, Prefer: s.Prefer, Forecast: s.Forecast,
		Alternatives: alternatives(s), Submit: wait <= 0, SubmitAt: s.At.Add(max(wait, 0)),
	}
}

// alternatives prices a submission at each instant of s.Later up to the end of
// the current link.
func alternatives(s Situation) []segue.Alternative {
	var list []segue.Alternative
	for _, f := range s.Later {
		remaining := s.Remaining - f.At.Sub(s.At)
		if remaining < 0 {
			break
		}
		i, o := f.Interruption(remaining), f.Overlap(remaining)
		list = append(list, segue.Alternative{
			SubmitAt: f.At, Interruption: i, Overlap: o, StartsBeforeEnd: f.StartsWithin(remaining), Cost: s.Prefer.Cost(i, o),
			Forecaster: f.Source,
		})
	}
	return list
}

// reason says in one sentence why, with the numbers that decided.
func reason(rule Rule, s Situation, d segue.Decision) string {
	left := "the current link ends in " + Words(s.Remaining)
	need := rule.Need(s.Forecast)
	switch {
	case s.Remaining <= 0:
		return "Submit now: the current link has ended."
	case d.Submit:
		return fmt.Sprintf("Submit now: %s, and %s%s.", left, basis(rule, s, need), comparison(d))
	case s.MaxLead > 0 && need > s.MaxLead:
		return fmt.Sprintf("Wait until %s: %s, and you allow %s of lead at most; %s.", Clock(d.SubmitAt), left, Words(s.MaxLead), basis(rule, s, need))
	}
	return fmt.Sprintf("Wait until %s: %s, and %s%s.", Clock(d.SubmitAt), left, basis(rule, s, need), comparison(d))
}

// basis says where the lead that the rule needs comes from.
func basis(rule Rule, s Situation, need time.Duration) string {
	f := s.Forecast
	switch {
	case rule.Blind(f):
		return fmt.Sprintf("without a forecast to go by the lead is %s", Words(need))
	case rule.Form == Quantile && rule.Param <= 0:
		return "the rule submits at the end"
	case rule.Form == Quantile:
		return fmt.Sprintf("of such jobs submitted now %.0f %% would start within %s (half within %s)",
			100*rule.Param, Words(need), Words(f.Quantile(0.5)))
	case rule.Form == Scale:
		return fmt.Sprintf("the forecast wait of %s, times %.2f, is %s", Words(f.Mean()), rule.Param, Words(need))
	case rule.Form == Margin && rule.Param < 0:
		return fmt.Sprintf("the forecast wait of %s, less a margin of %s, is %s", Words(f.Mean()), Words(-hours(rule.Param)), Words(need))
	case rule.Form == Margin:
		return fmt.Sprintf("the forecast wait of %s, plus a margin of %s, is %s", Words(f.Mean()), Words(hours(rule.Param)), Words(need))
	}
	return fmt.Sprintf("the lead is fixed at %s", Words(need))
}

// comparison says what an hour more of waiting would change.
func comparison(d segue.Decision) string {
	if len(d.Alternatives) < 2 {
		return ""
	}
	now, later := d.Alternatives[0], d.Alternatives[1]
	wait := Words(later.SubmitAt.Sub(now.SubmitAt))
	if d.Submit {
		return fmt.Sprintf("; waiting %s more would change the expected interruption from %s to %s", wait,
			Words(now.Interruption), Words(later.Interruption))
	}
	return fmt.Sprintf("; submitting now would cost an expected %s of overlap to avoid %s of interruption",
		Words(now.Overlap), Words(max(0, later.Interruption-now.Interruption)))
}

// Words returns a duration as people say it: "6 h 10 min", "40 min", "90 s", "0 min".
func Words(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -max(d, -math.MaxInt64)
	}
	if s := d.Round(time.Second); s > 0 && s < 2*time.Minute && s%time.Minute != 0 {
		return fmt.Sprintf("%s%d s", sign, s/time.Second)
	}
	d = d.Round(time.Minute)
	if d == 0 {
		sign = ""
	}
	h, m := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case h == 0:
		return fmt.Sprintf("%s%d min", sign, m)
	case m == 0:
		return fmt.Sprintf("%s%d h", sign, h)
	}
	return fmt.Sprintf("%s%d h %d min", sign, h, m)
}

// Clock returns an instant as reasons name it: "2023-02-14 22:00 UTC".
func Clock(t segue.Time) string { return t.Std().Format("2006-01-02 15:04 UTC") }
