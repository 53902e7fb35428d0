package segue_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func TestParsePreference(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]segue.Preference{
		"": segue.Balanced, "balanced": segue.Balanced, "no-gap": segue.NoGap, "no-waste": segue.NoWaste,
		"2.5": 2.5, "0.5": 0.5, "1e2": 100, "0.001": 0.001, "1000": 1000,
	} {
		got, err := segue.ParsePreference(text)
		if err != nil || got != want {
			t.Errorf("ParsePreference(%q) = %v, %v; want %v", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"0", "-1", "NaN", "Inf", "-Inf", "1e400", "1e-320", "0.0009", "1001", "no_gap", "4 h", " 4"} {
		got, err := segue.ParsePreference(text)
		if err == nil {
			t.Errorf("ParsePreference(%q) = %v, want a refusal", text, float64(got))
		} else if segue.KindOf(err) != segue.Invalid {
			t.Errorf("ParsePreference(%q): kind %s, want invalid", text, segue.KindOf(err))
		}
	}
}

func TestPreferenceIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := segue.Preference(rapid.OneOf(
			rapid.Float64Range(0.001, 1000), rapid.SampledFrom([]float64{1, 4, 24}),
		).Draw(t, "preference"))
		got, err := segue.ParsePreference(p.String())
		if err != nil || got != p {
			t.Fatalf("%v prints as %q, which is read as %v, %v", float64(p), p, float64(got), err)
		}
	})
}

func TestPriceByHand(t *testing.T) {
	t.Parallel()
	if got := segue.Balanced.Cost(90*time.Minute, 2*time.Hour); got != 2 {
		t.Errorf("1.5 h of interruption and 2 h of overlap cost %g when balanced, want 2", got)
	}
	if got := segue.NoWaste.CriticalQuantile(); got != 0.5 {
		t.Errorf("when both cost the same, cover %g of the waits, want half", got)
	}
	if got := segue.Balanced.CriticalQuantile(); got != 0.8 {
		t.Errorf("when balanced, cover %g of the waits, want 0.8", got)
	}
}

// The newsvendor rule: among all leads, the least that covers the critical
// quantile of the waits has the least expected cost.
func TestCriticalQuantileCostsLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawForecast(t)
		p := segue.Preference(rapid.Float64Range(0.01, 100).Draw(t, "preference"))
		cost := func(lead time.Duration) float64 { return p.Cost(f.Interruption(lead), f.Overlap(lead)) }
		covering := f.Waits[len(f.Waits)-1]
		for _, w := range f.Waits {
			if f.StartsWithin(w) >= p.CriticalQuantile() {
				covering = w
				break
			}
		}
		candidates := append([]time.Duration{0, f.Mean(), f.Quantile(p.CriticalQuantile())}, f.Waits...)
		for range 20 {
			candidates = append(candidates, time.Duration(rapid.Float64Range(0, 1.2).Draw(t, "of the longest wait")*
				float64(f.Waits[len(f.Waits)-1])))
		}
		for _, lead := range candidates {
			if least := cost(covering); cost(lead) < least-1e-9*math.Max(1, least) {
				t.Fatalf("preference %v: a lead of %s costs %.9g, the covering one of %s %.9g",
					float64(p), lead, cost(lead), covering, least)
			}
		}
	})
}
