package learned_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
)

const hour = time.Hour

var noon = segue.Seconds(1676376000) // 2023-02-14 12:00 UTC

// situation has a planner that knows of no wait.
func situation(remaining time.Duration) learned.Situation {
	at := func(after time.Duration) segue.Forecast {
		return segue.Forecast{At: noon.Add(after), Source: "monte-carlo", Waits: []time.Duration{0}}
	}
	return learned.Situation{
		Situation: policy.Situation{
			At: noon, Remaining: remaining, Prefer: segue.Balanced, Forecast: at(0),
			Later: []segue.Forecast{at(0), at(hour), at(remaining)},
		},
		Features: toymodel.Features("pending.jobs_log", 3),
	}
}

func decide(t *testing.T, m *learned.Model, name string, s learned.Situation) segue.Decision {
	t.Helper()
	d, err := m.Decide(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestModelDecides(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 6*hour, 12*hour, "dqn", "moe-dqn")
	tests := map[string]struct {
		policy     string
		remaining  time.Duration
		change     func(*learned.Situation)
		wantPolicy string
		wantSubmit bool
		wantWait   time.Duration
		wantReason string
	}{
		"at its lead the network submits": {
			remaining: 12 * hour, wantPolicy: "moe-dqn", wantSubmit: true,
			wantReason: "Submit now: the current link ends in 12 h, and of such jobs submitted now 100 % would start before that, for an expected " +
				"0 min of interruption and 9 h of overlap; moe-dqn decides so at a price of 0.25 h of interruption for an hour of overlap.",
		},
		"before it the network waits until it would submit": {
			policy: "dqn", remaining: 20 * hour, wantPolicy: "dqn", wantWait: 8 * hour,
			wantReason: "Wait until 2023-02-14 20:00 UTC: the current link ends in 20 h, and of such jobs submitted now 100 % would start before that, for an expected " +
				"0 min of interruption and 17 h of overlap; dqn decides so at a price of 0.25 h of interruption for an hour of overlap.",
		},
		"the cap holds for networks": {
			remaining: 10 * hour, change: func(s *learned.Situation) { s.MaxLead = 4 * hour }, wantPolicy: "moe-dqn", wantWait: 6 * hour,
			wantReason: "Wait until 2023-02-14 18:00 UTC: the current link ends in 10 h, and of such jobs submitted now 100 % would start before that, for an expected " +
				"0 min of interruption and 7 h of overlap; moe-dqn decides so at a price of 0.25 h of interruption for an hour of overlap, and you allow 4 h of lead at most.",
		},
		"with more remaining than in training there is time": {
			remaining: 20 * hour, change: func(s *learned.Situation) { s.LongestLead = 8 * hour }, wantPolicy: "moe-dqn", wantWait: 12 * hour,
			wantReason: "Wait until 2023-02-15 00:00 UTC: the current link ends in 20 h, and of such jobs submitted now 100 % would start before that, for an expected " +
				"0 min of interruption and 17 h of overlap; moe-dqn decides so at a price of 0.25 h of interruption for an hour of overlap.",
		},
		"the quantile rule goes by half of what the trees say, and half of the planner's": {
			policy: learned.BlendQuantile, remaining: 20 * hour, wantPolicy: "blend-quantile", wantWait: 17 * hour,
			wantReason: "Wait until 2023-02-15 04:59 UTC: the current link ends in 20 h, and of such jobs submitted now 100 % would start before that, for an expected " +
				"0 min of interruption and 17 h of overlap; blend-quantile decides so at a price of 0.25 h of interruption for an hour of overlap.",
		},
		"the trees' quantile rule goes by the trees alone": {
			policy: learned.TreesQuantile, remaining: 20 * hour, wantPolicy: "trees-quantile", wantWait: 14 * hour,
			wantReason: "Wait until 2023-02-15 01:59 UTC: the current link ends in 20 h, and of such jobs submitted now 100 % would start before that, for an expected " +
				"0 min of interruption and 14 h of overlap; trees-quantile decides so at a price of 0.25 h of interruption for an hour of overlap.",
		},
		"at the end everybody submits": {
			remaining: 0, wantPolicy: "moe-dqn", wantSubmit: true, wantReason: "Submit now: the current link has ended.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := situation(tt.remaining)
			if tt.change != nil {
				tt.change(&s)
			}
			d := decide(t, model, tt.policy, s)
			if got := d.SubmitAt.Sub(noon).Round(time.Minute); d.Submit != tt.wantSubmit || got != tt.wantWait || d.Policy != tt.wantPolicy {
				t.Errorf("%s submits %t after %s, want %s, %t, %s", d.Policy, d.Submit, got, tt.wantPolicy, tt.wantSubmit, tt.wantWait)
			}
			if diff := cmp.Diff(tt.wantReason, d.Reason); diff != "" {
				t.Errorf("reason differs (-want +got):\n%s", diff)
			}
		})
	}
}

