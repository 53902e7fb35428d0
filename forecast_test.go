package segue_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func forecastOf(minutes ...int) segue.Forecast {
	var waits []time.Duration
	for _, m := range minutes {
		waits = append(waits, time.Duration(m)*time.Minute)
	}
	return segue.NewForecast(0, "test", waits)
}

func TestNewForecastSortsAndLosesNegativeWaits(t *testing.T) {
	t.Parallel()
	got := segue.NewForecast(7, "test", []time.Duration{3, -2, 1})
	want := segue.Forecast{At: 7, Source: "test", Waits: []time.Duration{0, 1, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("forecast differs (-want +got):\n%s", diff)
	}
}

// Of four values the p-quantile of type 7 lies at h = 3 p, counted from 0: the
// fraction h - floor(h) of the way from value floor(h) to the next.
func TestQuantileIsOfType7(t *testing.T) {
	t.Parallel()
	f := forecastOf(40, 0, 20, 10)
	for p, want := range map[float64]time.Duration{
		0: 0, 0.1: 3 * time.Minute, 0.25: 7*time.Minute + 30*time.Second, 1.0 / 3: 10 * time.Minute, 0.5: 15 * time.Minute,
		0.75: 25 * time.Minute, 0.9: 34 * time.Minute, 1: 40 * time.Minute,
		-1: 0, 2: 40 * time.Minute, // out of range: the ends
	} {
		if got := f.Quantile(p); got != want {
			t.Errorf("the %g-quantile is %s, want %s", p, got, want)
		}
	}
	if got := forecastOf(5).Quantile(0.9); got != 5*time.Minute {
		t.Errorf("a point forecast has the 0.9-quantile %s, want 5m", got)
	}
}

func TestForecastByHand(t *testing.T) {
	t.Parallel()
	f := forecastOf(0, 10, 20, 40)
	if got := f.Mean(); got != 17*time.Minute+30*time.Second {
		t.Errorf("mean %s, want 17m30s", got)
	}
	tests := map[string]struct {
		remaining             time.Duration
		wantWithin            float64
		interruption, overlap time.Duration
	}{
		"the end has come":           {0, 0.25, 17*time.Minute + 30*time.Second, 0},
		"a wait to the minute":       {10 * time.Minute, 0.5, 10 * time.Minute, 150 * time.Second},
		"between two waits":          {15 * time.Minute, 0.5, 7*time.Minute + 30*time.Second, 5 * time.Minute},
		"more than the longest wait": {time.Hour, 1, 0, 42*time.Minute + 30*time.Second},
		"the end is long past":       {-time.Hour, 0, 77*time.Minute + 30*time.Second, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := f.StartsWithin(tt.remaining); got != tt.wantWithin {
				t.Errorf("starts within %s with probability %g, want %g", tt.remaining, got, tt.wantWithin)
			}
			if i, o := f.Interruption(tt.remaining), f.Overlap(tt.remaining); i != tt.interruption || o != tt.overlap {
				t.Errorf("interruption %s and overlap %s, want %s and %s", i, o, tt.interruption, tt.overlap)
			}
		})
	}
}

func TestNoForecastSaysNothing(t *testing.T) {
	t.Parallel()
	var f segue.Forecast
	if !f.Empty() || f.Mean() != 0 || f.Quantile(0.5) != 0 || f.StartsWithin(time.Hour) != 0 ||
		f.Interruption(0) != 0 || f.Overlap(time.Hour) != 0 {
		t.Error("want zeros of an empty forecast")
	}
}

// drawForecast draws a forecast with ties and waits of whole microseconds.
func drawForecast(t *rapid.T) segue.Forecast {
	wait := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{0, time.Hour, 9 * time.Hour}),
		rapid.Map(rapid.Int64Range(0, 14*24*3600*1e6), func(us int64) time.Duration { return time.Duration(us) * time.Microsecond }),
	)
	return segue.NewForecast(0, "test", rapid.SliceOfN(wait, 1, 40).Draw(t, "waits"))
}

// Whatever happens, either the work stands still or both links run:
// E[interruption] - E[overlap] = E[wait] - remaining.
func TestInterruptionLessOverlapIsWaitLessRemaining(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawForecast(t)
		remaining := time.Duration(rapid.Int64Range(-1e9, 2e9).Draw(t, "remaining, us")) * time.Microsecond
		got, want := f.Interruption(remaining)-f.Overlap(remaining), f.Mean()-remaining
		if math.Abs(float64(got-want)) > float64(time.Microsecond) {
			t.Fatalf("interruption - overlap is %s, wait - remaining %s", got, want)
		}
	})
}

func TestQuantilesAscendWithinTheWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawForecast(t)
		last := f.Waits[0]
		for i := range 101 {
			q := f.Quantile(float64(i) / 100)
			if q < last || q > f.Waits[len(f.Waits)-1] {
				t.Fatalf("the %d %% quantile is %s after %s, of waits up to %s", i, q, last, f.Waits[len(f.Waits)-1])
			}
			last = q
		}
		for i, w := range f.Waits {
			if n := float64(i+1) / float64(len(f.Waits)); f.StartsWithin(w) < n {
				t.Fatalf("%g start within the wait %d of %d", f.StartsWithin(w), i+1, len(f.Waits))
			}
		}
		if !slices.IsSorted(f.Waits) {
			t.Fatal("the waits do not ascend")
		}
	})
}
