package waits_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	var r waits.Follower
	f := exponential(at(0), 3)
	if diff := cmp.Diff(f, r.Correct(f, nil)); diff != "" {
		t.Error(diff)
	}
	r.Observe(segue.Forecast{}, hour, at(0))
	if diff := cmp.Diff(f, r.Correct(f, nil)); diff != "" {
		t.Errorf("an outcome without a forecast: %s", diff)
	}
}

// The forecasts say 2 hours in the mean; the queue has 2, then 6, then 0.5. With
// the corrections the share of waits below the 0.9 quantile stays near 0.9.
func TestRecalibrationFollowsTheLoad(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 0))
	var r waits.Follower
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
				if wait <= r.Correct(f, nil).Quantile(0.9) {
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

// Most forecasts of a calm queue are "at once": the level of such an outcome is
// spread over the share of the forecast that says so, and nothing moves.
func TestRecalibrationOfTies(t *testing.T) {
	t.Parallel()
	var r waits.Follower
	calm := segue.NewForecast(at(0), waits.Source, append(make([]time.Duration, 36), hour, 2*hour, 3*hour, 4*hour))
	for i := range 200 {
		wait := time.Duration(0)
		if i%10 == 9 {
			wait = time.Duration(1+i/10%4) * hour
		}
		r.Observe(calm, wait, at(time.Duration(i)*hour))
	}
	calm.At = at(200 * hour)
	got := r.Correct(calm, nil)
	if p := got.StartsWithin(0); math.Abs(p-0.9) > 0.05 {
		t.Errorf("%.2f start at once after the correction, want 0.9", p)
	}
	if q := got.Quantile(0.99); q < 2*hour || q > 6*hour {
		t.Errorf("the 0.99 quantile is %s after the correction, want about 4h", q)
	}
}

// A queue that holds nobody up, of which every forecast speaks of days: what
// starts at once is below every level of it.
func TestRecalibrationOfWaitsBelowTheirForecasts(t *testing.T) {
	t.Parallel()
	days := func(now segue.Time) segue.Forecast {
		return segue.NewForecast(now, "test", []time.Duration{40 * hour, 50 * hour, 60 * hour, 70 * hour})
	}
	var r waits.Follower
	now := at(0)
	for i := range 200 {
		now = now.Add(hour)
		wait := time.Duration(0)
		if i%4 == 3 {
			wait = 5 * hour
		}
		r.Observe(days(now), wait, now)
	}
	got := r.Correct(days(now), nil)
	if q := got.Quantile(0.6); q != 0 {
		t.Errorf("the 0.6 quantile is %s, where three of four start at once", q)
	}
	if q := got.Quantile(0.85); q < 4*hour || q > 6*hour {
		t.Errorf("the 0.85 quantile is %s, where one of four waits 5h", q)
	}
	if q := got.Quantile(0.99); q < 40*hour {
		t.Errorf("the 0.99 quantile is %s: the assumption that the forecast is right is gone", q)
	}
	calm := segue.NewForecast(now, "test", []time.Duration{hour, 2 * hour})
	if q := r.Correct(calm, nil).Quantile(0.85); q > 2*hour {
		t.Errorf("a forecast of 2h at most is raised to %s by waits below theirs", q)
	}
}

// A queue that looks empty and holds everybody up: how many times as long as nothing
// a wait was says little, how long it was says more.
func TestRecalibrationOfWaitsThatNobodyForesaw(t *testing.T) {
	t.Parallel()
	idle := func(now segue.Time) segue.Forecast { return segue.NewForecast(now, "test", make([]time.Duration, 40)) }
	var r waits.Follower
	now := at(0)
	for i := range 200 {
		now = now.Add(hour)
		r.Observe(idle(now), time.Duration(6+i%7)*hour, now)
	}
	got := r.Correct(idle(now), nil)
	if q := got.Quantile(0.5); q < 5*hour || q > 13*hour {
		t.Errorf("the median is %s, where all waited 6 to 12 hours", q)
	}
	if q := got.Quantile(0.9); q < 12*hour || q > 24*hour {
		t.Errorf("the 0.9 quantile is %s, where all waited 6 to 12 hours", q)
	}
}