// The simulations know of no wait now and of two hours after an hour, so that the
// three hours of the blend become five.
func TestLaterSubmissionsArePricedByTheModelAndHowTheQueueChanges(t *testing.T) {
	t.Parallel()
	s := situation(4 * hour)
	s.Later[1].Waits = []time.Duration{2 * hour}
	d := decide(t, toymodel.New(t, 6*hour, 12*hour), "", s)
	var got []string
	for _, a := range d.Alternatives {
		got = append(got, a.Forecaster+": "+policy.Words(a.Interruption))
	}
	if diff := cmp.Diff([]string{"blend: 0 min", "blend + monte-carlo: 2 h", "blend + monte-carlo: 3 h"}, got); diff != "" {
		t.Errorf("alternatives differ (-want +got):\n%s", diff)
	}
}

func TestModelStandsAsideWhereItNeverWas(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 6*hour, 12*hour, "moe-dqn")
	model.Drift = toymodel.Drift("pending.jobs_log", 0, 4)
	s := situation(10 * hour)
	if d := decide(t, model, "", s); d.Policy != "moe-dqn" || !d.Submit {
		t.Errorf("in a queue as in training %s decides, and submits %t; want moe-dqn, true", d.Policy, d.Submit)
	}
	s.Features = toymodel.Features("pending.jobs_log", 9)
	d := decide(t, model, "", s)
	want := "; the model stands aside: pending.jobs_log is 9, training saw at most 4."
	if d.Policy != "monte-carlo-corrected-quantile" || d.Submit || d.Forecast.Source != "monte-carlo" || !strings.HasSuffix(d.Reason, want) {
		t.Errorf("%s decides by %s, submits %t: %q; want the planner, which waits, and a reason that ends with %q",
			d.Policy, d.Forecast.Source, d.Submit, d.Reason, want)
	}
	s.Features = toymodel.Features("own.running", 9)
	if d := decide(t, model, "", s); d.Policy != "moe-dqn" {
		t.Errorf("for a user with nine jobs %s decides, want moe-dqn: other jobs of one's own are no drift", d.Policy)
	}
}

func TestModelStandsAsideWhereItsForecastsFail(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 6*hour, 12*hour, "moe-dqn")
	s := situation(10 * hour)
	s.Doubt = "78 % of the 280 waits of the last 28 days were within the forecast's 90 % quantile, want 87 to 93 %"
	d := decide(t, model, "", s)
	if want := "; the model stands aside: " + s.Doubt + "."; d.Policy != "monte-carlo-corrected-quantile" || !strings.HasSuffix(d.Reason, want) {
		t.Errorf("%s decides: %q; want the planner, and a reason that ends with %q", d.Policy, d.Reason, want)
	}
}

// Where the model stands aside, the planner's forecasts are corrected as well, and
// what the situation holds stays as it was.
func TestPlannerIsCorrectedWhereTheModelStandsAside(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 6*hour, 12*hour, "moe-dqn")
	s := situation(10 * hour)
	s.Doubt = "they failed"
	s.CorrectPlanner = func(f segue.Forecast) segue.Forecast {
		f.Waits = []time.Duration{11 * hour}
		return f
	}
	d := decide(t, model, "", s)
	if !d.Submit || d.Forecast.Quantile(0.5) != 11*hour {
		t.Errorf("it submits %t by a median of %s, want true by 11h", d.Submit, d.Forecast.Quantile(0.5))
	}
	for _, alternative := range d.Alternatives {
		if alternative.StartsBeforeEnd != 0 {
			t.Errorf("submitted at %s %.0f %% start before the end, want none of waits of 11h", alternative.SubmitAt, 100*alternative.StartsBeforeEnd)
		}
	}
	if s.Forecast.Waits[0] != 0 || s.Later[1].Waits[0] != 0 {
		t.Error("the situation was changed")
	}
}

