package policy_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
)

const (
	minute = time.Minute
	hour   = time.Hour
)

var noon = segue.Seconds(1676376000) // 2023-02-14 12:00 UTC

// waits returns a forecast of equally likely waits in hours.
func waits(hours ...float64) segue.Forecast {
	var list []time.Duration
	for _, h := range hours {
		list = append(list, time.Duration(h*float64(hour)))
	}
	return segue.NewForecast(noon, "test", list)
}

func later(after time.Duration, hours ...float64) segue.Forecast {
	f := waits(hours...)
	f.At = f.At.Add(after)
	return f
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	constant := policy.Rule{Name: "constant", Form: policy.Constant, Param: 3}
	quantile := policy.Rule{Name: "q", Forecaster: "f", Form: policy.Quantile, Param: 0.8}
	scale := policy.Rule{Name: "s", Forecaster: "f", Form: policy.Scale, Param: 0.5}
	margin := policy.Rule{Name: "m", Forecaster: "f", Form: policy.Margin, Param: 1.5}
	spread := waits(0, 1, 2, 3, 4, 6)
	with := func(r policy.Rule, param float64) policy.Rule { r.Param = param; return r }
	tests := map[string]struct {
		rule       policy.Rule
		situation  policy.Situation
		wantSubmit bool
		wantWait   time.Duration // until SubmitAt
		wantPolicy string        // default the rule's
		wantReason string
	}{
		"more time left than the wait": {
			rule: quantile, situation: policy.Situation{Remaining: 9 * hour, Forecast: spread}, wantWait: 5 * hour,
			wantReason: "Wait until 2023-02-14 17:00 UTC: the current link ends in 9 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min).",
		},
		"less time left than the wait": {
			rule: quantile, situation: policy.Situation{Remaining: 3 * hour, Forecast: spread}, wantSubmit: true,
			wantReason: "Submit now: the current link ends in 3 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min).",
		},
		"exactly the wait left": {
			rule: quantile, situation: policy.Situation{Remaining: 4 * hour, Forecast: spread}, wantSubmit: true,
			wantReason: "Submit now: the current link ends in 4 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min).",
		},
		"a nanosecond more than the wait is no time to wait for": {
			rule: quantile, situation: policy.Situation{Remaining: 4*hour + 1, Forecast: spread}, wantSubmit: true,
			wantReason: "Submit now: the current link ends in 4 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min).",
		},
		"the link has ended": {
			rule: quantile, situation: policy.Situation{Remaining: -hour, Forecast: spread}, wantSubmit: true,
			wantReason: "Submit now: the current link has ended.",
		},
		"the user's cap comes before the wait": {
			rule: quantile, situation: policy.Situation{Remaining: 3 * hour, MaxLead: hour, Forecast: spread}, wantWait: 2 * hour,
			wantReason: "Wait until 2023-02-14 14:00 UTC: the current link ends in 3 h, and you allow 1 h of lead at most; " +
				"of such jobs submitted now 80 % would start within 4 h (half within 2 h 30 min).",
		},
		"within the user's cap the reason is the wait, not the cap": {
			rule: quantile, situation: policy.Situation{Remaining: 30 * minute, MaxLead: hour, Forecast: spread}, wantSubmit: true,
			wantReason: "Submit now: the current link ends in 30 min, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min).",
		},
		"a cap that does not bind": {
			rule: quantile, situation: policy.Situation{Remaining: 9 * hour, MaxLead: 5 * hour, Forecast: spread}, wantWait: 5 * hour,
			wantReason: "Wait until 2023-02-14 17:00 UTC: the current link ends in 9 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min).",
		},
		"a quantile of 0 is the end": {
			rule: with(quantile, 0), situation: policy.Situation{Remaining: hour, Forecast: waits(2, 3)}, wantWait: hour,
			wantReason: "Wait until 2023-02-14 13:00 UTC: the current link ends in 1 h, and the rule submits at the end.",
		},
		"a fixed lead": {
			rule: constant, situation: policy.Situation{Remaining: 4 * hour}, wantWait: hour,
			wantReason: "Wait until 2023-02-14 13:00 UTC: the current link ends in 4 h, and the lead is fixed at 3 h.",
		},
		"a share of the mean wait": {
			rule: scale, situation: policy.Situation{Remaining: 2 * hour, Forecast: waits(1, 7)}, wantSubmit: true,
			wantReason: "Submit now: the current link ends in 2 h, and the forecast wait of 4 h, times 0.50, is 2 h.",
		},
		"a margin": {
			rule: margin, situation: policy.Situation{Remaining: 7 * hour, Forecast: waits(1, 7)}, wantWait: 90 * minute,
			wantReason: "Wait until 2023-02-14 13:30 UTC: the current link ends in 7 h, and the forecast wait of 4 h, " +
				"plus a margin of 1 h 30 min, is 5 h 30 min.",
		},
		"a negative margin": {
			rule: with(margin, -5), situation: policy.Situation{Remaining: hour, Forecast: waits(1, 7)}, wantWait: hour,
			wantReason: "Wait until 2023-02-14 13:00 UTC: the current link ends in 1 h, and the forecast wait of 4 h, " +
				"less a margin of 5 h, is 0 min.",
		},
		"no forecast, and time": {
			rule: quantile, situation: policy.Situation{Remaining: 5 * hour}, wantWait: 3 * hour, wantPolicy: "no-forecast",
			wantReason: "Wait until 2023-02-14 15:00 UTC: the current link ends in 5 h, " +
				"and without a forecast to go by the lead is 2 h.",
		},
		"no forecast, and no time": {
			rule: quantile, situation: policy.Situation{Remaining: hour}, wantSubmit: true, wantPolicy: "no-forecast",
			wantReason: "Submit now: the current link ends in 1 h, and without a forecast to go by the lead is 2 h.",
		},
		"no forecast, and a cap": {
			rule: quantile, situation: policy.Situation{Remaining: 90 * minute, MaxLead: hour}, wantWait: 30 * minute, wantPolicy: "no-forecast",
			wantReason: "Wait until 2023-02-14 12:30 UTC: the current link ends in 1 h 30 min, and you allow 1 h of lead at most; " +
				"without a forecast to go by the lead is 2 h.",
		},
		"what an hour more would change": {
			rule: quantile, wantSubmit: true, situation: policy.Situation{
				Remaining: 3 * hour, Forecast: spread, Later: []segue.Forecast{later(0, 2, 4), later(hour, 2, 5)},
			},
			wantReason: "Submit now: the current link ends in 3 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min); " +
				"waiting 1 h more would change the expected interruption from 30 min to 1 h 30 min.",
		},
		"what an hour less would cost": {
			rule: quantile, wantWait: hour, situation: policy.Situation{
				Remaining: 5 * hour, Forecast: spread, Later: []segue.Forecast{later(0, 2, 4), later(hour, 2, 5)},
			},
			wantReason: "Wait until 2023-02-14 13:00 UTC: the current link ends in 5 h, and of such jobs submitted now " +
				"80 % would start within 4 h (half within 2 h 30 min); " +
				"submitting now would cost an expected 2 h of overlap to avoid 30 min of interruption.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.situation.At = noon
			d := policy.Decide(tt.rule, tt.situation)
			if d.Submit != tt.wantSubmit || d.SubmitAt != noon.Add(tt.wantWait) {
				t.Errorf("submit %t at %s, want %t at %s", d.Submit, d.SubmitAt, tt.wantSubmit, noon.Add(tt.wantWait))
			}
			if tt.wantPolicy == "" {
				tt.wantPolicy = tt.rule.Name
			}
			if d.Policy != tt.wantPolicy {
				t.Errorf("decided by %q, want %q", d.Policy, tt.wantPolicy)
			}
			if diff := cmp.Diff(tt.wantReason, d.Reason); diff != "" {
				t.Errorf("reason differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecisionCarriesWhatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	req := segue.Request{Shape: segue.Shape{Nodes: 2, Limit: hour}, User: "ada"}
	s := policy.Situation{
		At: noon, Request: req, Remaining: 90 * minute, Prefer: segue.NoWaste, Forecast: waits(1, 3),
		Later: []segue.Forecast{later(0, 1, 3), later(hour, 0, 1), later(2*hour, 9)},
	}
	want := segue.Decision{
		At: noon, Policy: "s", Request: req, Remaining: 90 * minute, Prefer: segue.NoWaste, Forecast: waits(1, 3),
		Submit: true, SubmitAt: noon,
		Alternatives: []segue.Alternative{
			{SubmitAt: noon, Interruption: 45 * minute, Overlap: 15 * minute, StartsBeforeEnd: 0.5, Cost: 1, Forecaster: "test"},
			{SubmitAt: noon.Add(hour), Interruption: 15 * minute, Overlap: 15 * minute, StartsBeforeEnd: 0.5, Cost: 0.5, Forecaster: "test"},
			// the third is after the end
		},
		Reason: "Submit now: the current link ends in 1 h 30 min, and the forecast wait of 2 h, times 1.00, is 2 h; " +
			"waiting 1 h more would change the expected interruption from 45 min to 15 min.",
	}
	got := policy.Decide(policy.Rule{Name: "s", Forecaster: "f", Form: policy.Scale, Param: 1}, s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decision differs (-want +got):\n%s", diff)
	}
}

// drawRule draws one of every form, with parameters beyond the sensible.
func drawRule(t *rapid.T) policy.Rule {
	r := policy.Rule{
		Name: "rule", Form: policy.Form(rapid.IntRange(0, 3).Draw(t, "form")),
		Forecaster: rapid.SampledFrom([]string{"", "forecaster"}).Draw(t, "forecaster"),
	}
	switch r.Form {
	case policy.Constant, policy.Margin:
		r.Param = rapid.Float64Range(-100, 100).Draw(t, "hours")
	case policy.Scale:
		r.Param = rapid.Float64Range(0, 10).Draw(t, "factor")
	case policy.Quantile:
		r.Param = rapid.Float64Range(0, 1).Draw(t, "quantile")
	}
	return r
}

func drawForecast(t *rapid.T, at segue.Time) segue.Forecast {
	most := int64(14 * 24 * hour)
	wait := rapid.Map(rapid.Int64Range(0, most), func(n int64) time.Duration { return time.Duration(n) })
	return segue.NewForecast(at, "test", rapid.SliceOfN(wait, 0, 20).Draw(t, "waits"))
}

func drawSituation(t *rapid.T) policy.Situation {
	s := policy.Situation{
		At:        segue.Time(rapid.Int64Range(-1e15, 2e15).Draw(t, "at")),
		Remaining: time.Duration(rapid.Int64Range(-int64(hour), int64(100*hour)).Draw(t, "remaining")),
		MaxLead: rapid.OneOf(rapid.Just(time.Duration(0)), rapid.Map(rapid.Int64Range(1, int64(80*hour)),
			func(n int64) time.Duration { return time.Duration(n) })).Draw(t, "max lead"),
		Prefer: segue.Preference(rapid.SampledFrom([]float64{0, 0.001, 1, 4, 24, 1000}).Draw(t, "prefer")),
	}
	s.Forecast = drawForecast(t, s.At)
	for i := range rapid.IntRange(0, 4).Draw(t, "later") {
		s.Later = append(s.Later, drawForecast(t, s.At.Add(time.Duration(i)*hour)))
	}
	return s
}

// Whatever the rule and its forecast: never later than the end, never earlier
// than the user's cap, and what is said to be the moment to submit is.
func TestDecisionsStayInTheSafeEnvelope(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule, s := drawRule(t), drawSituation(t)
		d := policy.Decide(rule, s)
		end := s.At.Add(s.Remaining)
		switch {
		case s.Remaining <= 0 && !d.Submit:
			t.Fatal("the link has ended, and the next is not submitted")
		case d.Submit && s.MaxLead > 0 && s.Remaining-s.MaxLead >= time.Microsecond:
			t.Fatalf("submitted with %s left, of which %s are allowed", s.Remaining, s.MaxLead)
		case d.Submit != (d.SubmitAt == s.At):
			t.Fatalf("submit %t, at %s, which is %s", d.Submit, d.SubmitAt, d.SubmitAt.Sub(s.At))
		case d.SubmitAt < s.At || (s.Remaining > 0 && d.SubmitAt > end):
			t.Fatalf("to submit at %s, between %s and the end at %s", d.SubmitAt, s.At, end)
		}
		s.Remaining -= d.SubmitAt.Sub(s.At)
		s.At = d.SubmitAt
		if !policy.Decide(rule, s).Submit {
			t.Fatalf("asked again at the moment to submit, with %s left: wait", s.Remaining)
		}
	})
}

var sentence = regexp.MustCompile(`^(Submit now|Wait until \d{4}-\d\d-\d\d \d\d:\d\d UTC): [a-z].*[a-z\d)]\.$`)

// A reason is one sentence that a person can read.
func TestReasonsAreSentencesWithNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		d := policy.Decide(drawRule(t), s)
		if !sentence.MatchString(d.Reason) {
			t.Fatalf("not a sentence: %q", d.Reason)
		}
		if s.Remaining > 0 && !strings.Contains(d.Reason, "ends in "+policy.Words(s.Remaining)) {
			t.Fatalf("does not say that %s are left: %q", s.Remaining, d.Reason)
		}
		for _, nonsense := range []string{"NaN", "Inf", "in -", "within -", "of -", " -", "%!", "  "} {
			if strings.Contains(d.Reason, nonsense) {
				t.Fatalf("%q in %q", nonsense, d.Reason)
			}
		}
	})
}

