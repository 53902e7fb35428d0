package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
)

func TestDecisionsComeBackWithTheirOutcome(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			create(t, s, "c")
			first := Recorded{Chain: "c", Number: 2, Attempt: 1, Decision: aDecision(t0)}
			first.Decision.Submit, first.Decision.SubmitAt = false, t0.Add(2*time.Hour)
			second := Recorded{Chain: "c", Number: 2, Attempt: 1, Decision: aDecision(t0.Add(time.Hour))}
			twin := first // of the same instant
			twin.Attempt = 2
			third := Recorded{Chain: "c", Number: 3, Attempt: 1, Decision: segue.Decision{
				At: t0.Add(48 * time.Hour), Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: segue.Unlimited}},
				SubmitAt: segue.NoTime, Remaining: 1<<63 - 1, Forecast: segue.Forecast{At: t0}, Reason: "no forecast",
			}}
			for _, r := range []Recorded{first, twin, second, third, first} { // the same one again changes nothing
				if err := s.RecordDecision(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			outcome := Outcome{Chain: "c", Number: 2, At: t0.Add(50 * time.Hour), Overlap: 3 * time.Hour}
			for _, o := range []Outcome{{Chain: "c", Number: 2, At: t0, Interruption: time.Minute}, outcome} {
				if err := s.RecordOutcome(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Decisions(t.Context(), "c", 10)
			if err != nil {
				t.Fatal(err)
			}
			first.Outcome, twin.Outcome, second.Outcome = &outcome, &outcome, &outcome
			if diff := cmp.Diff([]Recorded{third, second, twin, first}, got); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
			if got, err = s.Decisions(t.Context(), "c", 1); err != nil || len(got) != 1 || got[0].Number != 3 {
				t.Errorf("the latest one is %+v, %v; want that of link 3", got, err)
			}
			var pages []Recorded
			for before := (Place{At: segue.Never}); ; {
				page, err := s.DecisionsBefore(t.Context(), "c", before, 1)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				pages = append(pages, page...)
				before = Place{page[0].Decision.At, page[0].Number, page[0].Attempt}
			}
			if diff := cmp.Diff([]Recorded{third, second, twin, first}, pages); diff != "" {
				t.Errorf("page by page (-want +got):\n%s", diff)
			}
			outcomes, err := s.Outcomes(t.Context(), "c")
			if diff := cmp.Diff([]Outcome{outcome}, outcomes); diff != "" || err != nil {
				t.Errorf("outcomes, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestDecisionOfNoChainIsRefused(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			wantKind(t, s.RecordDecision(t.Context(), Recorded{Chain: "none", Number: 1, Attempt: 1, Decision: aDecision(t0)}), segue.NotFound)
			wantKind(t, s.RecordOutcome(t.Context(), Outcome{Chain: "none", Number: 1}), segue.NotFound)
			create(t, s, "c")
			wantKind(t, s.RecordOutcome(t.Context(), Outcome{Chain: "c", Number: 1, Overlap: -time.Second}), segue.Invalid)
		})
	}
}

// Of a long forecast the quantiles are kept, and so its shape: at any probability
// the wait is the same, up to the interpolation between two of them.
func TestLongForecastIsKeptAsQuantiles(t *testing.T) {
	t.Parallel()
	waits := make([]time.Duration, 1001)
	for i := range waits {
		waits[i] = time.Duration(i) * time.Minute
	}
	want := segue.NewForecast(t0, "simulation", waits)
	got := forecastOf(want).value()
	if len(got.Waits) != keptQuantiles {
		t.Errorf("%d waits are kept, want %d", len(got.Waits), keptQuantiles)
	}
	for _, p := range []float64{0, 0.05, 0.33, 0.5, 0.9, 1} {
		if diff := cmp.Diff(want.Quantile(p).Seconds(), got.Quantile(p).Seconds(), cmpopts.EquateApprox(0, 0.001)); diff != "" {
			t.Errorf("quantile %g (-want +got):\n%s", p, diff)
		}
	}
}
