package trainer

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
)

// fromFeature is an ensemble whose margin is one feature in logarithm: a
// forecast that is right whenever that feature is.
type fromFeature struct{ features, index int }

func (f fromFeature) Features() int { return f.features }
func (f fromFeature) Trees() int    { return 1 }
func (f fromFeature) Base() float64 { return 0 }
func (f fromFeature) Margin(x []float32) float64 {
	return math.Log(float64(x[f.index]) + waits.Offset)
}

func (f fromFeature) PerTree(x []float32, out []float64) []float64 {
	return append(out[:0], f.Margin(x))
}

// foreseen returns a model of waits that believes the forecaster forward-limits.
func foreseen() (*waits.Model, error) {
	names := predictor.FeatureNames()
	return waits.New(waits.Spec{Kind: waits.AFT, Scale: 0.5}, len(names), []waits.Ensemble{
		fromFeature{len(names), slices.Index(names, "forward-limits.wait")},
	})
}

func describedEpisodes(t *testing.T, r Replay, starts ...segue.Time) []Episode {
	t.Helper()
	setup := setupOf(r)
	setup.Describe, setup.Forecasters = true, []string{}
	episodes, err := Collect(t.Context(), setup, starts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return episodes
}

func TestFeaturesOfAnEpisodeAreThoseOfItsForecasts(t *testing.T) {
	t.Parallel()
	e := describedEpisodes(t, busyReplay(1, 20), midnight(9))[0]
	names := predictor.FeatureNames()
	i, free := slices.Index(names, "forward-limits.wait"), slices.Index(names, "free.size")
	for k := range e.Curve.Leads {
		want := e.Forecasts["forward-limits"][k].Mean().Hours()
		if got := e.FeaturesAt(k)[i]; math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("lead %s: the feature says %v h, the forecast %v h", e.Curve.Leads[k], got, want)
		}
		if got := e.FeaturesAt(k)[free]; got < 0 || got > 1 {
			t.Errorf("lead %s: a share of %v of the nodes is free", e.Curve.Leads[k], got)
		}
	}
}

// Forecasts and their corrections, features and the hours before know nothing
// later, whatever turns out then.
func TestLearnedForecastsKnowNothingLater(t *testing.T) {
	t.Parallel()
	r := busyReplay(3, 20)
	starts := Starts(midnight(6), midnight(10), 12*hour)
	foretold := func(r Replay) []Episode {
		episodes := describedEpisodes(t, r, starts...)
		if err := Foretell(episodes, foreseen); err != nil {
			t.Fatal(err)
		}
		CorrectPlanner(episodes, nil)
		Recalibrate(episodes, nil)
		return episodes
	}
	one := foretold(r)
	last := &one[len(one)-1]
	const k = 3 // what is forecast with that lead and longer ones is forecast by then
	now := last.At(k)
	changed := r
	changed.Jobs = otherLife(t, r, now, last.Curve.Submit)
	other := foretold(changed)
	if cmp.Equal(last.Curve.Outcomes, other[len(other)-1].Curve.Outcomes) {
		t.Fatal("the outcomes are the same: the futures do not differ enough")
	}
	for i := range one {
		a, b := &one[i], &other[i]
		for lead := range a.Curve.Leads {
			if a.At(lead) > now || a.Curve.Start != b.Curve.Start {
				continue
			}
			for _, name := range []string{waits.Source, policy.Corrected, learned.Blend} {
				if diff := cmp.Diff(a.Forecasts[name][lead], b.Forecasts[name][lead]); diff != "" {
					t.Errorf("start %d, lead %s: the forecast of %s knows the future:\n%s", i, a.Curve.Leads[lead], name, diff)
				}
			}
			if diff := cmp.Diff(a.Timeline.Window(a.At(lead), nil), b.Timeline.Window(b.At(lead), nil)); diff != "" {
				t.Errorf("start %d, lead %s: the hours before know the future:\n%s", i, a.Curve.Leads[lead], diff)
			}
		}
	}
}

