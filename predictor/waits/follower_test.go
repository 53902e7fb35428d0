package waits_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

// tenHours is a forecast of 1, 2, ... 10 hours.
func tenHours(at segue.Time) segue.Forecast {
	var list []time.Duration
	for h := 1; h <= 10; h++ {
		list = append(list, time.Duration(h)*time.Hour)
	}
	return segue.NewForecast(at, "test", list)
}

func TestWaitsThatAreNotOver(t *testing.T) {
	t.Parallel()
	now := segue.Seconds(1e6)
	many := func(n int, age time.Duration) []waits.Pending {
		list := make([]waits.Pending, n)
		for i := range list {
			list[i] = waits.Pending{Forecast: tenHours(now.Add(-age)), Age: age}
		}
		return list
	}
	tests := map[string]struct {
		pending []waits.Pending
		want    func(before, after segue.Forecast) bool
		wantIn  string
	}{
		"one that has hardly begun says nothing": {
			many(50, time.Minute),
			func(before, after segue.Forecast) bool { return cmp.Equal(before, after) }, "no change",
		},
		"some that lasted long make the forecast longer": {
			many(50, 8*time.Hour),
			func(before, after segue.Forecast) bool { return after.Quantile(0.5) > before.Quantile(0.5)+time.Hour }, "a later median",
		},
		"some that outlasted their forecasts stretch it": {
			many(50, 30*time.Hour),
			func(_, after segue.Forecast) bool { return after.Quantile(0.9) > 10*time.Hour }, "a 0.9 quantile after the last wait",
		},
		"an empty forecast teaches nothing": {
			[]waits.Pending{{Age: time.Hour}},
			func(before, after segue.Forecast) bool { return cmp.Equal(before, after) }, "no change",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f waits.Follower
			before, after := f.Correct(tenHours(now), nil), f.Correct(tenHours(now), tt.pending)
			if !tt.want(before, after) {
				t.Errorf("before %v, after %v; want %s", before.Waits, after.Waits, tt.wantIn)
			}
		})
	}
}

func TestAnOlderQueueNeverShortensTheForecast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := segue.Seconds(1e6)
		age := time.Duration(rapid.IntRange(2, 12).Draw(t, "age")) * time.Hour
		older := age + time.Duration(rapid.IntRange(0, 12).Draw(t, "older by"))*time.Hour
		n := rapid.IntRange(1, 40).Draw(t, "waiting")
		corrected := func(age time.Duration) segue.Forecast {
			var f waits.Follower
			list := make([]waits.Pending, n)
			for i := range list {
				list[i] = waits.Pending{Forecast: tenHours(now), Age: age}
			}
			return f.Correct(tenHours(now), list)
		}
		young, old := corrected(age), corrected(older)
		for i := range young.Waits {
			if old.Waits[i] < young.Waits[i]-time.Second {
				t.Fatalf("after %s %v, after %s %v", age, young.Waits, older, old.Waits)
			}
		}
	})
}
