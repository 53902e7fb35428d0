package provisioner_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/simulator"
)

const hour = time.Hour

var noon = segue.Seconds(1676376000) // 2023-02-14 12:00 UTC

var cluster = simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 4}}, Backfill: simulator.EASY}

func question() provisioner.Question {
	return provisioner.Question{
		Request:   segue.Request{Shape: segue.Shape{Nodes: 2, Limit: 48 * hour}, User: "ada"},
		Remaining: 10 * hour, Prefer: segue.Balanced,
	}
}

// present returns a cluster of 4 nodes on which a job of the given nodes has run
// for one of its twelve hours, and another waits; jobs have always run to their
// limits.
func present(busy, waiting int) predictor.Present {
	job := func(nodes int) segue.QueuedJob {
		return segue.QueuedJob{
			Request: segue.Request{Shape: segue.Shape{Nodes: nodes, Limit: 12 * hour}, User: "ben"},
			Submit:  noon.Add(-hour), Eligible: noon.Add(-hour), Start: noon.Add(-hour),
		}
	}
	now := predictor.Present{Snapshot: segue.Snapshot{At: noon, Nodes: 4}, History: &predictor.History{}, Owner: "ada"}
	if busy > 0 {
		now.Snapshot.Running = append(now.Snapshot.Running, job(busy))
	}
	if waiting > 0 {
		q := job(waiting)
		q.Start = segue.NoTime
		now.Snapshot.Pending = append(now.Snapshot.Pending, q)
	}
	return now
}

func advise(t *testing.T, now predictor.Present, q provisioner.Question) segue.Decision {
	t.Helper()
	d, err := provisioner.Advise(provisioner.Hindsight{}, now, cluster, predictor.MonteCarloConfig{Replicas: 20}, q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		now        predictor.Present
		change     func(*provisioner.Question)
		wantSubmit bool
		wantWait   time.Duration // until SubmitAt
		wantReason string
	}{
		"on an empty cluster the next link is submitted at the end": {
			now: present(0, 0), wantWait: 10 * hour,
			wantReason: "Wait until 2023-02-14 22:00 UTC: the current link ends in 10 h, and of such jobs submitted now " +
				"80 % would start within 0 min (half within 0 min); " +
				"submitting now would cost an expected 10 h of overlap to avoid 0 min of interruption.",
		},
		"on a congested cluster at once": {
			now: present(3, 0), wantSubmit: true,
			wantReason: "Submit now: the current link ends in 10 h, and of such jobs submitted now " +
				"80 % would start within 11 h (half within 11 h); " +
				"waiting 1 h more would change the expected interruption from 1 h to 1 h.",
		},
		"even more behind another job": {
			now: present(4, 4), change: func(q *provisioner.Question) { q.Remaining = 24 * hour }, wantWait: hour,
			wantReason: "Wait until 2023-02-14 13:00 UTC: the current link ends in 24 h, and of such jobs submitted now " +
				"80 % would start within 23 h (half within 23 h); " +
				"submitting now would cost an expected 1 h of overlap to avoid 0 min of interruption.",
		},
		"but not before the user's cap": {
			now: present(3, 0), change: func(q *provisioner.Question) { q.MaxLead = 4 * hour }, wantWait: 6 * hour,
			wantReason: "Wait until 2023-02-14 18:00 UTC: the current link ends in 10 h, and you allow 4 h of lead at most; " +
				"of such jobs submitted now 80 % would start within 11 h (half within 11 h).",
		},
		"when the current link has ended": {
			now: present(3, 0), change: func(q *provisioner.Question) { q.Remaining = 0 }, wantSubmit: true,
			wantReason: "Submit now: the current link has ended.",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := question()
			if tt.change != nil {
				tt.change(&q)
			}
			d := advise(t, tt.now, q)
			if d.Submit != tt.wantSubmit || d.SubmitAt != noon.Add(tt.wantWait) {
				t.Errorf("submit %t at %s, want %t at %s", d.Submit, d.SubmitAt, tt.wantSubmit, noon.Add(tt.wantWait))
			}
			if diff := cmp.Diff(tt.wantReason, d.Reason); diff != "" {
				t.Errorf("reason differs (-want +got):\n%s", diff)
			}
			if d.Policy != "monte-carlo-corrected-quantile" || len(d.Forecast.Waits) != 20 {
				t.Errorf("decided by %s on %d waits", d.Policy, len(d.Forecast.Waits))
			}
		})
	}
}

