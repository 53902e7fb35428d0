package reports

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func labelsOf(a axis) []string {
	var labels []string
	for _, t := range a.ticks {
		labels = append(labels, t.label)
	}
	return labels
}

func TestTicksAreRound(t *testing.T) {
	t.Parallel()
	march := func(d, hour int) segue.Time {
		return segue.TimeOf(time.Date(2023, 3, d, hour, 0, 0, 0, time.UTC))
	}
	for name, test := range map[string]struct {
		axis axis
		want []string
	}{
		"steps of one":          {linearAxis("", 0, 5.5, 6), []string{"0", "1", "2", "3", "4", "5", "6"}},
		"steps of a fifth":      {linearAxis("", 0, 1, 5), []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		"below zero":            {linearAxis("", -1.2, 2, 4), []string{"−2", "−1", "0", "1", "2"}},
		"no extent":             {linearAxis("", 3, 3, 3), []string{"3", "4", "5", "6"}},
		"not finite":            {linearAxis("", math.NaN(), math.Inf(1), 2), []string{"0", "0.5", "1.0"}},
		"hours":                 {hourAxis("", 0, 48, 8), []string{"0", "6", "12", "18", "24", "30", "36", "42", "48"}},
		"many hours":            {hourAxis("", 0, 1000, 4), []string{"0", "500", "1000"}},
		"few minutes":           {hourAxis("", 0, 0.5, 4), []string{"0", "0.25", "0.50"}},
		"narrowed":              {hourAxis("", 0, 7, 4).within(0, 7), []string{"0", "2", "4", "6"}},
		"waits of days":         {waitAxis("", 100), []string{"1 min", "10 min", "1 h", "6 h", "1 d", "4 d"}},
		"a day":                 {timeAxis(march(1, 5), march(2, 5), 6), []string{"06:00", "12:00", "18:00", "2 Mar"}},
		"a week":                {timeAxis(march(1, 12), march(8, 12), 4), []string{"3 Mar", "5 Mar", "7 Mar"}},
		"a year":                {timeAxis(march(1, 0), march(366, 0), 5), []string{"Apr 2023", "Jul 2023", "Oct 2023", "Jan 2024"}},
		"from before the epoch": {timeAxis(segue.Seconds(-7200), segue.Seconds(7200), 4), []string{"22:00", "23:00", "1 Jan", "01:00", "02:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, labelsOf(test.axis)); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTicksCoverAnyInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + rapid.Float64Range(1e-6, 1e6).Draw(t, "extent")
		for _, a := range []axis{linearAxis("", lo, hi, 6), hourAxis("", lo, hi, 6)} {
			slack := 1e-6 * (hi - lo)
			if a.lo > lo+slack || a.hi < hi-slack {
				t.Fatalf("axis from %v to %v does not cover %v to %v", a.lo, a.hi, lo, hi)
			}
			if n := len(a.ticks); n < 2 || n > 20 {
				t.Fatalf("axis from %v to %v has %d ticks", lo, hi, n)
			}
		}
	})
}

func TestLabelsThinOutBeforeTheyTouch(t *testing.T) {
	t.Parallel()
	for width, want := range map[float64][]string{
		400: {"−100", "−50", "0", "50", "100"},
		120: {"−100", "0", "100"},
		40:  {"0"},
	} {
		c := &chart{drawing: &drawing{width: width + 40}, left: 20, right: width + 20}
		c.x = linearAxis("", -100, 100, 4)
		got := labelsOf(axis{ticks: c.labelled()})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("labels on %v pixels (-want +got):\n%s", width, diff)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0.07": decimal(0.0749), "−1.33": decimal(-1.333), "10.0": decimal(9.996), "100": decimal(99.96), "0.00": decimal(-0.001),
		"–": decimal(math.NaN()), "67 %": percent(0.666), "−970 %": percent(-9.7), "40 min": hours(2.0 / 3), "1 h": hours(0.999),
		"3.5 h": hours(3.5), "4.2 d": hours(100), "0 h": hours(0.001), "−30 min": hours(-0.5),
		"a no…": fit("a note that is cut", 42), "whole": fit("whole", 100), "lead 6 h": "lead " + hours(6),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestThinnedLineKeepsItsPeaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3000).Draw(t, "points")
		columns := rapid.IntRange(1, 200).Draw(t, "columns")
		heights := rapid.SliceOfN(rapid.Float64Range(0, 300), n, n).Draw(t, "heights")
		line := make([]at, n)
		lo, hi := math.Inf(1), math.Inf(-1)
		for i, y := range heights {
			line[i] = at{x: float64(i), y: y}
			lo, hi = min(lo, y), max(hi, y)
		}
		thin := decimate(line, columns)
		if len(thin) > max(4*columns, n) || (n > 4*columns && len(thin) > 4*columns) {
			t.Fatalf("%d of %d points are left for %d columns", len(thin), n, columns)
		}
		gotLo, gotHi := math.Inf(1), math.Inf(-1)
		for i, p := range thin {
			gotLo, gotHi = min(gotLo, p.y), max(gotHi, p.y)
			if i > 0 && p.x <= thin[i-1].x {
				t.Fatalf("points %v and %v are out of order", thin[i-1], p)
			}
		}
		if gotLo != lo || gotHi != hi {
			t.Fatalf("line reaches from %v to %v, want %v to %v", gotLo, gotHi, lo, hi)
		}
	})
}

func TestAveragedSamplesKeepTheMeans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 400).Draw(t, "samples")
		g := Cluster{Nodes: 100}
		at := segue.Seconds(1_700_000_000)
		for range n {
			g.Samples = append(g.Samples, ClusterSample{
				At: at, Busy: rapid.Float64Range(0, 100).Draw(t, "busy"), Requested: rapid.Float64Range(0, 500).Draw(t, "requested"),
			})
			at = at.Add(time.Duration(rapid.IntRange(1, 7200).Draw(t, "seconds")) * time.Second)
		}
		busy, _, requested := g.meanUse(g.Samples)
		thin := averages(g.Samples, 100)
		thinBusy, _, thinRequested := g.meanUse(thin)
		if len(thin) > 101 && n > 101 {
			t.Fatalf("%d samples are left of %d", len(thin), n)
		}
		if math.Abs(busy-thinBusy) > 0.02 || math.Abs(requested-thinRequested) > 10 {
			t.Fatalf("means are %v and %v, want %v and %v", thinBusy, thinRequested, busy, requested)
		}
	})
}
