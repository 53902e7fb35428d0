package predictor_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// seen records on h that a job of the user with that run time and limit ended
// at the instant end, and had started without a wait.
func seen(h *predictor.History, user string, run, limit time.Duration, end segue.Time) {
	start := end.Add(-run)
	q := segue.QueuedJob{
		Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: limit}, User: user},
		Submit:  start, Eligible: segue.NoTime, Start: start,
	}
	h.Start(&q, start)
	h.End(&q, start, end)
}

// waited records that a job that asked for req started at the instant start
// after the wait.
func waited(h *predictor.History, req segue.Request, wait time.Duration, start segue.Time) {
	h.Start(&segue.QueuedJob{Request: req, Submit: start.Add(-wait), Eligible: segue.NoTime}, start)
}

// lastTwo returns what the history says of a user's next run.
func lastTwo(h *predictor.History, user string) time.Duration {
	now := predictor.Present{
		Snapshot: segue.Snapshot{Pending: []segue.QueuedJob{pending(user, 40*hour)}}, History: h,
	}
	return predictor.LastTwo{}.Suppose(&now, nil)[0]
}

// A history and its forks go on alone: what one records no other sees.
func TestForksOfAHistoryGoOnAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type line struct {
			history *predictor.History
			runs    map[string][]time.Duration // what it should know
		}
		lines := []*line{{&predictor.History{}, map[string][]time.Duration{}}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			l := rapid.SampledFrom(lines).Draw(t, "line")
			if rapid.IntRange(0, 4).Draw(t, "what") == 0 && len(lines) < 6 {
				runs := map[string][]time.Duration{}
				for user, list := range l.runs {
					runs[user] = slices.Clone(list)
				}
				lines = append(lines, &line{l.history.Fork(), runs})
				continue
			}
			user := rapid.SampledFrom(userNames).Draw(t, "user")
			run := time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * hour
			seen(l.history, user, run, 40*hour, 0)
			l.runs[user] = append(l.runs[user], run)
		}
		for _, l := range lines {
			n := 0
			for _, user := range userNames {
				runs := l.runs[user]
				n += len(runs)
				want := 40 * hour
				switch k := len(runs); {
				case k == 1:
					want = runs[0]
				case k > 1:
					want = (runs[k-1] + runs[k-2]) / 2
				}
				if got := lastTwo(l.history, user); got != want {
					t.Fatalf("%s's last runs of %v come to %s, want %s", user, runs, got, want)
				}
			}
			if got := l.history.EndedJobs(); got != n {
				t.Fatalf("%d ended jobs, want %d", got, n)
			}
		}
	})
}

func TestRecent(t *testing.T) {
	t.Parallel()
	of := func(user string, nodes int, limit time.Duration) segue.Request {
		return segue.Request{Shape: segue.Shape{Nodes: nodes, Limit: limit}, User: user}
	}
	tests := map[string]struct {
		forecaster *predictor.Recent
		req        segue.Request
		seen       []segue.Request // started one after the other, after waits of 1, 2, 3... hours
		wantHours  []int
	}{
		"nothing seen": {
			forecaster: predictor.NewRecent(3), req: of("ada", 1, hour),
		},
		"the last of all": {
			forecaster: predictor.NewRecent(3), req: of("ada", 1, hour),
			seen:      []segue.Request{of("ada", 1, hour), of("ben", 9, day), of("ben", 9, day), of("cleo", 1, hour)},
			wantHours: []int{2, 3, 4},
		},
		"the last of the same shape": {
			forecaster: predictor.NewRecentShape(2), req: of("ada", 2, 10*hour),
			seen: []segue.Request{
				of("ben", 2, 10*hour), of("ben", 2, 20*hour), of("ben", 2, 5*hour),
				of("ben", 2, 20*hour+1), of("ben", 2, 5*hour-1), of("ben", 1, 10*hour), of("ben", 3, 10*hour),
			},
			wantHours: []int{2, 3},
		},
		"one's own first, up to half": {
			forecaster: predictor.NewRecentShape(4), req: of("ada", 1, hour),
			seen: []segue.Request{
				of("ada", 1, hour), of("ada", 1, hour), of("ada", 1, hour),
				of("ben", 1, hour), of("ben", 1, hour), of("ben", 1, hour),
			},
			wantHours: []int{2, 3, 5, 6},
		},
		"no job counts twice": {
			forecaster: predictor.NewRecentShape(10), req: of("ada", 1, hour),
			seen:      []segue.Request{of("ada", 1, hour), of("ben", 1, hour), of("ada", 1, hour)},
			wantHours: []int{1, 2, 3},
		},
		"half of them own, and more own after the others": {
			forecaster: predictor.NewRecentShape(2), req: of("ada", 1, hour),
			seen:      []segue.Request{of("ada", 1, hour), of("ada", 1, hour)},
			wantHours: []int{1, 2},
		},
		"without a limit": {
			forecaster: predictor.NewRecentShape(4), req: of("ada", 1, segue.Unlimited),
			seen:      []segue.Request{of("ben", 1, segue.Unlimited), of("ben", 1, hour), of("ben", 1, segue.Unlimited)},
			wantHours: []int{1, 3},
		},
		"others without a limit": {
			forecaster: predictor.NewRecentShape(4), req: of("ada", 1, hour),
			seen:      []segue.Request{of("ben", 1, segue.Unlimited), of("ben", 1, hour)},
			wantHours: []int{2},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &predictor.History{}
			for i, req := range tt.seen {
				waited(h, req, time.Duration(i+1)*hour, at(time.Duration(i)*minute))
			}
			got := forecastOf(t, tt.forecaster, predictor.Present{Snapshot: segue.Snapshot{At: 5}, History: h}, tt.req)
			want := segue.Forecast{At: 5, Source: tt.forecaster.Name(), Waits: []time.Duration{}}
			for _, n := range tt.wantHours {
				want.Waits = append(want.Waits, time.Duration(n)*hour)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("forecast differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWaitIsSinceTheJobBecameEligible(t *testing.T) {
	t.Parallel()
	h := &predictor.History{}
	h.Start(&segue.QueuedJob{Request: request(1), Submit: at(0), Eligible: at(3 * hour)}, at(5*hour))
	got := forecastOf(t, predictor.NewRecent(1), predictor.Present{History: h}, request(1))
	if diff := cmp.Diff([]time.Duration{2 * hour}, got.Waits); diff != "" {
		t.Errorf("waits differ (-want +got):\n%s", diff)
	}
}
