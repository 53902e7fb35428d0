package provisioner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
)

// recorded is a history of four weeks before noon, with a job of two nodes every
// twelve hours, each of another user, that waited so long and ran for an hour.
func recorded(wait time.Duration) []segue.Job {
	var jobs []segue.Job
	for i := range 56 {
		submit := noon.Add(-time.Duration(i)*12*hour - hour)
		jobs = append(jobs, segue.Job{
			ID: segue.JobID{Number: int64(i + 1)}, User: fmt.Sprintf("user%d", i), Nodes: 2, Limit: 48 * hour,
			Submit: submit, Eligible: segue.NoTime, Start: submit.Add(wait), End: submit.Add(wait + hour), State: segue.Completed,
		})
	}
	return jobs
}

func TestModelIsDoubtedByRecordedWaits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		wait   time.Duration
		change func(jobs []segue.Job)
		want   string // "" for no doubt
	}{
		"its three hours were ten": {10 * hour, nil, "0 % of the 55 waits of the last 28 days were within the forecast's 90 % quantile, want 87 to 93 %"},
		"its three hours were one": {hour, nil, "100 % of the "},
		"of other jobs it said nothing": {10 * hour, func(jobs []segue.Job) {
			for i := range jobs {
				jobs[i].Limit = 2 * hour
			}
		}, ""},
		"one's own jobs in the queue say nothing": {20 * hour, func(jobs []segue.Job) {
			for i := range jobs {
				jobs[i].User = "ada"
			}
		}, ""},
		"what was not eligible says nothing": {10 * hour, func(jobs []segue.Job) {
			for i := range jobs {
				jobs[i].Eligible = jobs[i].Submit.Add(hour)
			}
		}, ""},
		"what came later says nothing": {10 * hour, func(jobs []segue.Job) {
			for i := range jobs {
				jobs[i].Submit, jobs[i].Start, jobs[i].End = jobs[i].Submit.Add(30*24*hour), jobs[i].Start.Add(30*24*hour), jobs[i].End.Add(30*24*hour)
			}
		}, ""},
		"nine in ten were shorter": {time.Minute, func(jobs []segue.Job) {
			for i := range jobs {
				if i%10 == 0 {
					jobs[i].Start, jobs[i].End = jobs[i].Start.Add(9*hour), jobs[i].End.Add(9*hour)
				}
			}
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := provisioner.Trained{ID: "toy", Model: toymodel.New(t, 3*hour, 10*hour, "moe-dqn"), Pairs: []segue.Shape{{Nodes: 2, Limit: 48 * hour}}}
			jobs := recorded(tt.wait)
			if tt.change != nil {
				tt.change(jobs)
			}
			var err error
			if by.Doubt, err = provisioner.Doubt(t.Context(), by, jobs, noon, cluster, predictor.MonteCarloConfig{Seed: 1}); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(by.Doubt, tt.want) || (tt.want == "") != (by.Doubt == "") {
				t.Errorf("the doubt is %q, want %q", by.Doubt, tt.want)
			}
			d := adviseBy(t, by, present(0, 0), question())
			want := "moe-dqn"
			if tt.want != "" {
				want = "monte-carlo-quantile"
			}
			if d.Policy != want || strings.Contains(d.Reason, "the model stands aside: "+by.Doubt+".") != (tt.want != "") {
				t.Errorf("%s decides, want %s: %s", d.Policy, want, d.Reason)
			}
		})
	}
}

func TestDoubtStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	by := provisioner.Trained{ID: "toy", Model: toymodel.New(t, 3*hour, 10*hour), Pairs: []segue.Shape{{Nodes: 2, Limit: 48 * hour}}}
	if _, err := provisioner.Doubt(ctx, by, recorded(hour), noon, cluster, predictor.MonteCarloConfig{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}
