package trainer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy/learned"
)

func TestASplitIsJudgedByTheNewestModelThatHadNotSeenIt(t *testing.T) {
	t.Parallel()
	split := evaluation.Split{
		Tune: evaluation.Period{From: midnight(40), To: midnight(60)}, Test: evaluation.Period{From: midnight(60), To: midnight(91)},
	}
	cases := []struct {
		name  string
		until []int // the day
		want  []int // places of those above
	}{
		{name: "none"},
		{name: "before the tuning period", until: []int{20}, want: []int{0}},
		{name: "the newest of several", until: []int{20, 40, 30}, want: []int{1}},
		{name: "two seeds", until: []int{30, 20, 30}, want: []int{0, 2}},
		{name: "rather an older one than one that saw the tuning period", until: []int{20, 60}, want: []int{0}},
		{name: "one that saw the tuning period", until: []int{50, 60}, want: []int{1}},
		{name: "only one that saw the test period", until: []int{61}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var all []Trained
			for i, day := range c.until {
				all = append(all, Trained{Until: midnight(day), Label: string(rune('a' + i))})
			}
			var got []int
			for _, m := range unseen(all, split) {
				got = append(got, int(m.Label[0]-'a'))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("models differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMonthsAreJudgedByModelsThatHadNotSeenThem(t *testing.T) {
	t.Parallel()
	older := Trained{Model: toymodel.New(t, hour, 2*hour, "toy"), Until: midnight(32)}
	newer := Trained{Model: toymodel.New(t, hour, 12*hour, "toy"), Until: midnight(60)}
	backtest := func(models ...Trained) evaluation.Report {
		cfg := quickly(busyReplay(1, 122))
		cfg.Every, cfg.Rolling, cfg.Families, cfg.Models = 24*hour, true, families(t, "reactive"), models
		cfg.Split.Tune = evaluation.Period{From: midnight(60), To: midnight(91)}
		cfg.Split.Test = evaluation.Period{From: midnight(91), To: midnight(121)}
		return run(t, cfg).Report
	}
	interruption := func(r evaluation.Result) float64 {
		i := slices.IndexFunc(r.Policies, func(s evaluation.Score) bool { return s.Name == "toy" })
		return float64(r.Policies[i].Tuned.Interruption)
	}
	both, old, young := backtest(older, newer), backtest(older), backtest(newer)
	for i, month := range []string{"2023-03", "2023-04"} {
		want := []evaluation.Report{old, young}[i].Rolling.Runs[i]
		got := both.Rolling.Runs[i]
		if got.Label != month || want.Label != month {
			t.Fatalf("months %s and %s, want %s", got.Label, want.Label, month)
		}
		if diff := cmp.Diff(jsonOf(t, want), jsonOf(t, got)); diff != "" {
			t.Errorf("%s is not judged by its own model (-want +got):\n%s", month, diff)
		}
	}
	if interruption(old.Rolling.Runs[1].Result) == interruption(young.Rolling.Runs[1].Result) {
		t.Error("the two models do not differ in April: the test shows nothing")
	}
	if diff := cmp.Diff(jsonOf(t, young.Result), jsonOf(t, both.Result)); diff != "" {
		t.Errorf("the headline is not the newer model's (-want +got):\n%s", diff)
	}
}

func TestMonthsThatEveryModelHadSeenAreLeftOut(t *testing.T) {
	t.Parallel()
	cfg := quickly(busyReplay(1, 122))
	cfg.Every, cfg.Rolling, cfg.Families = 24*hour, true, families(t, "reactive")
	cfg.Split.Tune, cfg.Split.Test = evaluation.Period{From: midnight(60), To: midnight(91)}, evaluation.Period{From: midnight(91), To: midnight(121)}
	cfg.Models = []Trained{{Model: toymodel.New(t, hour, 2*hour, "toy"), Until: midnight(91)}}
	got := run(t, cfg).Report
	if n := len(got.Rolling.Runs); n != 1 || got.Rolling.Runs[0].Label != "2023-04" {
		t.Errorf("%d months, the first %s: want April 2023 alone", n, got.Rolling.Runs[0].Label)
	}
}

func TestSeedsAreJudgedSideBySide(t *testing.T) {
	t.Parallel()
	cfg := quickly(busyReplay(1, 30))
	cfg.Families = families(t, "reactive")
	cfg.Models = []Trained{
		{Model: toymodel.New(t, hour, 2*hour, "toy"), Until: midnight(6)},
		{Model: toymodel.New(t, hour, 6*hour, "toy"), Until: midnight(6), Label: "seed-2"},
	}
	var names []string
	for _, p := range run(t, cfg).Report.Policies {
		names = append(names, p.Name)
	}
	want := []string{
		"constant", "reactive", "trees-scaled", "trees-quantile", "blend-scaled", "blend-quantile", "toy", "toy-asked",
		"trees-scaled-seed-2", "trees-quantile-seed-2", "blend-scaled-seed-2", "blend-quantile-seed-2", "toy-seed-2", "toy-asked-seed-2", "oracle",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
}

func TestModelsThatCannotBeComparedAreRefused(t *testing.T) {
	t.Parallel()
	one := toymodel.New(t, hour, 2*hour, "toy")
	cases := []struct {
		name   string
		models []Trained
		want   string
	}{
		{"the same rows", []Trained{{Model: one, Until: midnight(6)}, {Model: one, Until: midnight(6)}}, "seeds of their own"},
		{
			"other policies",
			[]Trained{{Model: one, Until: midnight(5)}, {Model: toymodel.New(t, hour, 2*hour, "other"), Until: midnight(6)}},
			"want the same",
		},
		{"the future", []Trained{{Model: one, Until: midnight(17)}}, "before the test period only"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := quickly(busyReplay(1, 30))
			cfg.Families, cfg.Models = families(t, "reactive"), c.models
			if _, err := Backtest(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Forecasts are of no wait four times in six: three quarters of the median's share
// of those that did not wait lie within it.
func TestCoverageCountsWaitsByLoadAndTiesInPart(t *testing.T) {
	t.Parallel()
	episode := func(wait float64) Episode { // of one lead: submitted when the link ends
		e := episodeOf(midnight(1), []float64{wait}, nil)
		e.Forecasts[learned.Blend] = []segue.Forecast{segue.NewForecast(e.At(0), learned.Blend, []time.Duration{0, 0, 0, 0, 3 * hour, 4 * hour})}
		return e
	}
	got := coverageOf([]Episode{episode(0), episode(3), episode(20)})
	want := evaluation.ForecastCoverage{
		Covered: evaluation.Covered{Forecasts: 3, At50: 0.25, At90: 2. / 3},
		Light:   evaluation.Covered{Forecasts: 1, At50: 0.75, At90: 1},
		Medium:  evaluation.Covered{Forecasts: 1, At50: 0, At90: 1},
		Heavy:   evaluation.Covered{Forecasts: 1, At50: 0, At90: 0},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("coverage differs (-want +got):\n%s", diff)
	}
	if got := coverageOf(nil); got.At90.Known() || got.Heavy.At50.Known() {
		t.Errorf("of no waits %v lie within their forecasts, want no number", got.At90)
	}
}
