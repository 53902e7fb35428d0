package predictor_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// Ada's jobs 1 to 3 ran one after the other, each submitted at one o'clock; the
// fourth runs for one of its four hours, the fifth waits.
func TestDescriptionOfOnesOwnDoings(t *testing.T) {
	t.Parallel()
	jobs := []segue.Job{
		record(1, 1, 2, 4), record(2, 1, 4, 6), record(3, 1, 6, 8), record(4, 1, 8, 13), record(5, 5, 14, 15),
		record(6, 5, 6, 13),
	}
	jobs[5].User, jobs[4].Limit = "ben", 6*hour
	now := predictor.RecordedAt(jobs, segue.Seconds(9*3600), 10)
	describe := func(user string, limit time.Duration) map[string]float32 {
		var d predictor.Describer
		values := d.DescribeOwn(&now, segue.Request{Shape: segue.Shape{Nodes: 2, Limit: limit}, User: user}, nil)
		named := map[string]float32{}
		for i, name := range predictor.OwnNames() {
			named[name] = values[i]
		}
		return named
	}
	nan := float32(math.NaN())
	tests := map[string]struct {
		user  string
		limit time.Duration
		want  map[string]float32
	}{
		"a user with a chain": {"ada", 4 * hour, map[string]float32{
			"own.alike_running": 1, "own.alike_pending": 0, "own.just_submitted": 0, "own.pending_work": 1.2,
			"own.pending_oldest": 4, "own.pending_youngest": 4, "own.running_left_min": 3, "own.running_left_max": 3,
			"own.wait_last": 7, "own.wait_alike": 7, "own.wait_longest": 7, "own.since_start": 1, "own.follows": 0.75, "own.run_last": 2,
		}},
		"of another shape": {"ada", 6 * hour, map[string]float32{
			"own.alike_running": 0, "own.alike_pending": 1, "own.just_submitted": 0, "own.pending_work": 1.2,
			"own.pending_oldest": 4, "own.pending_youngest": 4, "own.running_left_min": 3, "own.running_left_max": 3,
			"own.wait_last": 7, "own.wait_alike": nan, "own.wait_longest": 7, "own.since_start": 1, "own.follows": 0.75, "own.run_last": 2,
		}},
		"a user never seen": {"cleo", 4 * hour, map[string]float32{
			"own.alike_running": 0, "own.alike_pending": 0, "own.just_submitted": 0, "own.pending_work": 0,
			"own.pending_oldest": nan, "own.pending_youngest": nan, "own.running_left_min": nan, "own.running_left_max": nan,
			"own.wait_last": nan, "own.wait_alike": nan, "own.wait_longest": nan, "own.since_start": nan, "own.follows": nan, "own.run_last": nan,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, describe(tt.user, tt.limit), cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Errorf("numbers differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecentWaitsOfOnesOwn(t *testing.T) {
	t.Parallel()
	var jobs []segue.Job
	for i := range 8 {
		j := record(int64(i), 1, 2+i, 11)
		if i < 2 {
			j.User = "ben"
		}
		jobs = append(jobs, j)
	}
	now := predictor.RecordedAt(jobs, segue.Seconds(12*3600), 10)
	tests := map[string]struct {
		user string
		want []time.Duration
	}{
		"six of one's own":                  {"ada", []time.Duration{3 * hour, 4 * hour, 5 * hour, 6 * hour, 7 * hour, 8 * hour}},
		"two are too few: those of all":     {"ben", []time.Duration{1 * hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 7 * hour, 8 * hour}},
		"a user never seen: those of all":   {"cleo", []time.Duration{1 * hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 7 * hour, 8 * hour}},
		"a request of nobody: those of all": {"", []time.Duration{1 * hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour, 6 * hour, 7 * hour, 8 * hour}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := predictor.NewRecentUser(100).Forecast(&now, segue.Request{User: tt.user})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, f.Waits); diff != "" || f.Source != "recent-user" {
				t.Errorf("%s's waits differ (-want +got):\n%s", f.Source, diff)
			}
		})
	}
}
