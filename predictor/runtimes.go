package predictor

import (
	"time"

	"github.com/segue-project/segue"
)

// RunTimes supposes how long jobs run.
type RunTimes interface {
	// Name is stable and short: "limits".
	Name() string
	// Suppose returns a run time, from its start, for each running and then
	// each pending job of the snapshot, in out's memory. Nil means "to their
	// limits".
	Suppose(now *Present, out []time.Duration) []time.Duration
}

// Limits supposes that every job runs to its limit, as the scheduler does.
type Limits struct{}

// Name returns "limits".
func (Limits) Name() string { return "limits" }

// Suppose returns nil.
func (Limits) Suppose(*Present, []time.Duration) []time.Duration { return nil }

// LastTwo supposes the mean of the user's last two run times (Tsafrir, Etsion
// and Feitelson, 2007), and the limit for a user never seen and for a job that
// has outrun that.
type LastTwo struct{}

// Name returns "last-two".
func (LastTwo) Name() string { return "last-two" }

// Suppose implements RunTimes.
func (LastTwo) Suppose(now *Present, out []time.Duration) []time.Duration {
	return suppose(now, out, func(q *segue.QueuedJob, elapsed time.Duration) time.Duration {
		sum, n := time.Duration(0), 0
		now.History.lastRuns(q.User, func(e *Ended) bool {
			sum, n = sum+e.Run, n+1
			return n < 2
		})
		if n == 0 || sum/time.Duration(n) <= elapsed {
			return q.Limit
		}
		return sum / time.Duration(n)
	})
}

// Learned supposes the median of what is known of such a job: the user's own
// runs under a like limit, mixed with all users' where these are few, given that
// it has run as long as it has.
type Learned struct{ model runModel }

// Name returns "learned".
func (*Learned) Name() string { return "learned" }

// Suppose implements RunTimes.
func (l *Learned) Suppose(now *Present, out []time.Duration) []time.Duration {
	l.model.update(now.History, now.Snapshot.At)
	return suppose(now, out, func(q *segue.QueuedJob, elapsed time.Duration) time.Duration {
		return l.model.median(now.History, q, elapsed)
	})
}

// suppose applies one rule to every job of the snapshot. The owner's jobs run
// to their limits.
func suppose(now *Present, out []time.Duration, rule func(*segue.QueuedJob, time.Duration) time.Duration) []time.Duration {
	out = out[:0]
	snap := &now.Snapshot
	for _, list := range [2][]segue.QueuedJob{snap.Running, snap.Pending} {
		for i := range list {
			q := &list[i]
			if now.owns(q.User) {
				out = append(out, q.Limit)
				continue
			}
			out = append(out, min(rule(q, q.Elapsed(snap.At)), q.Limit))
		}
	}
	return out
}