// The trees say six hours and the planner none; as corrected nine and eleven.
func TestModelDecidesByTheBlendOfCorrectedForecasts(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 6*hour, 12*hour, "moe-dqn")
	to := func(wait time.Duration) func(segue.Forecast) segue.Forecast {
		return func(f segue.Forecast) segue.Forecast {
			f.Waits = []time.Duration{wait}
			return f
		}
	}
	for name, tt := range map[string]struct {
		trees, planner func(segue.Forecast) segue.Forecast
		want           time.Duration
	}{
		"both as they are":       {nil, nil, 3 * hour},
		"the trees' corrected":   {to(9 * hour), nil, 4*hour + 30*time.Minute},
		"the planner's":          {nil, to(11 * hour), 8*hour + 30*time.Minute},
		"both":                   {to(9 * hour), to(11 * hour), 10 * hour},
		"the planner's is empty": {to(9 * hour), func(segue.Forecast) segue.Forecast { return segue.Forecast{} }, 9 * hour},
	} {
		s := situation(10 * hour)
		s.Correct, s.CorrectPlanner = tt.trees, tt.planner
		if got := decide(t, model, "", s).Forecast.Quantile(0.5); (got - tt.want).Abs() > time.Minute {
			t.Errorf("%s: it decides by a median of %s, want %s", name, got, tt.want)
		}
		d := decide(t, model, learned.TreesQuantile, s)
		if want := decide(t, model, learned.TreesQuantile, learned.Situation{Situation: s.Situation, Features: s.Features, Correct: tt.trees}); d.SubmitAt != want.SubmitAt {
			t.Errorf("%s: the trees alone submit at %s, want %s", name, d.SubmitAt, want.SubmitAt)
		}
	}
}

// A model of one time limit is not asked of a job of a quite different one.
func TestModelIsAskedOfSuchJobsAsItLearned(t *testing.T) {
	t.Parallel()
	model := toymodel.New(t, 6*hour, 12*hour, "moe-dqn")
	model.Drift = toymodel.Drift("request.limit", 48, 48)
	for limit, want := range map[float32]string{
		48: "", 30: "", 96: "", 2: "request.limit is 2, training knew 48 only", 100: "request.limit is 100, training knew 48 only",
	} {
		ok, why := model.Familiar(toymodel.Features("request.limit", limit))
		if why != want || ok != (want == "") {
			t.Errorf("for a limit of %g h: %t, %q; want %q", limit, ok, why, want)
		}
	}
}

func TestDefaultPolicyAndUnknownNames(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		has  []string
		want string
	}{
		"moe-dqn wherever it stands": {[]string{"pg", "dqn", "moe-dqn"}, "moe-dqn"},
		"else the first":             {[]string{"pg", "dqn"}, "pg"},
		"else the blend":             {nil, "blend-quantile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := toymodel.New(t, hour, hour, tt.has...)
			if got := decide(t, m, "", situation(2*hour)).Policy; got != tt.want {
				t.Errorf("%s decides, want %s", got, tt.want)
			}
			_, err := m.Decide("nobody", situation(2*hour))
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), `no policy "nobody": want one of `+tt.want) {
				t.Errorf("error %v, want an invalid one that names the policies", err)
			}
		})
	}
}

func TestModelIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	m := toymodel.New(t, 6*hour, 12*hour, "moe-dqn")
	m.Drift = toymodel.Drift("pending.jobs_log", 0, 4)
	files := toymodel.Files(t, m)
	read, err := learned.Read(func(name string) []byte { return files[name] })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Drift, read.Drift); diff != "" {
		t.Errorf("drift differs (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff(decide(t, m, "", situation(9*hour)), decide(t, read, "", situation(9*hour))); diff != "" {
		t.Errorf("decisions differ (-written +read):\n%s", diff)
	}
	files[learned.IndexFile] = append(slices.Clone(files[learned.IndexFile]), "{}"...)
	_, err = learned.Read(func(name string) []byte { return files[name] })
	if segue.KindOf(err) != segue.Corrupt || !strings.HasSuffix(err.Error(), "learned.json: something follows the JSON value") {
		t.Errorf("an index with more after it: error %v, want a corrupt one that says so", err)
	}
	m.Drift.Features[0].Name = "phase_of_the_moon"
	files = toymodel.Files(t, m)
	_, err = learned.Read(func(name string) []byte { return files[name] })
	if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), `drift.json: the profile is of a feature "phase_of_the_moon"`) {
		t.Errorf("a profile of another feature: error %v, want an invalid one that names it", err)
	}
	files[learned.DriftFile] = []byte(`{"format":1}`)
	_, err = learned.Read(func(name string) []byte { return files[name] })
	if segue.KindOf(err) != segue.Corrupt || !strings.HasPrefix(err.Error(), "drift.json: ") {
		t.Errorf("a damaged profile: error %v, want a corrupt one that names drift.json", err)
	}
}
