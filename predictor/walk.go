package predictor

import (
	"cmp"
	"slices"
	"sort"

	"github.com/segue-project/segue"
)

// Walk goes through a recorded history, instant by instant, and shows at each
// what RecordedAt shows, in the time that what happened since the last one takes:
// a hundred thousand instants of a history in seconds.
type Walk struct {
	jobs    []segue.Job
	nodes   int
	events  []event // in order
	next    int
	at      segue.Time
	history *History
	running []entry // by place in the history
	pending []entry // by submission, then by place
}

// event is something that happened to a job.
type event struct {
	at   segue.Time
	kind eventKind
	job  int
}

type eventKind uint8

const (
	submitted eventKind = iota
	becameEligible
	started
	ended
)

// entry is a job that waits or runs.
type entry struct {
	job   int
	shown segue.QueuedJob
}

// NewWalk returns a walk through the jobs, on a cluster with nodes in service.
// Jobs without a submission never show. Instants that contradict each other
// (package traces leaves none) are an error of kind Invalid.
func NewWalk(jobs []segue.Job, nodes int) (*Walk, error) {
	w := &Walk{jobs: jobs, nodes: nodes, at: segue.NoTime, history: &History{}}
	for i := range jobs {
		j := &jobs[i]
		if !j.Submit.Known() {
			continue
		}
		if err := ordered(j); err != nil {
			return nil, segue.Errorf(segue.Invalid, "walk through a history: job %s, number %d of it: %w", j.ID, i+1, err)
		}
		w.events = append(w.events, event{j.Submit, submitted, i})
		if j.Eligible.Known() && !(j.End.Known() && !j.Start.Known() && j.End < j.Eligible) {
			w.events = append(w.events, event{j.Eligible, becameEligible, i})
		}
		if j.Start.Known() {
			w.events = append(w.events, event{j.Start, started, i})
		}
		if j.End.Known() {
			w.events = append(w.events, event{j.End, ended, i})
		}
	}
	slices.SortFunc(w.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.job, b.job))
	})
	return w, nil
}

// ordered refuses a job whose instants contradict each other.
func ordered(j *segue.Job) error {
	last := j.Submit
	for _, t := range [...]struct {
		name string
		at   segue.Time
	}{{"eligible", j.Eligible}, {"start", j.Start}, {"end", j.End}} {
		switch {
		case !t.at.Known() || (t.name == "eligible" && !j.Start.Known() && t.at >= last):
			continue // a job may be cancelled before it becomes eligible
		case t.at < last:
			return segue.Errorf(segue.Invalid, "its %s, %s, is before %s", t.name, t.at, last)
		}
		last = t.at
	}
	return nil
}

// To goes on to the instant at, which must not be before the last one, and
// shows what could be seen there, as RecordedAt does: it sets the snapshot, whose
// memory it uses again, and returns the history, which goes on with the walk.
func (w *Walk) To(at segue.Time, shown *segue.Snapshot) *History {
	if at < w.at {
		panic("predictor: a walk through a history goes back in time")
	}
	w.at = at
	for ; w.next < len(w.events) && w.events[w.next].at < at; w.next++ {
		w.happen(w.events[w.next])
	}
	*shown = segue.Snapshot{At: at, Nodes: w.nodes, Running: list(shown.Running, w.running), Pending: list(shown.Pending, w.pending)}
	return w.history
}

func list(out []segue.QueuedJob, entries []entry) []segue.QueuedJob {
	out = out[:0]
	for i := range entries {
		out = append(out, entries[i].shown)
	}
	return out
}

func (w *Walk) happen(e event) {
	j := &w.jobs[e.job]
	switch e.kind {
	case submitted:
		q := shown(j)
		q.Start = segue.NoTime
		if j.Eligible.Known() {
			q.Eligible = segue.NoTime // until that has happened too
		}
		w.pending = slices.Insert(w.pending, w.queuePlace(e.job), entry{e.job, q})
	case becameEligible:
		w.pending[w.queuePlace(e.job)].shown.Eligible = j.Eligible
	case started:
		w.leaveQueue(e.job)
		q := shown(j)
		w.history.Start(&q, j.Start)
		w.running = slices.Insert(w.running, w.runningPlace(e.job), entry{e.job, q})
	case ended:
		if !j.Start.Known() {
			w.leaveQueue(e.job)
			return
		}
		k := w.runningPlace(e.job)
		w.history.End(&w.running[k].shown, j.Start, j.End)
		w.running = slices.Delete(w.running, k, k+1)
	}
}

func (w *Walk) leaveQueue(job int) {
	k := w.queuePlace(job)
	w.pending = slices.Delete(w.pending, k, k+1)
}

// queuePlace returns where in the queue a job is, or belongs.
func (w *Walk) queuePlace(job int) int {
	submit := w.jobs[job].Submit
	return sort.Search(len(w.pending), func(k int) bool {
		other := w.pending[k].job
		return cmp.Or(cmp.Compare(w.jobs[other].Submit, submit), cmp.Compare(other, job)) >= 0
	})
}

func (w *Walk) runningPlace(job int) int {
	return sort.Search(len(w.running), func(k int) bool { return w.running[k].job >= job })
}
