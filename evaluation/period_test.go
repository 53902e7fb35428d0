package evaluation_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

func day(year int, month time.Month, day int) segue.Time {
	return segue.TimeOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

func TestEmbargoKeepsPairsOutOfTheNextPeriod(t *testing.T) {
	t.Parallel()
	split, err := evaluation.NewSplit(day(2023, 1, 1), day(2023, 2, 1), day(2023, 3, 1), day(2023, 4, 1), 72*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		at   segue.Time
		want string
	}{
		"before all":                    {day(2022, 12, 31), ""},
		"first instant":                 {day(2023, 1, 1), "train"},
		"ends just at the boundary":     {day(2023, 1, 29), "train"},
		"would reach over the boundary": {day(2023, 1, 29).Add(time.Microsecond), ""},
		"boundary belongs to the next":  {day(2023, 2, 1), "tune"},
		"in the last period":            {day(2023, 3, 29), "test"},
		"too close to the end":          {day(2023, 3, 30), ""},
		"after all":                     {day(2023, 4, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, part := range []struct {
				name   string
				period evaluation.Period
			}{{"train", split.Train}, {"tune", split.Tune}, {"test", split.Test}} {
				if part.period.Holds(test.at, split.Embargo) {
					got += part.name
				}
			}
			if got != test.want {
				t.Errorf("%s belongs to %q, want %q", test.at, got, test.want)
			}
		})
	}
}

func TestSplitRefusesPeriodsThatTheEmbargoEmpties(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tuneUntil segue.Time
		embargo   time.Duration
		want      string
	}{
		"order": {day(2023, 1, 15), time.Hour, "the tune period from 2023-02-01T00:00:00Z to 2023-01-15T00:00:00Z " +
			"is not longer than the embargo of 1h0m0s"},
		"short": {day(2023, 2, 2), 24 * time.Hour, "the tune period from 2023-02-01T00:00:00Z to 2023-02-02T00:00:00Z " +
			"is not longer than the embargo of 24h0m0s"},
		"negative": {day(2023, 3, 1), -time.Hour, "embargo is -1h0m0s, want 0 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluation.NewSplit(day(2023, 1, 1), day(2023, 2, 1), test.tuneUntil, day(2023, 4, 1), test.embargo)
			if err == nil || segue.KindOf(err) != segue.Invalid {
				t.Fatalf("got %v, want an error of kind invalid", err)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRollingMonthsTestsEachFullMonthOnce(t *testing.T) {
	t.Parallel()
	span := evaluation.Period{From: day(2022, 11, 10), To: day(2023, 4, 20)}
	var got []string
	for _, s := range evaluation.RollingMonths(span, 1, 48*time.Hour) {
		if s.Train.From != span.From || s.Train.To != s.Tune.From || s.Tune.To != s.Test.From || s.Embargo != 48*time.Hour {
			t.Errorf("split %+v has gaps", s)
		}
		got = append(got, s.Tune.From.String()[:7]+" -> "+s.Test.From.String()[:10]+" to "+s.Test.To.String()[:10])
	}
	// December is the first full month, for training at least; April is cut.
	want := []string{"2023-01 -> 2023-02-01 to 2023-03-01", "2023-02 -> 2023-03-01 to 2023-04-01"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("splits (-want +got):\n%s", diff)
	}
	if short := evaluation.RollingMonths(span, 3, 0); len(short) != 0 {
		t.Errorf("got %d splits with 3 months of training, want none", len(short))
	}
}

func TestSplitAsJSON(t *testing.T) {
	t.Parallel()
	split, err := evaluation.NewSplit(day(2023, 1, 1), day(2023, 2, 1), day(2023, 3, 1), day(2023, 4, 1), 36*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(split)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"train":{"from":"2023-01-01T00:00:00Z","to":"2023-02-01T00:00:00Z"},` +
		`"tune":{"from":"2023-02-01T00:00:00Z","to":"2023-03-01T00:00:00Z"},` +
		`"test":{"from":"2023-03-01T00:00:00Z","to":"2023-04-01T00:00:00Z"},"embargo_hours":36}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