func TestAlternativesAreNowEveryStepAndTheEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		remaining, step time.Duration
		want            []time.Duration // after now
	}{
		"whole hours":           {3 * hour, 0, []time.Duration{0, hour, 2 * hour, 3 * hour}},
		"a part of an hour":     {150 * time.Minute, 0, []time.Duration{0, hour, 2 * hour, 150 * time.Minute}},
		"longer steps":          {10 * hour, 6 * hour, []time.Duration{0, 6 * hour, 10 * hour}},
		"less than a step left": {20 * time.Minute, 0, []time.Duration{0, 20 * time.Minute}},
		"nothing left":          {0, 0, []time.Duration{0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := question()
			q.Remaining, q.Step = tt.remaining, tt.step
			var got []time.Duration
			for _, a := range advise(t, present(3, 0), q).Alternatives {
				got = append(got, a.SubmitAt.Sub(noon))
				// The other job ends at 23:00, so every later hour costs one.
				if want := max(0, 11*hour-tt.remaining, a.SubmitAt.Sub(noon)-tt.remaining); a.Interruption != want {
					t.Errorf("submitted after %s: an interruption of %s, want %s", a.SubmitAt.Sub(noon), a.Interruption, want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("alternatives differ (-want +got):\n%s", diff)
			}
		})
	}
	for remaining, want := range map[time.Duration]struct {
		alternatives int
		last         time.Duration
	}{
		168 * hour:       {169, 168 * hour},
		169 * hour:       {168, 167 * hour}, // its end is too far ahead
		1_000_000 * hour: {168, 167 * hour},
	} {
		q := question()
		q.Remaining = remaining
		list := advise(t, present(0, 0), q).Alternatives
		if last := list[len(list)-1].SubmitAt.Sub(noon); len(list) != want.alternatives || last != want.last {
			t.Errorf("with %s left %d alternatives, the last after %s; want %d, the last after %s", remaining, len(list), last, want.alternatives, want.last)
		}
	}
}

func TestAdviceIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(advise(t, present(4, 4), question()), advise(t, present(4, 4), question())); diff != "" {
		t.Errorf("asked again, other advice (-first +second):\n%s", diff)
	}
}

// A link without a limit is planned for like one of a year.
func TestAdviceForALinkWithoutALimit(t *testing.T) {
	t.Parallel()
	limits := func(limit time.Duration) []time.Duration {
		q := question()
		q.Request.Limit = limit
		return advise(t, present(3, 2), q).Forecast.Waits
	}
	if diff := cmp.Diff(limits(365*24*hour), limits(segue.Unlimited)); diff != "" {
		t.Errorf("waits differ (-a year +unlimited):\n%s", diff)
	}
}

func TestQuestionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*provisioner.Question)
		want   string
	}{
		"no nodes":             {func(q *provisioner.Question) { q.Request.Nodes = 0 }, "advise: request: nodes is 0, want at least 1"},
		"no time":              {func(q *provisioner.Question) { q.Request.Limit = 0 }, "advise: request: time limit is 0s, want more than 0"},
		"more than there is":   {func(q *provisioner.Question) { q.Request.Nodes = 5 }, "advise: the request is for 5 nodes, the cluster has 4"},
		"GPUs of whole nodes":  {func(q *provisioner.Question) { q.Request.GPUsPerNode = 2 }, "advise: the request is for 2 GPUs per node, the cluster hands out 0"},
		"an end in the past":   {func(q *provisioner.Question) { q.Remaining = -1 }, "advise: remaining is -1ns, want 0 or more"},
		"no end":               {func(q *provisioner.Question) { q.Remaining = segue.Unlimited }, "advise: remaining is unlimited: a link that never ends needs no other"},
		"a cap after the end":  {func(q *provisioner.Question) { q.MaxLead = -hour }, "advise: the longest lead is -1h0m0s, want 0 (no cap) or more"},
		"steps of a second":    {func(q *provisioner.Question) { q.Step = time.Second }, "advise: step is 1s, want at least 1m"},
		"a negative price":     {func(q *provisioner.Question) { q.Prefer = -4 }, "advise: preference is -4, want more than 0"},
		"a price that is none": {func(q *provisioner.Question) { q.Prefer = segue.Preference(math.NaN()) }, "advise: preference is NaN, want more than 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := question()
			tt.change(&q)
			_, err := provisioner.Advise(provisioner.Hindsight{}, present(0, 0), cluster, predictor.MonteCarloConfig{}, q)
			if err == nil || err.Error() != tt.want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error %v (%s), want %q (invalid)", err, segue.KindOf(err), tt.want)
			}
		})
	}
	_, err := provisioner.Advise(provisioner.Hindsight{}, present(0, 0), cluster, predictor.MonteCarloConfig{Replicas: -1}, question())
	if segue.KindOf(err) != segue.Invalid {
		t.Errorf("with -1 replicas: error %v, want one of kind invalid", err)
	}
	_, err = provisioner.Advise(provisioner.Hindsight{}, present(0, 0), simulator.Config{}, predictor.MonteCarloConfig{}, question())
	if segue.KindOf(err) != segue.Invalid {
		t.Errorf("without a pool: error %v, want one of kind invalid", err)
	}
}
