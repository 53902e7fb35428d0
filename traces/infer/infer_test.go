package infer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/traces/infer"
)

// found is what an inference says about limits and chains.
type found struct{ Running, Queued, Nodes, Chains int }

func findings(r *infer.Result) found {
	value := func(l infer.Limit) int {
		if !l.Found {
			return 0
		}
		return l.Value
	}
	chains := 0
	if r.Chains.Found {
		chains = 1
	}
	return found{value(r.Limits.MaxRunning), value(r.Limits.MaxQueued), value(r.Limits.MaxNodes), chains}
}

// TestInferenceFindsTheRulesOfAScenarioAndNoOthers runs each scenario with two
// seeds. Precision is the least part of the inferred dependencies that
// are true; recall the least part of the true ones, whose predecessor ended
// while they waited, that are inferred.
func TestInferenceFindsTheRulesOfAScenarioAndNoOthers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		scenario          scenario
		want              found
		precision, recall float64
	}{
		"neither: first come, first served with backfill": {scenario: scenario{}},
		"neither: strict order":                           {scenario: scenario{strict: true}},
		"neither: eight users on a crowded cluster":       {scenario: scenario{users: 8}},
		"neither: hopelessly overloaded":                  {scenario: scenario{users: 20, load: 1.5, count: 1500}},
		"neither: hardly any queue":                       {scenario: scenario{load: 0.7}},
		"neither: a large cluster":                        {scenario: scenario{nodes: 100, users: 100, count: 6000}},

		"at most three running jobs":               {scenario: scenario{cap: 3}, want: found{Running: 3}},
		"at most five, twenty users":               {scenario: scenario{cap: 5, users: 20, load: 1.3}, want: found{Running: 5}},
		"at most one":                              {scenario: scenario{cap: 1}, want: found{Running: 1}},
		"at most twelve queued and running jobs":   {scenario: scenario{queueCap: 12}, want: found{Queued: 12}},
		"chains, calm":                             {scenario: scenario{chains: 5, load: 0.7}, want: found{Chains: 1}, precision: 0.9, recall: 0.9},
		"chains, congested":                        {scenario: scenario{chains: 5}, want: found{Chains: 1}, precision: 0.9, recall: 0.4},
		"chains whose names count on, congested":   {scenario: scenario{chains: 5, numbered: true}, want: found{Chains: 1}, precision: 0.95, recall: 0.8},
		"chains and at most three running jobs":    {scenario: scenario{chains: 4, cap: 3}, want: found{Running: 3, Chains: 1}, precision: 0.7, recall: 0.35},
		"both, and the names count on (congested)": {scenario: scenario{chains: 4, cap: 3, numbered: true}, want: found{Running: 3, Chains: 1}, precision: 0.95, recall: 0.35},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				s := test.scenario
				s.seed = seed
				truth := s.history()
				r := infer.Infer(truth.jobs, infer.Config{})
				if diff := cmp.Diff(test.want, findings(r)); diff != "" {
					t.Errorf("seed %d: findings (-want +got):\n%s%+v\n%+v", seed, diff, r.Limits, r.Chains)
				}
				if precision, recall := truth.score(r.Dependencies); precision < test.precision || recall < test.recall {
					t.Errorf("seed %d: precision %.2f and recall %.2f, want %.2f and %.2f", seed, precision, recall, test.precision, test.recall)
				}
			}
		})
	}
}

// score compares inferred dependencies with the true ones.
func (t truth) score(deps []infer.Dependency) (precision, recall float64) {
	right, held := 0, 0
	for _, d := range deps {
		if t.after[d.Job] == d.After {
			right++
		}
	}
	for i, after := range t.after {
		if after >= 0 && t.jobs[i].Wait() > 10*time.Minute && t.jobs[after].End > t.jobs[i].Submit {
			held++
		}
	}
	return float64(right) / max(1, float64(len(deps))), float64(right) / max(1, float64(held))
}

// TestLimitsAreFoundWithinPartitions joins two clusters into one history.
func TestLimitsAreFoundWithinPartitions(t *testing.T) {
	t.Parallel()
	small, large := scenario{seed: 1, cap: 2}.history(), scenario{seed: 2, cap: 4}.history()
	var jobs []segue.Job
	for i := range small.jobs {
		j := small.jobs[i]
		j.Partition, j.QOS = "small", "normal"
		jobs = append(jobs, j)
	}
	for i := range large.jobs {
		j := large.jobs[i]
		j.Partition, j.QOS = "large", "normal"
		jobs = append(jobs, j)
	}
	r := infer.Infer(jobs, infer.Config{})
	got := map[string]int{}
	for _, p := range r.Partitions {
		if p.MaxRunning.Found {
			got[p.Name] = p.MaxRunning.Value
		}
	}
	if diff := cmp.Diff(map[string]int{"small": 2, "large": 4}, got); diff != "" {
		t.Errorf("limits by partition (-want +got):\n%s", diff)
	}
	if r.QOS != nil {
		t.Errorf("limits of the only QOS are %+v, want none apart from the cluster's", r.QOS)
	}
}

func TestAnEmptyHistoryGivesNothingAway(t *testing.T) {
	t.Parallel()
	r := infer.Infer(nil, infer.Config{})
	if diff := cmp.Diff(found{}, findings(r)); diff != "" || len(r.Dependencies)+len(r.Nodes) > 0 {
		t.Errorf("findings (-want +got):\n%s%+v", diff, r)
	}
}

// TestEligibleTimesLieBetweenSubmissionAndStart feeds histories of any kind,
// sensible or not.
func TestEligibleTimesLieBetweenSubmissionAndStart(t *testing.T) {
	t.Parallel()
	instant := rapid.OneOf(
		rapid.Map(rapid.Int64Range(0, 200_000), segue.Seconds),
		rapid.SampledFrom([]segue.Time{segue.NoTime, segue.Never}),
	)
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]segue.Job, rapid.IntRange(0, 60).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = segue.Job{
				ID:       segue.JobID{Number: int64(i)},
				Name:     fmt.Sprintf("x.%d", rapid.IntRange(0, 5).Draw(t, "name")),
				User:     rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "user"),
				Submit:   segue.Seconds(rapid.Int64Range(0, 100_000).Draw(t, "submit")),
				Eligible: instant.Draw(t, "eligible"),
				Start:    instant.Draw(t, "start"),
				End:      instant.Draw(t, "end"),
				Limit:    time.Duration(rapid.Int64Range(0, 5).Draw(t, "limit")) * time.Hour,
				Nodes:    rapid.Int32Range(0, 4).Draw(t, "nodes"),
			}
		}
		r := infer.Infer(jobs, infer.Config{})
		for i, j := range jobs {
			if e := r.Eligible[i]; e < j.Submit || (j.Start.Known() && j.Start >= j.Submit && e > j.Start) {
				t.Fatalf("job %d: submitted %s, eligible %s, started %s", i, j.Submit, e, j.Start)
			}
		}
	})
}
