package trainer

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
)

// watchedEpisode has leads of 0 to 9 hours, a planner that foresees a wait of 7
// hours, a model that foresees 5, and a queue that is as long as said at each lead.
func watchedEpisode(queue ...float32) *Episode {
	e := episodeOf(midnight(1), make([]float64, len(queue)), nil)
	e.Timeline = &Timeline{Width: 1}
	for k, pending := range queue {
		e.Features = append(e.Features, toymodel.Features("pending.jobs_log", pending)...)
		for source, wait := range map[string]time.Duration{policy.Corrected: 7 * hour, learned.Blend: 5 * hour} {
			e.Forecasts[source] = append(e.Forecasts[source], segue.NewForecast(e.At(k), source, []time.Duration{wait}))
		}
	}
	return &e
}

func TestGuardedPolicyLeavesUnknownQueuesToThePlanner(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 5*hour, 3*hour, "moe-dqn")
	model.Drift = toymodel.Drift("pending.jobs_log", 0, 4)
	const calm, jammed = 2, 9
	tests := map[string]struct {
		policy string
		queue  []float32 // by lead in hours: the last is the earliest
		want   int
	}{
		"in a known queue the network submits":         {"", []float32{calm, calm, calm, calm, calm, calm, calm, calm, calm, calm}, 3},
		"and the rule by the forecast":                 {"blend-quantile", []float32{calm, calm, calm, calm, calm, calm, calm, calm, calm, calm}, 5},
		"in an unknown one the planner":                {"", []float32{jammed, jammed, jammed, jammed, jammed, jammed, jammed, jammed, jammed, jammed}, 7},
		"as soon as it is unknown and the planner due": {"", []float32{calm, calm, calm, calm, calm, calm, jammed, calm, calm, jammed}, 6},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := Guarded(model, tt.policy)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Choose(watchedEpisode(tt.queue...))
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Repeat([]int{tt.want}, len(preferences))
			want[0] = 0 // the preference 0 never submits before the end
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s chooses other leads (-want +got):\n%s", c.Name(), diff)
			}
		})
	}
}

// A model that always says five hours, on waits of twenty, is wrong every time: once
// that shows, the planner decides.
func TestGuardedPolicyLeavesBadForecastsToThePlanner(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 5*hour, 3*hour, "moe-dqn")
	guard, err := Guarded(model, "")
	if err != nil {
		t.Fatal(err)
	}
	var episodes []Episode
	for day := range 40 {
		e := watchedEpisode(make([]float32, 20)...)
		e.Curve.Submit, e.Curve.End = e.Curve.Submit.Add(time.Duration(day)*24*hour), e.Curve.End.Add(time.Duration(day)*24*hour)
		for k, lead := range e.Curve.Leads {
			e.Curve.Outcomes[k] = 20*hour - lead
			for source, forecasts := range e.Forecasts {
				e.Forecasts[source][k] = segue.NewForecast(e.At(k), source, forecasts[k].Waits)
			}
		}
		episodes = append(episodes, *e)
	}
	castDoubt(episodes)
	balanced := slices.Index(preferences, 4)
	for _, tt := range []struct {
		day, want int
		doubt     string
	}{
		{5, 3, ""},
		{39, 7, "0 % of the 112 waits of the last 28 days were within the forecast's 90 % quantile, want 87 to 93 %"},
	} {
		e := &episodes[tt.day]
		chosen, err := guard.Choose(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Doubts[tt.want]; chosen[balanced] != tt.want || got != tt.doubt {
			t.Errorf("on day %d it submits %d hours before the end, with the doubt %q; want %d, %q", tt.day, chosen[balanced], got, tt.want, tt.doubt)
		}
	}
}

// What a network decides in a backtest is what it decides when it is asked.
func TestGuardedPolicyWithoutAProfileIsTheNetwork(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 5*hour, 3*hour, "moe-dqn")
	guard, err := Guarded(model, "moe-dqn")
	if err != nil {
		t.Fatal(err)
	}
	e := watchedEpisode(9, 9, 9, 9, 9, 9)
	want, err := Network(&model.Policies[0]).Choose(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := guard.Choose(e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("leads differ (-network +guarded):\n%s", diff)
	}
	if _, err := Guarded(model, "magic"); segue.KindOf(err) != segue.Invalid {
		t.Errorf("a policy that it does not have: error %v, want an invalid one", err)
	}
}
