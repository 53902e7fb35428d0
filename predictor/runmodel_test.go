package predictor

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

// A drawn run time is one that the job can still have: not less than it has run
// for, not more than its limit.
func TestDrawnRunTimesAreBetweenElapsedAndLimit(t *testing.T) {
	t.Parallel()
	limits := rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 48 * time.Hour, 30 * 24 * time.Hour, segue.Unlimited})
	rapid.Check(t, func(t *rapid.T) {
		h := &History{}
		for range rapid.IntRange(0, 40).Draw(t, "past jobs") {
			q := segue.QueuedJob{Request: segue.Request{
				Shape: segue.Shape{Nodes: 1, Limit: limits.Draw(t, "past limit")},
				User:  rapid.SampledFrom([]string{"ada", "ben"}).Draw(t, "past user"),
			}}
			run := time.Duration(rapid.Int64Range(0, int64(min(q.Limit, 60*24*time.Hour))).Draw(t, "past run"))
			h.End(&q, segue.Time(0).Add(-run), 0)
		}
		now := segue.Seconds(1e6)
		q := segue.QueuedJob{Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: limits.Draw(t, "limit")}, User: "ada"}}
		elapsed := time.Duration(rapid.Int64Range(0, int64(min(q.Limit, 40*24*time.Hour))).Draw(t, "elapsed"))
		var m runModel
		m.update(h, now)
		own := m.own(h, &q, elapsed, nil)
		for _, u := range []float64{0, 0.25, 0.5, rapid.Float64Range(0, 0.999).Draw(t, "rank"), math.Nextafter(1, 0)} {
			if got := m.sample(&q, elapsed, own, u); got < elapsed || got > q.Limit {
				t.Fatalf("at rank %v a run time of %s, after %s of at most %s", u, got, elapsed, q.Limit)
			}
		}
	})
}

func TestRatiosAreOfTheJobsThatHadEndedByTheEpoch(t *testing.T) {
	t.Parallel()
	h := &History{}
	end := func(at segue.Time, run time.Duration) {
		h.End(&segue.QueuedJob{Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}}}, at.Add(-run), at)
	}
	noon := segue.Seconds(12 * 3600)
	end(noon-1, 30*time.Minute)
	end(noon, 15*time.Minute)
	for name, tt := range map[string]struct {
		at   segue.Time
		want int
	}{
		"before noon": {noon - 1, 0}, "at noon": {noon, 1}, "at one": {noon.Add(time.Hour), 1},
		"at two": {noon.Add(2 * time.Hour), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var m runModel
			m.update(h, tt.at)
			if got := len(m.ratios[0]); got != tt.want {
				t.Errorf("%d jobs, want %d", got, tt.want)
			}
		})
	}
}

func TestEpochsBeforeTheEpoch(t *testing.T) {
	t.Parallel()
	two := segue.Seconds(7200)
	for at, want := range map[segue.Time]segue.Time{-1: -two, 0: 0, 1: 0, two - 1: 0, two: two, -two: -two, -two - 1: -2 * two} {
		if got := epochOf(at); got != want {
			t.Errorf("the epoch of %d begins at %d, want %d", at, got, want)
		}
	}
}
