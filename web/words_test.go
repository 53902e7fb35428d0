package web

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestSpansInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 min", 40 * time.Second: "40 s", time.Minute: "1 min", 40 * time.Minute: "40 min", 6 * time.Hour: "6 h", 370 * time.Minute: "6 h 10 min",
		48 * time.Hour: "48 h", 72 * time.Hour: "3 d", 76 * time.Hour: "3 d 4 h", -time.Hour: "−1 h", segue.Unlimited: "unlimited",
	} {
		if got := span(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestOddsInWords(t *testing.T) {
	t.Parallel()
	for p, want := range map[float64]string{
		0: "fewer than 1 of 40 cases", 0.05: "1 of 20 cases", 0.3: "3 of 10 cases", 0.93: "19 of 20 cases", 1: "more than 39 of 40 cases", math.Inf(1): "more than 39 of 40 cases",
	} {
		if got := chance(p); got != want {
			t.Errorf("%g is %q, want %q", p, got, want)
		}
	}
	if chance(math.NaN()) != unknown || percent(math.NaN()) != unknown {
		t.Error("what is not known is said to be known")
	}
	if got := grouped(1_234_567); got != "1\u202f234\u202f567" {
		t.Errorf("grouped: %q", got)
	}
}

func TestDecisionsAreExplained(t *testing.T) {
	t.Parallel()
	alone := decision(t0, true)
	alone.Remaining = 0
	sure := decision(t0, true)
	sure.Forecast.Waits = sure.Forecast.Waits[:1]
	sure.Alternatives[1].StartsBeforeEnd = 1
	blind := decision(t0, true)
	blind.Forecast = segue.Forecast{}
	tests := map[string]struct {
		decision segue.Decision
		want     string
	}{
		"submit": {
			decision(t0, true),
			"Submitting at 1 Mar 2026 14:20: 90 % of such jobs are forecast to start within 6 h 10 min, half within 3 h 30 min; " +
				"the link before ends in 6 h 30 min; waiting 1 h more would risk a gap of 40 min in 3 of 10 cases.",
		},
		"wait": {
			decision(t0, false),
			"Waiting until 15:20: submitted at 1 Mar 2026 14:20 already, 90 % of such jobs are forecast to start within 6 h 10 min, half within 3 h 30 min; " +
				"the link before has 6 h 30 min to go, so that both would run at once for 3 h on average; submitting at 15:20 would risk a gap of 40 min in 3 of 10 cases.",
		},
		"no link runs": {
			alone,
			"Submitting at 1 Mar 2026 14:20: 90 % of such jobs are forecast to start within 6 h 10 min, half within 3 h 30 min; no link runs that it could follow without a gap.",
		},
		"hardly a risk": {
			sure,
			"Submitting at 1 Mar 2026 14:20: such a job is forecast to start within 10 min; the link before ends in 6 h 30 min; " +
				"waiting 1 h more would hardly risk a gap (fewer than 1 of 40 cases).",
		},
		"without a forecast": {blind, "At 1 Mar 2026 14:20 UTC there was no forecast to decide by."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, explain(tt.decision)); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecentWaitsInWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0:  "No such job started in the week up to 1 Mar 2026 14:20 UTC.",
		2:  "Of such jobs, 2 started in the week up to 1 Mar 2026 14:20 UTC; the longest wait was 30 min.",
		41: "Of 41 such jobs that started in the week up to 1 Mar 2026 14:20 UTC, 90 % had waited at most 12 h 10 min, and half at most 6 h 50 min.",
	} {
		if got := ofRecent(Recent{Until: t0, Waits: forecast(t0, "recorded", n)}); got != want {
			t.Errorf("of %d: %q, want %q", n, got, want)
		}
	}
}

// Of four starts one came within 10 %, one within half, one within 90 %, and one
// later: in two months.
func TestForecastsAreJudged(t *testing.T) {
	t.Parallel()
	var all []Handover
	for i, quantile := range []float64{0.05, 0.45, 0.85, 1} {
		d := decision(t0.Add(-time.Duration(i)*20*24*time.Hour), true)
		all = append(all, Handover{
			Recorded:  Recorded{Chain: "c", Number: i, Decision: d, Known: i > 0, Interruption: time.Duration(i/3) * time.Hour},
			Submitted: d.At, Start: d.At.Add(d.Forecast.Quantile(quantile)),
		})
	}
	got := judge(append(all, Handover{Recorded: Recorded{Decision: segue.Decision{Forecast: forecast(t0, "of one", 1)}}}))
	var shares []string
	for _, row := range got.Calibration.Numbers.Rows {
		shares = append(shares, row[1])
	}
	if diff := cmp.Diff([]string{"25 %", "25 %", "25 %", "25 %", "50 %", "50 %", "50 %", "50 %", "75 %"}, shares); diff != "" {
		t.Errorf("shares within the levels (-want +got):\n%s", diff)
	}
	var months []string
	for _, m := range got.Months {
		months = append(months, m.Name+" "+m.Within90+" "+m.Within80+" "+m.MeanGap)
	}
	want := []string{"2025-12 0 % 0 % 1 h", "2026-01 100 % 100 % 0 min", "2026-02 100 % 100 % 0 min", "2026-03 100 % 0 % –"}
	if diff := cmp.Diff(want, months); diff != "" {
		t.Errorf("months (-want +got):\n%s", diff)
	}
	if got.Judged != 4 || got.Latest[3].Place != "longer than 90 %" || got.Latest[0].Place != "within 10 %" {
		t.Errorf("%d are judged; the latest are %+v", got.Judged, got.Latest)
	}
}

// Wilson's interval for 8 of 10, which tables give as 0.490 to 0.943.
func TestIntervalOfAShare(t *testing.T) {
	t.Parallel()
	d := shareOf(8, 10)
	if math.Abs(d.Lo-0.490) > 0.001 || math.Abs(d.Hi-0.943) > 0.001 || d.Value != 0.8 {
		t.Errorf("%+v, want 0.8 from 0.490 to 0.943", d)
	}
}

func TestGapsOfAHistory(t *testing.T) {
	t.Parallel()
	h := fullHouse("trainer")
	view := historyView{History: h.histories[0], Coverage: part[Coverage]{Value: h.coverage}}
	view.finish(t0)
	if view.Missing != 35 || len(view.Gaps) != 2 || view.Gaps[0].Days != 29 || view.Gaps[1].Days != 6 {
		t.Errorf("%d days are missing, the gaps are %+v; want 29 and 6", view.Missing, view.Gaps)
	}
	want := []string{
		"97\u202f250 jobs, submitted from 1 Dec 2025 14:20 to 1 Mar 2026 14:20 UTC; the latest one 0 min ago.",
		"Of 12 of them the end is a guess from looks at the queue (0 %).",
		"35 days without a job in 2 places: a history with gaps makes queues look shorter than they were.",
		"The accounting was last asked 3 d ago: is it away?",
	}
	if diff := cmp.Diff(want, view.Text); diff != "" {
		t.Errorf("what is said (-want +got):\n%s", diff)
	}
}

func TestLineage(t *testing.T) {
	t.Parallel()
	all := fullHouse("trainer").models
	if diff := cmp.Diff([]string{"m2", "m1", "m0"}, lineage(all, "m2")); diff != "" {
		t.Errorf("lineage (-want +got):\n%s", diff)
	}
	circle := []Model{{ID: "a", Parent: "b"}, {ID: "b", Parent: "a"}}
	if diff := cmp.Diff([]string{"a", "b"}, lineage(circle, "a")); diff != "" {
		t.Errorf("lineage of a circle (-want +got):\n%s", diff)
	}
}
