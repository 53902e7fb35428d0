package provisioner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
)

// recorded is a history of four weeks before noon, with a job of two nodes every
// twelve hours, the first one 28 days ago, each of another user, that waited as long
// as wait says and ran for an hour.
func recorded(wait func(i int) time.Duration) []segue.Job {
	var jobs []segue.Job
	for i := range 56 {
		submit := noon.Add(time.Duration(i-56)*12*hour + hour)
		start := submit.Add(wait(i))
		jobs = append(jobs, segue.Job{
			ID: segue.JobID{Number: int64(i + 1)}, User: fmt.Sprintf("user%d", i), Nodes: 2, Limit: 48 * hour,
			Submit: submit, Eligible: segue.NoTime, Start: start, End: start.Add(hour), State: segue.Completed,
		})
	}
	return jobs
}

// spread returns waits from one to another, in no order.
func spread(from, to time.Duration) func(i int) time.Duration {
	return func(i int) time.Duration { return from + (to-from)*time.Duration(i*23%56)/55 }
}

func toy(t *testing.T) provisioner.Trained {
	t.Helper()
	return provisioner.Trained{ID: "toy", Model: toymodel.New(t, 3*hour, 10*hour, "moe-dqn"), Pairs: []segue.Shape{{Nodes: 2, Limit: 48 * hour}}}
}

func lookBack(t *testing.T, by provisioner.Trained, jobs []segue.Job) provisioner.Hindsight {
	t.Helper()
	h, err := provisioner.LookBack(t.Context(), by, jobs, noon, cluster, predictor.MonteCarloConfig{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestForecastsOfAModelGoWhereRecordedWaitsLay(t *testing.T) {
	t.Parallel()
	said := segue.NewForecast(noon, "trees", []time.Duration{3 * hour})
	tests := map[string]struct {
		wait        func(i int) time.Duration
		change      func(jobs []segue.Job)
		least, most time.Duration // that 90 % start within
	}{
		"its three hours were six to twelve":          {spread(6*hour, 12*hour), nil, 10 * hour, 24 * hour},
		"its three hours were one to three":           {spread(hour, 3*hour), nil, 3 * hour, 3*hour + time.Minute},
		"the latest count most":                       {func(i int) time.Duration { return time.Duration(1+i/50*11) * hour }, nil, 10 * hour, 36 * hour},
		"those that wait still count":                 {spread(2*hour, 3*hour), func(jobs []segue.Job) { stillWait(jobs[48:]) }, 24 * hour, 14 * 24 * hour},
		"of jobs of another length it learns nothing": {spread(6*hour, 12*hour), func(jobs []segue.Job) { each(jobs, func(j *segue.Job) { j.Limit = 2 * hour }) }, 3 * hour, 3*hour + time.Minute},
		"of the second of one's own in the queue neither": {
			spread(14*hour, 18*hour), func(jobs []segue.Job) { each(jobs, func(j *segue.Job) { j.User = "ada" }) }, 3 * hour, 3*hour + time.Minute,
		},
		"of what was not eligible neither": {
			spread(6*hour, 12*hour), func(jobs []segue.Job) { each(jobs, func(j *segue.Job) { j.Eligible = j.Submit.Add(hour) }) }, 3 * hour, 3*hour + time.Minute,
		},
		"of those cancelled while they waited neither": {
			spread(6*hour, 12*hour), func(jobs []segue.Job) { each(jobs, func(j *segue.Job) { j.Start, j.End = segue.NoTime, j.Start }) }, 3 * hour, 3*hour + time.Minute,
		},
		"of the future neither": {
			spread(6*hour, 12*hour), func(jobs []segue.Job) {
				each(jobs, func(j *segue.Job) {
					j.Submit, j.Start, j.End = j.Submit.Add(30*24*hour), j.Start.Add(30*24*hour), j.End.Add(30*24*hour)
				})
			}, 3 * hour, 3*hour + time.Minute,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs := recorded(tt.wait)
			if tt.change != nil {
				tt.change(jobs)
			}
			by := toy(t)
			by.Hindsight = lookBack(t, by, jobs)
			if got := by.Hindsight.Correct(said).Quantile(0.9); got < tt.least || got > tt.most {
				t.Errorf("90 %% start within %s, want %s to %s", got, tt.least, tt.most)
			}
			by.Hindsight.Doubt = ""
			planned := by.Hindsight.CorrectPlanner(segue.NewForecast(noon, "monte-carlo", make([]time.Duration, 20)))
			want, got := learned.Blended(by.Hindsight.Correct(said), planned), adviseBy(t, by, present(0, 0), question()).Forecast
			for _, p := range []float64{0.1, 0.5, 0.9} { // the trees say three hours and some seconds
				if w, g := want.Quantile(p), got.Quantile(p); (g - w).Abs() > w/50+time.Minute {
					t.Errorf("advice is by a %v quantile of %s, want that of the blend of both as corrected, %s", p, g, w)
				}
			}
		})
	}
}

// The planner sees an idle cluster, on which no job would wait. Where those that were
// recorded waited, advice is by that, also where no model decides.
func TestPlannersForecastsGoWhereRecordedWaitsLay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wait        func(i int) time.Duration
		least, most time.Duration // that 90 % start within
	}{
		"none": {spread(0, 0), 0, 0},
		"long": {spread(6*hour, 12*hour), 8 * hour, 24 * hour},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planner := provisioner.Trained{Pairs: []segue.Shape{{Nodes: 2, Limit: 48 * hour}}}
			monte := predictor.MonteCarloConfig{Replicas: 8}
			past := lookBack(t, planner, recorded(tt.wait))
			d, err := provisioner.Advise(past, present(0, 0), cluster, monte, question())
			if err != nil {
				t.Fatal(err)
			}
			if got := d.Forecast.Quantile(0.9); got < tt.least || got > tt.most {
				t.Errorf("90 %% start within %s, want %s to %s", got, tt.least, tt.most)
			}
			if want := tt.most > 0; d.Submit != want {
				t.Errorf("with ten hours left it submits: %t, want %t", d.Submit, want)
			}
			by := toy(t)
			by.Hindsight = lookBack(t, by, recorded(tt.wait))
			by.Hindsight.Doubt = "they failed"
			aside := adviseBy(t, by, present(0, 0), question())
			if got := aside.Forecast.Quantile(0.9); got < tt.least || got > tt.most {
				t.Errorf("where the model stands aside 90 %% start within %s, want %s to %s", got, tt.least, tt.most)
			}
		})
	}
}

