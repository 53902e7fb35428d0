package evaluation_test

import (
	"math"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// dailyLosses returns losses of n days, one a day, by a function of the day.
func dailyLosses(n int, loss func(day int) (a, b float64)) (at []segue.Time, a, b []float64) {
	for d := range n {
		x, y := loss(d)
		at, a, b = append(at, segue.Seconds(0).Add(time.Duration(d)*24*time.Hour)), append(a, x), append(b, y)
	}
	return at, a, b
}

func TestPairedDifference(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		days           int
		loss           func(day int) (a, b float64)
		want           float64
		wantLo, wantHi func(float64) bool
		wantBlocks     int
	}{
		"always a fifth less, whatever the day": {
			days: 40, loss: func(d int) (float64, float64) { return 0.8 * float64(d+1), float64(d + 1) }, want: -0.2,
			wantLo: func(v float64) bool { return math.Abs(v+0.2) < 1e-9 }, wantHi: func(v float64) bool { return math.Abs(v+0.2) < 1e-9 }, wantBlocks: 10,
		},
		"better and worse by turns": {
			days: 40, loss: func(d int) (float64, float64) { return float64(1 + d/4%2), 1.5 }, want: 0,
			wantLo: func(v float64) bool { return v < -0.1 && v >= -1./3 }, wantHi: func(v float64) bool { return v > 0.1 && v <= 1./3 }, wantBlocks: 10,
		},
		"one block says nothing of the spread": {
			days: 3, loss: func(int) (float64, float64) { return 1, 2 }, want: -0.5,
			wantLo: math.IsNaN, wantHi: math.IsNaN, wantBlocks: 1,
		},
		"no losses": {loss: func(int) (float64, float64) { return 1, 2 }, want: math.NaN(), wantLo: math.IsNaN, wantHi: math.IsNaN},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, a, b := dailyLosses(tt.days, tt.loss)
			got := evaluation.PairedDifference(at, a, b, 4, 500, 1)
			same := math.Abs(float64(got.Difference)-tt.want) < 1e-9 || (math.IsNaN(tt.want) && !got.Difference.Known())
			if !same || !tt.wantLo(float64(got.Lo)) || !tt.wantHi(float64(got.Hi)) || got.Blocks != tt.wantBlocks {
				t.Errorf("%+v, want a difference of %v over %d blocks", got, tt.want, tt.wantBlocks)
			}
		})
	}
}
