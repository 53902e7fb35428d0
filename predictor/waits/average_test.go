package waits_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

func TestAverage(t *testing.T) {
	t.Parallel()
	of := func(list ...time.Duration) segue.Forecast { return segue.NewForecast(at(0), waits.Source, list) }
	const hour = time.Hour
	tests := map[string]struct {
		parts                  []segue.Forecast
		least, median, longest time.Duration
	}{
		"of one":                     {[]segue.Forecast{of(2*hour, 2*hour)}, 2 * hour, 2 * hour, 2 * hour},
		"of two that are sure":       {[]segue.Forecast{of(2 * hour), of(6 * hour)}, 4 * hour, 4 * hour, 4 * hour},
		"quantile by quantile":       {[]segue.Forecast{of(0, 8*hour), of(4*hour, 4*hour)}, 2 * hour, 4 * hour, 6 * hour},
		"of a short and a long list": {[]segue.Forecast{of(3 * hour), of(hour, hour, hour, hour, hour, hour, hour)}, 2 * hour, 2 * hour, 2 * hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := waits.Average("both", tt.parts...)
			for p, want := range map[float64]time.Duration{0: tt.least, 0.5: tt.median, 1: tt.longest} {
				// Ranks lie half of one away from the ends.
				if got := f.Quantile(p); (got - want).Abs() > 4*time.Minute {
					t.Errorf("the %v quantile is %s, want %s", p, got, want)
				}
			}
			if f.Source != "both" || f.At != at(0) {
				t.Errorf("it is of %s at %s, want of both at %s", f.Source, f.At, at(0))
			}
		})
	}
	if diff := cmp.Diff(segue.Forecast{At: at(0), Source: "both"}, waits.Average("both", of(hour), of())); diff != "" {
		t.Errorf("with one that says nothing (-want +got):\n%s", diff)
	}
}
