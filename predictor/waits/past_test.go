package waits_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

// turnout is a forecast of one to ten hours, of which two in ten are no wait, and
// what came of it after a wait.
func turnout(at segue.Time, wait time.Duration, started bool) waits.Turnout {
	f := tenHours(at)
	f.Waits[0], f.Waits[1] = 0, 0
	return waits.Turnout{Forecast: f, Left: at.Add(wait), Started: started}
}

// Turnouts given in any order correct as if everything were looked up anew at
// every instant.
func TestPastKnowsAtEveryInstantWhatWasKnownBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		atOnce := rapid.SampledFrom([]time.Duration{0, waits.AtOnce}).Draw(t, "at once")
		var list []waits.Turnout
		for range rapid.IntRange(0, 30).Draw(t, "turnouts") {
			at := segue.Seconds(1e6).Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "submitted")) * time.Hour)
			wait := time.Duration(rapid.IntRange(0, 1500).Draw(t, "wait")) * time.Minute
			o := turnout(at, wait, rapid.Bool().Draw(t, "started"))
			if rapid.IntRange(0, 5).Draw(t, "still waits") == 0 {
				o.Left = segue.Never
			}
			list = append(list, o)
		}
		past := waits.NewPast(waits.Follower{}, list, atOnce)
		for h := range 60 {
			said := tenHours(segue.Seconds(1e6).Add(time.Duration(h) * time.Hour))
			got, want := past.Correct(said), lookUp(list, said, atOnce)
			for _, p := range []float64{0.1, 0.5, 0.9} {
				if g, w := got.Quantile(p), want.Quantile(p); (g - w).Abs() > time.Millisecond {
					t.Fatalf("after %d hours the %v quantile is %s, want %s", h, p, g, w)
				}
			}
		}
	})
}

// lookUp corrects a forecast by what was known before its instant of the turnouts.
func lookUp(list []waits.Turnout, said segue.Forecast, atOnce time.Duration) segue.Forecast {
	counted := func(wait time.Duration) time.Duration {
		if wait <= atOnce {
			return 0
		}
		return wait
	}
	inOrder := slices.Clone(list)
	slices.SortStableFunc(inOrder, func(a, b waits.Turnout) int { return cmp.Compare(a.Left, b.Left) })
	var f waits.Follower
	var pending []waits.Pending
	for _, o := range inOrder {
		switch {
		case o.Left < said.At && o.Started:
			f.Observe(o.Forecast, counted(o.Wait()), o.Left)
		case o.Left >= said.At && o.Forecast.At < said.At:
			pending = append(pending, waits.Pending{Forecast: o.Forecast, Age: counted(said.At.Sub(o.Forecast.At))})
		}
	}
	return f.Correct(said, pending)
}

func TestWhatAPastTeaches(t *testing.T) {
	t.Parallel()
	begin := segue.Seconds(1e6)
	forty := func(wait time.Duration, started bool) []waits.Turnout {
		list := make([]waits.Turnout, 40)
		for i := range list {
			list[i] = turnout(begin, wait, started)
		}
		return list
	}
	tests := map[string]struct {
		list   []waits.Turnout
		after  time.Duration
		atOnce time.Duration
		longer int // the sign of what becomes of the median
	}{
		"waits of none, once they are over":            {forty(0, true), time.Second, 0, -1},
		"and not at the instant itself":                {forty(0, true), 0, 0, 0},
		"long ones before they are over":               {forty(40*time.Hour, true), 20 * time.Hour, 0, 1},
		"cancelled jobs while they wait":               {forty(40*time.Hour, false), 20 * time.Hour, 0, 1},
		"and not afterwards":                           {forty(10*time.Hour, false), 20 * time.Hour, 0, 0},
		"half a minute is longer than none":            {forty(40*time.Hour, true), 30 * time.Second, 0, 1},
		"but not where a minute counts as none":        {forty(40*time.Hour, true), 30 * time.Second, waits.AtOnce, 0},
		"where a wait of half a minute is one of none": {forty(30*time.Second, true), time.Hour, waits.AtOnce, -1},
		"empty forecasts teach nothing":                {[]waits.Turnout{{Left: begin, Started: true}}, time.Hour, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := tenHours(begin.Add(tt.after))
			got := waits.NewPast(waits.Follower{}, tt.list, tt.atOnce).Correct(said)
			if sign := cmp.Compare(got.Quantile(0.5), said.Quantile(0.5)); sign != tt.longer {
				t.Errorf("the median goes from %s to %s, want a change of sign %d", said.Quantile(0.5), got.Quantile(0.5), tt.longer)
			}
		})
	}
}
