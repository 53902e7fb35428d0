package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// explain says in a sentence with numbers why a decision is as it is, from its
// forecast and its alternatives.
func explain(d segue.Decision) string {
	if d.Forecast.Empty() {
		return fmt.Sprintf("At %s UTC there was no forecast to decide by.", moment(d.At))
	}
	if d.Submit {
		return explainSubmission(d)
	}
	return explainWait(d)
}

func explainSubmission(d segue.Decision) string {
	parts := []string{fmt.Sprintf("Submitting at %s: %s", clock(d.At, segue.NoTime), startsWithin(d.Forecast))}
	if d.Remaining <= 0 {
		return parts[0] + "; no link runs that it could follow without a gap."
	}
	parts = append(parts, "the link before ends in "+span(d.Remaining))
	if later, ok := after(d, time.Hour); ok {
		parts = append(parts, fmt.Sprintf("waiting %s more would %s", span(later.SubmitAt.Sub(d.At)), risks(later)))
	}
	return strings.Join(parts, "; ") + "."
}

func explainWait(d segue.Decision) string {
	parts := []string{fmt.Sprintf("Waiting until %s: submitted at %s already, %s",
		clock(d.SubmitAt, d.At), clock(d.At, segue.NoTime), startsWithin(d.Forecast))}
	if d.Remaining > 0 {
		text := "the link before has " + span(d.Remaining) + " to go"
		if now, ok := after(d, 0); ok && now.Overlap > 0 {
			text += ", so that both would run at once for " + span(now.Overlap) + " on average"
		}
		parts = append(parts, text)
	}
	if then, ok := after(d, d.SubmitAt.Sub(d.At)); ok {
		parts = append(parts, fmt.Sprintf("submitting at %s would %s", clock(then.SubmitAt, d.At), risks(then)))
	}
	return strings.Join(parts, "; ") + "."
}

func startsWithin(f segue.Forecast) string {
	if len(f.Waits) == 1 {
		return "such a job is forecast to start within " + span(f.Waits[0])
	}
	return fmt.Sprintf("90 %% of such jobs are forecast to start within %s, half within %s", span(f.Quantile(0.9)), span(f.Quantile(0.5)))
}

// after returns the first alternative that is submitted so long after the decision,
// or later.
func after(d segue.Decision, lead time.Duration) (segue.Alternative, bool) {
	for _, a := range d.Alternatives {
		if a.SubmitAt >= d.At.Add(lead) {
			return a, true
		}
	}
	return segue.Alternative{}, false
}

// risks says how likely an alternative leads to a gap, and how long that then is.
func risks(a segue.Alternative) string {
	p := 1 - a.StartsBeforeEnd
	if p < 0.025 || a.Interruption <= 0 {
		return "hardly risk a gap (" + chance(p) + ")"
	}
	return fmt.Sprintf("risk a gap of %s in %s", span(time.Duration(float64(a.Interruption)/p)), chance(p))
}

// ofRecent says how long jobs of a shape waited lately.
func ofRecent(r Recent) string {
	n := len(r.Waits.Waits)
	if n == 0 {
		return fmt.Sprintf("No such job started in the week up to %s UTC.", moment(r.Until))
	}
	if n < 5 {
		return fmt.Sprintf("Of such jobs, %d started in the week up to %s UTC; the longest wait was %s.", n, moment(r.Until), span(r.Waits.Waits[n-1]))
	}
	return fmt.Sprintf("Of %s such jobs that started in the week up to %s UTC, 90 %% had waited at most %s, and half at most %s.",
		grouped(int64(n)), moment(r.Until), span(r.Waits.Quantile(0.9)), span(r.Waits.Quantile(0.5)))
}

// came says what came of a decision.
func came(r Recorded) string {
	switch {
	case !r.Known:
		return ""
	case r.Interruption > 0:
		return "It came to a gap of " + span(r.Interruption) + "."
	case r.Overlap > 0:
		return "There was no gap; both links ran at once for " + span(r.Overlap) + "."
	}
	return "There was neither gap nor overlap."
}
