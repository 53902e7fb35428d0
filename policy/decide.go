package policy

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
)

// Situation is what a decision is made from.
type Situation struct {
	At        segue.Time
	Request   segue.Request
	Remaining time.Duration // until the current link ends
	Prefer    segue.Preference
	// MaxLead is the user's cap: never submit with more than that remaining. 0
	// is none.
	MaxLead time.Duration
	// Forecast is the rule's forecaster's, for a submission now.
	Forecast segue.Forecast
	// Later are forecasts for submissions from now on, each at its At, in
	// order; they become the alternatives.
	Later []segue.Forecast
}

// blindLead is the lead at which a link is submitted when there is no forecast.
const blindLead = 2 * time.Hour

// Decide applies the rule within the safe envelope: it submits at the latest
// when the current link ends and never with more than MaxLead remaining.
// Without a forecast it submits blindLead before the end, and says so.
func Decide(rule Rule, s Situation) segue.Decision {
	d := segue.Decision{
		At: s.At, Policy: rule.Name, Request: s.Request, Remaining: s.Remaining, Prefer: s.Prefer, Forecast: s.Forecast,
		Alternatives: alternatives(s),
	}
	need := rule.Need(s.Forecast)
	blind := s.Forecast.Empty() && rule.Forecaster != ""
	if blind {
		d.Policy, need = "no-forecast", blindLead
	}
	if s.MaxLead > 0 {
		need = min(need, s.MaxLead)
	}
	need = max(need, 0)
	d.Submit = s.Remaining <= need
	d.SubmitAt = s.At
	if !d.Submit {
		d.SubmitAt = s.At.Add(s.Remaining - need)
	}
	d.Reason = reason(rule, s, d, need, blind)
	return d
}

// alternatives prices a submission at each instant of s.Later, and at the end.
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
		})
	}
	return list
}

// reason says in one sentence why, with the numbers that decided.
func reason(rule Rule, s Situation, d segue.Decision, need time.Duration, blind bool) string {
	left := "the current link ends in " + Words(s.Remaining)
	switch {
	case s.Remaining <= 0:
		return "Submit now: the current link has ended."
	case blind && d.Submit:
		return fmt.Sprintf("Submit now: there is no forecast to go by, and %s, less than the %s kept for that case.", left, Words(blindLead))
	case blind:
		return fmt.Sprintf("Wait: there is no forecast to go by, and %s, more than the %s kept for that case.", left, Words(blindLead))
	case s.MaxLead > 0 && need == s.MaxLead && !d.Submit && rule.Need(s.Forecast) > s.MaxLead:
		return fmt.Sprintf("Wait: you allow at most %s of lead, and %s.", Words(s.MaxLead), left)
	case d.Submit:
		return fmt.Sprintf("Submit now: %s, and %s%s.", left, basis(rule, s, need), comparison(d))
	}
	return fmt.Sprintf("Wait until %s: %s, and %s%s.", clock(d.SubmitAt), left, basis(rule, s, need), comparison(d))
}

// basis says what the rule asked of the forecast.
func basis(rule Rule, s Situation, need time.Duration) string {
	f := s.Forecast
	switch rule.Form {
	case Quantile:
		return fmt.Sprintf("of such jobs submitted now %.0f %% would start within %s (half within %s)",
			100*rule.Param, Words(need), Words(f.Quantile(0.5)))
	case Scale:
		return fmt.Sprintf("the simulated wait of %s, times %.2f, is %s", Words(f.Mean()), rule.Param, Words(need))
	case Margin:
		return fmt.Sprintf("the simulated wait of %s, with a margin of %s, is %s", Words(f.Mean()), Words(hours(rule.Param)), Words(need))
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

// Words returns a duration as people say it: "6 h 10 min", "40 min", "0 min".
func Words(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	d = d.Round(time.Minute)
	h, m := d/time.Hour, d%time.Hour/time.Minute
	switch {
	case h == 0:
		return fmt.Sprintf("%s%d min", sign, m)
	case m == 0:
		return fmt.Sprintf("%s%d h", sign, h)
	}
	return fmt.Sprintf("%s%d h %d min", sign, h, m)
}

func clock(t segue.Time) string { return t.Std().Format("2006-01-02 15:04 UTC") }
