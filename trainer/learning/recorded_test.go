//go:build native

package learning

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
)

// halfDays returns submissions every half hour of some days: those with a first
// feature of 1 wait about eight hours, those with 0 not at all; every ninth is
// cancelled after four hours.
func halfDays(days int) []trainer.Asked {
	rng := rand.New(rand.NewPCG(3, 3))
	asked := make([]trainer.Asked, 48*days)
	for i := range asked {
		at := segue.Seconds(int64(i) * 1800)
		features := make([]float32, len(trainer.RecordedFeatures()))
		for k := range features {
			features[k] = rng.Float32()
		}
		features[0] = float32(rng.IntN(2))
		wait := time.Duration(float64(features[0]) * (6 + 4*rng.Float64()) * float64(time.Hour))
		asked[i] = trainer.Asked{Job: i, At: at, Left: at.Add(wait), Started: true, Counts: true, Features: features, Told: predictor.Told{}}
		if features[0] == 1 && i%9 == 0 {
			asked[i].Left, asked[i].Started, asked[i].Counts = at.Add(4*time.Hour), false, false
		}
	}
	return asked
}

func dayOf(n int) segue.Time { return segue.Seconds(int64(n) * 86400) }

func TestTreesForetellRecordedWaits(t *testing.T) {
	t.Parallel()
	asked := halfDays(32)
	for _, kind := range []waits.Kind{waits.Thresholds, waits.AFT, waits.Quantiles, waits.Forest} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			cfg := RecordedConfig{Kind: kind, Rounds: 50, Threads: 1}
			list, err := ForetellRecorded(t.Context(), asked, []segue.Time{dayOf(25)}, cfg)
			if err != nil {
				t.Fatal(err)
			}
			for _, told := range list {
				var long, short float64
				for i := 48 * 25; i < len(asked); i++ {
					median := told.Forecasts[i].Quantile(0.5).Hours()
					if asked[i].Features[0] == 1 {
						long += median
					} else {
						short += median
					}
				}
				half := float64(len(asked)-48*25) / 2
				if long/half < 3 || long/half > 11 || short/half > 1.5 {
					t.Errorf("medians of %.1f and %.1f h (recalibrated: %t), want about 8 and 0", long/half, short/half, told.Recalibrated)
				}
			}
			raw := list[0].Forecasts
			if !raw[48*14].Empty() || raw[48*16].Empty() {
				t.Error("want forecasts of the stretch before the first origin, and none before it")
			}
		})
	}
}

// Everything that is known only from the 30th day on is changed. No forecast
// before may notice.
func TestNoForecastOfTreesKnowsTheFuture(t *testing.T) {
	t.Parallel()
	before, after := halfDays(31), halfDays(31)
	at := dayOf(30)
	for i := range after {
		a := &after[i]
		if a.Left >= at {
			a.Left, a.Started = a.Left.Add(1000*time.Hour), true
		}
		if a.At >= at {
			a.Features[0] = 1 - a.Features[0]
		}
	}
	origins := []segue.Time{dayOf(25), dayOf(28)}
	cfg := RecordedConfig{Rounds: 10, Threads: 1}
	one, err := ForetellRecorded(t.Context(), before, origins, cfg)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ForetellRecorded(t.Context(), after, origins, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for k := range one {
		for i := range before {
			if before[i].At >= at {
				break
			}
			if diff := cmp.Diff(one[k].Forecasts[i], other[k].Forecasts[i]); diff != "" {
				t.Fatalf("recalibrated: %t: the forecast at %s changed:\n%s", one[k].Recalibrated, before[i].At, diff)
			}
		}
	}
}

func TestBlindTreesSeeNothing(t *testing.T) {
	t.Parallel()
	asked := halfDays(30)
	list, err := ForetellRecorded(t.Context(), asked, []segue.Time{dayOf(25)}, RecordedConfig{
		Rounds: 40, Threads: 1, Blind: []string{trainer.RecordedFeatures()[0]},
	})
	if err != nil {
		t.Fatal(err)
	}
	sums := map[float32]float64{}
	for i := 48 * 25; i < len(asked); i++ {
		sums[asked[i].Features[0]] += list[0].Forecasts[i].Mean().Hours() / float64(48*5/2)
	}
	if gap := sums[1] - sums[0]; gap > 2 || gap < -2 {
		t.Errorf("means of %.1f and %.1f h although the feature that tells them apart is hidden", sums[0], sums[1])
	}
	if asked[0].Features[0] != 0 && asked[0].Features[0] != 1 {
		t.Error("hiding a feature changed the submissions")
	}
}

func TestRecordedTreesThatCannotBe(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		origins []segue.Time
		cfg     RecordedConfig
		want    string
	}{
		"no origin":              {nil, RecordedConfig{}, "no origin"},
		"nothing before it":      {[]segue.Time{dayOf(3)}, RecordedConfig{}, "0 submissions to learn from"},
		"nothing to choose on":   {[]segue.Time{dayOf(90)}, RecordedConfig{}, "0 to choose the rounds on"},
		"an unknown kind":        {[]segue.Time{dayOf(15)}, RecordedConfig{Kind: "stump"}, `kind "stump"`},
		"a stretch of a minute":  {[]segue.Time{dayOf(15)}, RecordedConfig{Stretch: time.Minute}, "a stretch of 1m0s"},
		"a gap in the future":    {[]segue.Time{dayOf(15)}, RecordedConfig{Gap: -1}, "a gap of -1ns"},
		"a half-life before now": {[]segue.Time{dayOf(15)}, RecordedConfig{HalfLife: -time.Hour}, "a half-life of -1h0m0s"},
	}
	asked := halfDays(20)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ForetellRecorded(t.Context(), asked, tt.origins, tt.cfg)
			if err == nil || segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want an invalid one that says %q", err, tt.want)
			}
		})
	}
}