func TestTimelineWindow(t *testing.T) {
	t.Parallel()
	line := Timeline{From: midnight(2), Width: 2}
	for h := range 30 {
		line.Values = append(line.Values, float32(h), float32(100+h))
	}
	tests := map[string]struct {
		at          segue.Time
		first, last float32 // hours of the first and the last summary
	}{
		"in the middle":        {midnight(3).Add(90 * minute), 2, 25},
		"on the hour":          {midnight(3), 1, 24},
		"the first hour":       {midnight(2), 0, 0},
		"before the beginning": {midnight(1), 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := line.Window(tt.at, nil)
			if len(w) != 2*predictor.SummarySteps {
				t.Fatalf("%d numbers, want 2 for each of %d hours", len(w), predictor.SummarySteps)
			}
			if w[0] != tt.first || w[len(w)-2] != tt.last {
				t.Errorf("from hour %v to hour %v, want %v to %v", w[0], w[len(w)-2], tt.first, tt.last)
			}
		})
	}
}

func TestNextHour(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ at, want segue.Time }{
		{midnight(1), midnight(1)},
		{midnight(1).Add(minute), midnight(1).Add(hour)},
		{midnight(1).Add(59 * minute), midnight(1).Add(hour)},
		{segue.Seconds(-1), 0},
		{segue.Seconds(-3600), segue.Seconds(-3600)},
	} {
		if got := nextHour(tt.at); got != tt.want {
			t.Errorf("the hour after %s is %s, want %s", tt.at, got, tt.want)
		}
	}
}

func TestHistoryKnownBeforeAnInstant(t *testing.T) {
	t.Parallel()
	until := midnight(10)
	record := func(submit, start, end segue.Time, limit time.Duration) segue.Job {
		return segue.Job{Submit: submit, Start: start, End: end, Limit: limit, Nodes: 1, Eligible: segue.NoTime}
	}
	tests := map[string]struct {
		job      segue.Job
		kept     bool
		start    segue.Time
		wantEnds segue.Time
	}{
		"it had ended":              {record(midnight(1), midnight(2), midnight(3), 48*hour), true, midnight(2), midnight(3)},
		"it ran":                    {record(midnight(9), midnight(9), midnight(12), 36*hour), true, midnight(9), midnight(10).Add(12 * hour)},
		"it ran beyond its limit":   {record(midnight(5), midnight(5), midnight(12), 24*hour), true, midnight(5), until},
		"it waited":                 {record(midnight(9), midnight(11), midnight(12), 24*hour), true, until, midnight(11)},
		"it waited without a limit": {record(midnight(9), midnight(11), midnight(12), segue.Unlimited), true, until, midnight(11)},
		"it came later":             {record(midnight(11), midnight(11), midnight(12), 24*hour), false, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := KnownBefore([]segue.Job{tt.job}, until)
			if len(known) == 0 != !tt.kept {
				t.Fatalf("%d jobs are known", len(known))
			}
			if tt.kept && (known[0].Start != tt.start || known[0].End != tt.wantEnds) {
				t.Errorf("from %s to %s, want from %s to %s", known[0].Start, known[0].End, tt.start, tt.wantEnds)
			}
		})
	}
}

func TestGatherKeepsWhatWasDecided(t *testing.T) {
	t.Parallel()
	r := busyReplay(1, 20)
	cfg := SamplesConfig{
		Replays: []Replay{r, r.WithNodes(0.75)}, Pairs: []segue.Shape{pair, {Nodes: 1, Limit: 6 * hour}}, From: midnight(8), Until: midnight(15),
		Every: 12 * hour, Monte: predictor.MonteCarloConfig{Replicas: 2, ArrivalDays: 3}, Workers: 2,
	}
	cfg.Grid.Step = 3 * hour
	streams, err := Gather(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range streams {
		names = append(names, s.Replay+" "+s.Pair.String())
		if n := len(s.Episodes); n == 0 || (s.Pair == pair && n == 14) {
			t.Errorf("%s: %d episodes of 14 starts, want some and not the last", s.Replay, n)
		}
		for i := range s.Episodes {
			if e := &s.Episodes[i]; e.Curve.Decided() >= cfg.Until || e.Curve.Submit < cfg.From {
				t.Errorf("%s: a start at %s that was decided at %s", s.Replay, e.Curve.Submit, e.Curve.Decided())
			}
		}
	}
	want := []string{"plain 2 nodes x 12h0m0s", "plain 1 node x 6h0m0s", "plain x 0.75 2 nodes x 12h0m0s", "plain x 0.75 1 node x 6h0m0s"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("streams differ (-want +got):\n%s", diff)
	}
	if got := r.WithNodes(0.75).Cluster.Pools[0].Nodes; got != 6 {
		t.Errorf("three quarters of 8 nodes are %d", got)
	}
}
