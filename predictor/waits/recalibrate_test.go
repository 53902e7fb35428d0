package waits_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

// exponential returns 40 equally likely waits of that mean in hours.
func exponential(at segue.Time, mean float64) segue.Forecast {
	list := make([]time.Duration, 40)
	for j := range list {
		list[j] = time.Duration(-mean * math.Log(1-(float64(j)+0.5)/40) * float64(hour))
	}
	return segue.NewForecast(at, waits.Source, list)
}

func TestRecalibrationWithoutOutcomesChangesNothing(t *testing.T) {
	t.Parallel()
	var r waits.Recalibrator
	f := exponential(at(0), 3)
	if diff := cmp.Diff(f, r.Correct(f)); diff != "" {
		t.Error(diff)
	}
	r.Observe(segue.Forecast{}, hour, at(0))
	if diff := cmp.Diff(f, r.Correct(f)); diff != "" {
		t.Errorf("an outcome without a forecast: %s", diff)
	}
}

// The forecasts say 2 hours in the mean; the queue has 2, then 6, then 0.5. With
// the corrections the share of waits below the 0.9 quantile stays near 0.9.
func TestRecalibrationFollowsTheLoad(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 0))
	var r waits.Recalibrator
	now := at(0)
	for _, phase := range []struct {
		mean float64
		days int
	}{{2, 20}, {6, 40}, {0.5, 40}} {
		covered, plain, n := 0, 0, 0
		for step := range 24 * phase.days {
			now = now.Add(hour)
			f := exponential(now, 2)
			wait := time.Duration(rng.ExpFloat64() * phase.mean * float64(hour))
			if step > 24*10 { // once it has had time to follow
				n++
				if wait <= r.Correct(f).Quantile(0.9) {
					covered++
				}
				if wait <= f.Quantile(0.9) {
					plain++
				}
			}
			r.Observe(f, wait, now)
		}
		got, before := float64(covered)/float64(n), float64(plain)/float64(n)
		if math.Abs(got-0.9) > 0.035 {
			t.Errorf("mean wait %g h: coverage of the 0.9 quantile %.3f, want 0.9 (uncorrected %.3f)", phase.mean, got, before)
		}
	}
}

func TestRecalibrationKnowsNothingLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var one, other waits.Recalibrator
		n := rapid.IntRange(1, 60).Draw(t, "outcomes")
		now := at(time.Duration(rapid.IntRange(0, n).Draw(t, "now, hours")) * hour)
		for i := range n {
			known := at(time.Duration(i) * hour)
			f := exponential(known, 3)
			wait := time.Duration(rapid.Float64Range(0, 40).Draw(t, "wait") * float64(hour))
			one.Observe(f, wait, known)
			if known > now {
				wait = time.Duration(rapid.Float64Range(0, 40).Draw(t, "other wait") * float64(hour))
			}
			other.Observe(f, wait, known)
		}
		f := exponential(now, 2)
		got := one.Correct(f)
		if diff := cmp.Diff(got, other.Correct(f)); diff != "" {
			t.Fatalf("the correction depends on what comes later:\n%s", diff)
		}
		if !slices.IsSorted(got.Waits) || got.Waits[0] < 0 || len(got.Waits) != len(f.Waits) {
			t.Fatalf("waits %v", got.Waits)
		}
	})
}

// Most forecasts of a calm queue are "at once": the level of such an outcome is
// spread over the share of the forecast that says so, and nothing moves.
func TestRecalibrationOfTies(t *testing.T) {
	t.Parallel()
	var r waits.Recalibrator
	calm := segue.NewForecast(at(0), waits.Source, append(make([]time.Duration, 36), hour, 2*hour, 3*hour, 4*hour))
	for i := range 200 {
		wait := time.Duration(0)
		if i%10 == 9 {
			wait = time.Duration(1+i/10%4) * hour
		}
		r.Observe(calm, wait, at(time.Duration(i)*hour))
	}
	calm.At = at(200 * hour)
	got := r.Correct(calm)
	if p := got.StartsWithin(0); math.Abs(p-0.9) > 0.05 {
		t.Errorf("%.2f start at once after the correction, want 0.9", p)
	}
	if q := got.Quantile(0.99); q < 2*hour || q > 6*hour {
		t.Errorf("the 0.99 quantile is %s after the correction, want about 4h", q)
	}
}