func each(jobs []segue.Job, change func(j *segue.Job)) {
	for i := range jobs {
		change(&jobs[i])
	}
}

func stillWait(jobs []segue.Job) {
	each(jobs, func(j *segue.Job) { j.Start, j.End, j.State = segue.NoTime, segue.NoTime, segue.Pending })
}

// What happened after the instant changes nothing.
func TestHindsightKnowsNothingOfTheFuture(t *testing.T) {
	t.Parallel()
	jobs := recorded(spread(hour, 40*hour))
	known := slices.Clone(jobs)
	each(known, func(j *segue.Job) {
		if j.Start >= noon {
			j.Start, j.End, j.State = segue.NoTime, segue.NoTime, segue.Pending
		} else if j.End >= noon {
			j.End, j.State = segue.NoTime, segue.Running
		}
	})
	by := toy(t)
	said := segue.NewForecast(noon.Add(hour), "trees", []time.Duration{3 * hour})
	got, want := lookBack(t, by, jobs), lookBack(t, by, known)
	if diff := cmp.Diff(want.Correct(said), got.Correct(said)); diff != "" || got.Doubt != want.Doubt {
		t.Errorf("doubts %q and %q, forecasts differ (-what was known +everything):\n%s", want.Doubt, got.Doubt, diff)
	}
}

func TestModelIsDoubtedWhereCorrectionDoesNotHelp(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wait func(i int) time.Duration
		want string // "" for no doubt
	}{
		"its three hours were none to one": {spread(0, hour), "100 % of the 56 waits of the last 28 days were within the forecast's 90 % quantile, want 87 to 93 %"},
		"they were one to twenty":          {spread(hour, 20*hour), ""},
		"they grow day by day": {func(i int) time.Duration {
			return time.Duration(float64(spread(hour, 20*hour)(i)) * math.Pow(1.04, float64(i-28)))
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := toy(t)
			by.Hindsight = lookBack(t, by, recorded(tt.wait))
			if !strings.HasPrefix(by.Hindsight.Doubt, tt.want) || (tt.want == "") != (by.Hindsight.Doubt == "") {
				t.Errorf("the doubt is %q, want %q", by.Hindsight.Doubt, tt.want)
			}
			d := adviseBy(t, by, present(0, 0), question())
			want := "moe-dqn"
			if tt.want != "" {
				want = "monte-carlo-corrected-quantile"
			}
			if d.Policy != want || strings.Contains(d.Reason, "the model stands aside: "+by.Hindsight.Doubt+".") != (tt.want != "") {
				t.Errorf("%s decides, want %s: %s", d.Policy, want, d.Reason)
			}
		})
	}
}

func TestLookingBackStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := provisioner.LookBack(ctx, toy(t), recorded(spread(hour, 2*hour)), noon, cluster, predictor.MonteCarloConfig{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}
