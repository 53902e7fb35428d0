package predictor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// History is what was seen of a cluster so far: which jobs started after which
// wait, and which ended after which run time. The zero History is empty and
// ready.
type History struct {
	users    map[string]int32
	names    []string // of users, by index
	latest   []int32  // per user, index of the last ended job plus one
	starts   log[Started]
	ends     log[Ended]
	bySubmit []int32 // indices of ends, by submission
}

// Started is a job that was seen to start.
type Started struct {
	At    segue.Time
	Wait  time.Duration // since it became eligible, where that is known
	Limit time.Duration
	Nodes int32
	User  int32
}

// Ended is a job that was seen to end.
type Ended struct {
	Submit segue.Time
	End    segue.Time
	Run    time.Duration
	Limit  time.Duration
	Nodes  int32
	User   int32
	before int32 // the same user's job that ended before it, plus one
}

// Start records that the job q started at the instant at.
func (h *History) Start(q *segue.QueuedJob, at segue.Time) {
	from := q.Submit
	if q.Eligible.Known() {
		from = q.Eligible
	}
	h.starts.add(Started{At: at, Wait: at.Sub(from), Limit: q.Limit, Nodes: int32(q.Nodes), User: h.user(q.User)})
}

// End records that the job q, started at start, ended at the instant at.
func (h *History) End(q *segue.QueuedJob, start, at segue.Time) {
	u := h.user(q.User)
	h.ends.add(Ended{
		Submit: q.Submit, End: at, Run: at.Sub(start), Limit: q.Limit, Nodes: int32(q.Nodes), User: u,
		before: h.latest[u],
	})
	h.latest[u] = int32(h.ends.len())
	h.insertBySubmit(int32(h.ends.len() - 1))
}

// insertBySubmit puts an ended job in its place by submission, which is near
// the end: few jobs outlast many later ones.
func (h *History) insertBySubmit(job int32) {
	submit := h.ends.at(int(job)).Submit
	i := len(h.bySubmit)
	h.bySubmit = append(h.bySubmit, job)
	for ; i > 0 && h.ends.at(int(h.bySubmit[i-1])).Submit > submit; i-- {
		h.bySubmit[i] = h.bySubmit[i-1]
	}
	h.bySubmit[i] = job
}

// submittedFrom returns the ended jobs that were submitted from the instant
// from on, in order of their submissions.
func (h *History) submittedFrom(from segue.Time) []int32 {
	i, _ := slices.BinarySearchFunc(h.bySubmit, from, func(job int32, t segue.Time) int {
		return cmp.Compare(h.ends.at(int(job)).Submit, t)
	})
	return h.bySubmit[i:]
}

// user returns the index of a user, a new one if need be.
func (h *History) user(name string) int32 {
	if u, ok := h.users[name]; ok {
		return u
	}
	if h.users == nil {
		h.users = map[string]int32{}
	}
	u := int32(len(h.users))
	h.users[name] = u
	h.names, h.latest = append(h.names, name), append(h.latest, 0)
	return u
}

// Fork returns a history that goes on from here on its own. The two share what
// is recorded so far, which nobody writes again, so that forks may be used by
// other goroutines.
func (h *History) Fork() *History {
	f := &History{users: maps.Clone(h.users), names: slices.Clip(h.names), latest: slices.Clone(h.latest), bySubmit: slices.Clone(h.bySubmit)}
	f.starts, f.ends = h.starts.fork(), h.ends.fork()
	return f
}

// EndedJobs returns the number of jobs seen to end.
func (h *History) EndedJobs() int { return h.ends.len() }

// lastRuns calls visit with the user's ended jobs, the latest first, until it
// returns false.
func (h *History) lastRuns(user string, visit func(*Ended) bool) {
	u, ok := h.users[user]
	if !ok {
		return
	}
	for i := h.latest[u]; i > 0; {
		e := h.ends.at(int(i - 1))
		if !visit(e) {
			return
		}
		i = e.before
	}
}

// log is an append-only list whose forks share what is there already.
type log[T any] struct {
	shared []T // never written
	own    []T
}

func (l *log[T]) add(v T) { l.own = append(l.own, v) }

func (l *log[T]) len() int { return len(l.shared) + len(l.own) }

func (l *log[T]) at(i int) *T {
	if i < len(l.shared) {
		return &l.shared[i]
	}
	return &l.own[i-len(l.shared)]
}

// fork shares everything recorded so far. A fork of a fork joins the two parts
// first, so that they stay two.
func (l *log[T]) fork() log[T] {
	if len(l.shared) == 0 {
		return log[T]{shared: slices.Clip(l.own)}
	}
	joined := make([]T, 0, l.len())
	joined = append(append(joined, l.shared...), l.own...)
	return log[T]{shared: joined}
}
