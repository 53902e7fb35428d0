package predictor_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

func pending(user string, limit time.Duration) segue.QueuedJob {
	return segue.QueuedJob{
		Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: limit}, User: user},
		Submit:  at(0), Eligible: at(0), Start: segue.NoTime,
	}
}

// running returns a job that has run for elapsed on the tenth day, which is now
// in these tests.
func running(user string, limit, elapsed time.Duration) segue.QueuedJob {
	q := pending(user, limit)
	q.Start = tenthDay.Add(-elapsed)
	return q
}

var tenthDay = at(10 * day)

// past is a job that has ended some days ago.
type past struct {
	user       string
	run, limit time.Duration
}

// times returns the past repeated n times.
func times(n int, p past) []past {
	var list []past
	for range n {
		list = append(list, p)
	}
	return list
}

func TestSupposedRunTimes(t *testing.T) {
	t.Parallel()
	lastTwo, learned := predictor.LastTwo{}, &predictor.Learned{}
	tests := map[string]struct {
		rule predictor.RunTimes
		past []past
		job  segue.QueuedJob
		want time.Duration
	}{
		"last two: a user never seen": {
			rule: lastTwo, job: pending("ada", 9*hour), want: 9 * hour,
			past: []past{{"ben", hour, 9 * hour}},
		},
		"last two: one run": {
			rule: lastTwo, job: pending("ada", 9*hour), want: 2 * hour,
			past: []past{{"ada", 2 * hour, 9 * hour}},
		},
		"last two: the mean of the last two, whatever their limits": {
			rule: lastTwo, job: pending("ada", 9*hour), want: 3 * hour,
			past: []past{{"ada", 9 * hour, 9 * hour}, {"ada", 2 * hour, 48 * hour}, {"ben", hour, hour}, {"ada", 4 * hour, 5 * hour}},
		},
		"last two: never more than the limit": {
			rule: lastTwo, job: pending("ada", hour), want: hour,
			past: []past{{"ada", 5 * hour, 9 * hour}},
		},
		"last two: it has not run for so long yet": {
			rule: lastTwo, job: running("ada", 9*hour, 2*hour), want: 3 * hour,
			past: []past{{"ada", 3 * hour, 9 * hour}},
		},
		"last two: it has outrun that": {
			rule: lastTwo, job: running("ada", 9*hour, 3*hour), want: 9 * hour,
			past: []past{{"ada", 3 * hour, 9 * hour}},
		},

		"learned: nothing seen": {
			rule: learned, job: pending("ada", 9*hour), want: 9 * hour,
		},
		"learned: all users' share of the limit": {
			rule: learned, job: pending("ada", 10*hour), want: 5 * hour,
			past: times(9, past{"ben", 4 * hour, 8 * hour}),
		},
		"learned: other limits are another matter": {
			rule: learned, job: pending("ada", 40*hour), want: 40 * hour,
			past: times(9, past{"ben", 4 * hour, 8 * hour}),
		},
		"learned: mostly one's own runs where there are many": {
			rule: learned, job: pending("ada", 10*hour), want: 2 * hour,
			past: append(times(50, past{"ben", 10 * hour, 10 * hour}), times(9, past{"ada", 2 * hour, 9 * hour})...),
		},
		"learned: own runs under a like limit only": {
			rule: learned, job: pending("ada", 10*hour), want: 10 * hour,
			past: append(times(50, past{"ben", 10 * hour, 10 * hour}), times(9, past{"ada", 2 * hour, 40 * hour})...),
		},
		"learned: given that it has run for longer than most": {
			rule: learned, job: running("ada", 10*hour, 3*hour), want: 6 * hour,
			past: append(times(9, past{"ada", 2 * hour, 10 * hour}), times(3, past{"ada", 6 * hour, 10 * hour})...),
		},
		"learned: it has outrun all that was seen": {
			rule: learned, job: running("ada", 10*hour, 7*hour), want: 10 * hour,
			past: append(times(9, past{"ada", 2 * hour, 10 * hour}), times(3, past{"ben", 6 * hour, 10 * hour})...),
		},
		"learned: own runs without a limit": {
			rule: learned, job: pending("ada", segue.Unlimited), want: 30 * hour,
			past: append(times(3, past{"ben", 2 * hour, 40 * hour}), times(16, past{"ada", 30 * hour, segue.Unlimited})...),
		},
		"learned: runs without a limit say little of those with one": {
			rule: learned, job: pending("ada", 10*hour), want: 10 * hour,
			past: times(16, past{"ada", 3 * hour, segue.Unlimited}),
		},

		"the asker's jobs run to their limits, for last two": {
			rule: lastTwo, job: pending("asker", 9*hour), want: 9 * hour,
			past: times(3, past{"asker", 2 * hour, 9 * hour}),
		},
		"the asker's jobs run to their limits, as learned": {
			rule: learned, job: pending("asker", 9*hour), want: 9 * hour,
			past: times(3, past{"asker", 2 * hour, 9 * hour}),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &predictor.History{}
			for i, p := range tt.past {
				seen(h, p.user, p.run, p.limit, at(5*day+time.Duration(i)*minute))
			}
			now := predictor.Present{Snapshot: segue.Snapshot{At: tenthDay}, History: h, Owner: "asker"}
			if tt.job.Start.Known() {
				now.Snapshot.Running = []segue.QueuedJob{tt.job}
			} else {
				now.Snapshot.Pending = []segue.QueuedJob{tt.job}
			}
			if diff := cmp.Diff([]time.Duration{tt.want}, newOf(tt.rule).Suppose(&now, nil)); diff != "" {
				t.Errorf("run time differs (-want +got):\n%s", diff)
			}
		})
	}
}

// newOf returns a rule of the same kind without a memory.
func newOf(rule predictor.RunTimes) predictor.RunTimes {
	if _, ok := rule.(*predictor.Learned); ok {
		return &predictor.Learned{}
	}
	return rule
}

func TestLimitsSupposeNothing(t *testing.T) {
	t.Parallel()
	now := predictor.Present{Snapshot: segue.Snapshot{Pending: []segue.QueuedJob{pending("ada", hour)}}}
	if got := (predictor.Limits{}).Suppose(&now, nil); got != nil {
		t.Errorf("supposes %v, want nothing: to their limits", got)
	}
}