func TestAlternativesHaveFinitePrices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t)
		for _, a := range policy.Decide(drawRule(t), s).Alternatives {
			if math.IsNaN(a.Cost) || math.IsInf(a.Cost, 0) || a.Cost < 0 || a.Interruption < 0 || a.Overlap < 0 {
				t.Fatalf("an alternative of %s interruption, %s overlap, cost %v", a.Interruption, a.Overlap, a.Cost)
			}
			if a.SubmitAt > s.At.Add(s.Remaining) {
				t.Fatalf("an alternative at %s, after the end", a.SubmitAt)
			}
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 min", 400 * time.Millisecond: "0 min", -400 * time.Millisecond: "0 min", 29 * time.Second: "29 s", -29 * time.Second: "-29 s",
		minute: "1 min", 90 * time.Second: "90 s", 119600 * time.Millisecond: "2 min", 150 * time.Second: "3 min",
		40 * minute: "40 min", hour: "1 h", hour - 20*time.Second: "1 h", 6*hour + 10*minute: "6 h 10 min",
		-90 * minute: "-1 h 30 min", 100 * hour: "100 h",
		math.MaxInt64: "2562047 h 47 min", math.MinInt64: "-2562047 h 47 min",
	} {
		if got := policy.Words(d); got != want {
			t.Errorf("%d in words: %q, want %q", d, got, want)
		}
	}
}

func ExampleDecide() {
	d := policy.Decide(
		policy.Rule{Name: "constant", Form: policy.Constant, Param: 3},
		policy.Situation{At: noon, Remaining: 2 * time.Hour},
	)
	fmt.Println(d.Submit, d.Reason)
	// Output: true Submit now: the current link ends in 2 h, and the lead is fixed at 3 h.
}
