//go:build native

package xgboost_test

import (
	"math"
	"testing"
	"time"

	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/trainer/xgboost"
)

// TestLeavesAgreesOnRecordedJobs compares leaves with libxgboost on what users
// of Lonestar6 asked for and how long they waited.
func TestLeavesAgreesOnRecordedJobs(t *testing.T) {
	t.Parallel()
	data, waits, cols := recordedJobs(t)
	forest := xgboost.Forest(100)
	forest.MaxDepth = 12
	tests := map[string]xgboost.Config{
		"boosted AFT":           {Objective: xgboost.AFT, Rounds: 200},
		"boosted squared error": {Rounds: 200},
		"boosted logistic":      {Objective: xgboost.Logistic, Rounds: 200},
		"forest":                forest,
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := matrix(t, data, cols)
			setTargets(t, m, cfg.Objective, waits)
			if worst := disagreement(t, train(t, cfg, m), m, data, nil); worst > 1 {
				t.Errorf("worst disagreement: %.3g of what is allowed", worst)
			}
		})
	}
}

// recordedJobs returns a row for every job of the log that waited, and its wait
// in hours, at least a second. Most numbers are integers that many jobs share;
// a user's earlier wait is missing at first.
func recordedJobs(t *testing.T) (data, waits []float32, cols int) {
	t.Helper()
	history, err := traces.Load(shared.Path(t, "traces/ls6-a100-to-2023-02.log"), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	earlier := make(map[string]float32)
	users := make(map[string]float32)
	for _, job := range history.Jobs {
		if !job.Submit.Known() || !job.Start.Known() {
			continue
		}
		wait := float32(max(job.Wait(), time.Second).Hours())
		last, met := earlier[job.User]
		if !met {
			last = nan
			users[job.User] = float32(len(users))
		}
		submit := job.Submit.Std()
		data = append(data,
			float32(job.Nodes),
			float32(job.Limit.Hours()),
			float32(submit.Hour()),
			float32(submit.Weekday()),
			users[job.User],
			last,
			float32(math.Log2(float64(job.ID.Number))))
		waits = append(waits, wait)
		earlier[job.User] = wait
	}
	cols = len(data) / max(len(waits), 1)
	if len(waits) < 10_000 {
		t.Fatalf("%d jobs of the log waited, want more than 10,000", len(waits))
	}
	return data, waits, cols
}
