package trainer

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// everyHour returns submissions of n hours, one an hour, that wait as long as
// wait says; every fifth is held back.
func everyHour(n int, wait func(i int) time.Duration) []Asked {
	asked := make([]Asked, n)
	for i := range asked {
		at := midnight(1).Add(time.Duration(i) * hour)
		asked[i] = Asked{
			Job: i, At: at, Left: at.Add(wait(i)), Started: true, Counts: true, HeldBack: i%5 == 0,
			Told: predictor.Told{"recent": segue.NewForecast(at, "recent", []time.Duration{hour})},
		}
	}
	return asked
}

// always is the forecast of the same waits for every submission.
func always(asked []Asked, name string, waits ...time.Duration) Foretold {
	t := Foretold{Name: name}
	for i := range asked {
		t.Forecasts = append(t.Forecasts, segue.NewForecast(asked[i].At, name, append([]time.Duration(nil), waits...)))
	}
	return t
}

func TestJudgementOfThreeForecasts(t *testing.T) {
	t.Parallel()
	asked := everyHour(24*40, func(int) time.Duration { return 4 * hour })
	report, err := JudgeRecorded(asked, []Foretold{always(asked, "none", 0), always(asked, "two", 2*hour)},
		[]Foretold{always(asked, "right", 4*hour)}, midnight(11), midnight(31), 1)
	if err != nil {
		t.Fatal(err)
	}
	set := report.Sets[0]
	if set.Name != "all" || set.Jobs != 24*20 || report.Sets[1].Jobs != 24*20*4/5 || set.Best != "two" {
		t.Errorf("%s has %d jobs, %d not held back, the best baseline is %s; want all, 480, 384, two", set.Name, set.Jobs, report.Sets[1].Jobs, set.Best)
	}
	want := []struct{ mae, pinball, crps, cover, against float64 }{
		{4, 2, 4, 0, 1}, {2, 1, 2, 0, 0}, {0, 0, 0, 1, -1},
	}
	for k, s := range set.Scores {
		got := []float64{float64(s.MAE), float64(s.Pinball), float64(s.CRPS), float64(s.Cover90), float64(s.Against.Difference)}
		w := []float64{want[k].mae, want[k].pinball, want[k].crps, want[k].cover, want[k].against}
		for i := range w {
			if math.Abs(got[i]-w[i]) > 1e-9 {
				t.Errorf("%s: MAE, pinball, CRPS, coverage, difference %v, want %v", s.Name, got, w)
				break
			}
		}
		if s.Loads[0].Group != "light" || s.Months[0].Group != "2023-01" || s.Months[0].Jobs != set.Jobs {
			t.Errorf("%s: months %+v, want all in January", s.Name, s.Months)
		}
	}
}

func TestNothingToJudge(t *testing.T) {
	t.Parallel()
	asked := everyHour(10, func(int) time.Duration { return hour })
	_, err := JudgeRecorded(asked, []Foretold{always(asked, "none", 0)}, nil, midnight(11), midnight(31), 1)
	if segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v, want an invalid one", err)
	}
}

// The forecast says one hour; the queue has four. Recalibrated online, the share
// of waits up to the 0.9 quantile comes near 0.9 although an outcome is known
// only hours later.
func TestOnlineRecalibrationFollows(t *testing.T) {
	t.Parallel()
	asked := everyHour(24*30, func(i int) time.Duration { return time.Duration(1+i%7) * hour })
	said := always(asked, "short", hour/2, hour, 2*hour)
	corrected := RecalibrateOnline(asked, "short", said.Forecasts, 0)
	covered := 0
	for i := 24 * 10; i < len(asked); i++ {
		if asked[i].Left.Sub(asked[i].At) <= corrected.Forecasts[i].Quantile(0.9) {
			covered++
		}
	}
	if share := float64(covered) / (24 * 20); share < 0.8 || share > 1 {
		t.Errorf("%.2f of the waits are covered, want about 0.9", share)
	}
	if !corrected.Recalibrated || corrected.Name != "short" {
		t.Errorf("%s, recalibrated: %t", corrected.Name, corrected.Recalibrated)
	}
}

// From the 10th day on no job starts any more. Only the pending ones can tell.
func TestPendingJobsCountInRecalibration(t *testing.T) {
	t.Parallel()
	asked := everyHour(24*14, func(i int) time.Duration {
		if i >= 24*10 {
			return 1000 * hour
		}
		return hour
	})
	said := always(asked, "short", hour/2, hour, 2*hour)
	corrected := RecalibrateOnline(asked, "short", said.Forecasts, 0)
	calm, stuck := corrected.Forecasts[24*10].Quantile(0.9), corrected.Forecasts[len(asked)-1].Quantile(0.9)
	if calm > 2*hour || stuck < 10*hour {
		t.Errorf("the 0.9 quantile is %s before the standstill and %s in it, want at most 2h and at least 10h", calm, stuck)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		until segue.Time
		step  time.Duration
		want  []segue.Time
	}{
		"by month":             {midnight(70), 0, []segue.Time{midnight(10), midnight(32), midnight(60)}},
		"by three weeks":       {midnight(70), 21 * day, []segue.Time{midnight(10), midnight(31), midnight(52)}},
		"within one month":     {midnight(20), 0, []segue.Time{midnight(10)}},
		"nothing between them": {midnight(10), 0, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, RecordedOrigins(midnight(10), tt.until, tt.step)); diff != "" {
				t.Errorf("origins differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFactorOfTheScaledSimulation(t *testing.T) {
	t.Parallel()
	asked := everyHour(24*20, func(int) time.Duration { return 3 * hour })
	for i := range asked {
		asked[i].Told[forwardName] = segue.NewForecast(asked[i].At, forwardName, []time.Duration{2 * hour})
	}
	scaled := scaledForward(asked, []segue.Time{midnight(11)})
	first, last := scaled.Forecasts[0].Mean(), scaled.Forecasts[len(asked)-1].Mean()
	if first != 2*hour || (last-3*hour).Abs() > minute {
		t.Errorf("%s before the first origin, %s after it; want 2h as it is, and 3h", first, last)
	}
	errors := forwardErrors(asked).Forecasts[len(asked)-1]
	if (errors.Quantile(0.1)-3*hour).Abs() > minute || (errors.Quantile(0.9)-3*hour).Abs() > minute {
		t.Errorf("by its errors from %s to %s, want 3h", errors.Quantile(0.1), errors.Quantile(0.9))
	}
}
