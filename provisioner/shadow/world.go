package shadow

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// World is the history as a replay has it: the cluster with all that the history
// gives away about it, and one job of the simulator for every job of the history.
// trainer.Replays makes one.
type World struct {
	Cluster simulator.Config // of one pool
	Jobs    []simulator.Job
}

// world answers when a job would have started that was submitted at some moment
// of the history. Moments ascend.
type world struct {
	World
	history  []segue.Job
	eligible []segue.Time
	forward  *simulator.Forward

	bySubmit, byEligible []int
	next                 int   // of bySubmit
	alive                []int // submitted, and not gone yet
}

func newWorld(w World, history []segue.Job, eligible []segue.Time) (*world, error) {
	if len(w.Jobs) != len(history) {
		return nil, segue.Errorf(segue.Invalid, "a world of %d jobs for a history of %d", len(w.Jobs), len(history))
	}
	forward, err := simulator.NewForward(w.Cluster)
	if err != nil {
		return nil, err
	}
	return &world{
		World: w, history: history, eligible: eligible, forward: forward,
		bySubmit:   ordered(history, func(i int) segue.Time { return history[i].Submit }),
		byEligible: ordered(history, func(i int) segue.Time { return eligible[i] }),
	}, nil
}

func ordered(history []segue.Job, at func(i int) segue.Time) []int {
	order := make([]int, len(history))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(at(a), at(b)) })
	return order
}

// eligibility returns when each job could first have started, as far as the
// history and the world say: at its submission, or once its recorded eligible time
// has come, the jobs have ended that it depends on, and nothing else holds it.
// What a limit on the user held is left to the world.
func eligibility(w World, history []segue.Job) []segue.Time {
	eligible := make([]segue.Time, len(history))
	for i := range history {
		j := &history[i]
		eligible[i] = j.Submit
		if i >= len(w.Jobs) {
			continue
		}
		held := []segue.Time{j.Eligible, w.Jobs[i].Begin}
		for _, d := range w.Jobs[i].After {
			held = append(held, history[d.Job].End)
		}
		for _, at := range held {
			if at.Known() && (!j.Start.Known() || at <= j.Start) {
				eligible[i] = max(eligible[i], at)
			}
		}
	}
	return eligible
}

// to goes on to an instant.
func (w *world) to(at segue.Time) {
	for ; w.next < len(w.bySubmit) && w.history[w.bySubmit[w.next]].Submit < at; w.next++ {
		w.alive = append(w.alive, w.bySubmit[w.next])
	}
	w.alive = slices.DeleteFunc(w.alive, func(i int) bool {
		end := w.history[i].End
		return end.Known() && end < at
	})
}

// longest is the longest wait that a world is followed for.
const longest = 64 * 24 * time.Hour

// start returns when the successor s would have started if it had been submitted
// at the instant at: in the cluster as it was recorded then, without the jobs that
// are absent when the work is continued by it.
func (w *world) start(at segue.Time, s int, absent absent) (segue.Time, error) {
	w.to(at)
	snap, runs, released := w.state(at, s, absent)
	if err := w.forward.Load(&snap); err != nil {
		return segue.NoTime, err
	}
	var wait [1]time.Duration
	for horizon := 24 * time.Hour; ; horizon = min(4*horizon, longest) {
		future := simulator.Future{Runs: runs, Arrivals: w.arrivals(at, at.Add(horizon), s, absent, released), Horizon: horizon}
		if err := w.forward.Waits(w.request(s), future, []time.Duration{0}, wait[:]); err != nil {
			return segue.NoTime, err
		}
		if wait[0] < horizon || horizon == longest {
			return at.Add(wait[0]), nil
		}
	}
}

// state returns what ran and waited at the instant, and for how long each of that
// runs. Jobs that were submitted and could not have started yet are released later.
func (w *world) state(at segue.Time, s int, absent absent) (snap segue.Snapshot, runs []time.Duration, released []int) {
	snap = segue.Snapshot{At: at, Nodes: w.nodesAt(at)}
	var waiting []time.Duration
	for _, i := range w.alive {
		j := &w.history[i]
		switch {
		case absent[j.ID], j.End == at: // what ends now makes room for what is submitted now
		case j.Start.Known() && j.Start < at:
			q := w.show(i, s)
			q.Start = j.Start
			snap.Running, runs = append(snap.Running, q), append(runs, w.run(i))
		case w.eligible[i] >= at:
			released = append(released, i)
		default:
			q := w.show(i, s)
			snap.Pending, waiting = append(snap.Pending, q), append(waiting, w.run(i))
		}
	}
	return snap, append(runs, waiting...), released
}

// run returns how long a job runs: what it ran, or its limit where the history
// does not say how it went on.
func (w *world) run(i int) time.Duration {
	if !w.history[i].End.Known() {
		return w.Jobs[i].Limit
	}
	return w.Jobs[i].Run
}

// arrivals returns the jobs that come between two instants, with their recorded
// run times.
func (w *world) arrivals(from, until segue.Time, s int, absent absent, released []int) []simulator.Job {
	var list []simulator.Job
	add := func(i int) {
		j := w.Jobs[i]
		j.Submit, j.User, j.Run = w.eligible[i], w.forward.User(w.history[i].User), w.run(i)
		j.Nice = int32(-w.before(i, s))
		j.Nodes = min(j.Nodes, int32(max(w.nodesAt(from), 1)))
		j.After, j.Begin = nil, 0
		list = append(list, j)
	}
	for _, i := range released {
		if w.eligible[i] < until {
			add(i)
		}
	}
	first, _ := slices.BinarySearchFunc(w.byEligible, from, func(i int, t segue.Time) int { return cmp.Compare(w.eligible[i], t) })
	for _, i := range w.byEligible[first:] {
		if w.eligible[i] >= until {
			break
		}
		if w.history[i].Submit >= from && !absent[w.history[i].ID] {
			add(i)
		}
	}
	return list
}

// show returns a job as the scheduler sees it beside the successor s.
func (w *world) show(i, s int) segue.QueuedJob {
	return segue.QueuedJob{
		ID: w.history[i].ID, Request: w.request(i), Submit: w.history[i].Submit, Eligible: w.eligible[i], Start: segue.NoTime,
		Priority: w.before(i, s),
	}
}

// before returns how far a job goes before the successor s for other reasons than
// its age.
func (w *world) before(i, s int) int64 {
	return min(max(int64(w.Jobs[s].Nice)-int64(w.Jobs[i].Nice), -math.MaxInt32), math.MaxInt32)
}

func (w *world) request(i int) segue.Request {
	j, r := &w.Jobs[i], &w.history[i]
	request := segue.Request{
		Shape: segue.Shape{Nodes: int(j.Nodes), GPUsPerNode: int(j.GPUsPerNode), Limit: j.Limit},
		User:  r.User, Account: r.Account, Partition: r.Partition,
	}
	if int(j.QOS) < len(w.Cluster.QOS) {
		request.QOS = w.Cluster.QOS[j.QOS].Name
	}
	return request
}

// nodesAt returns the nodes in service.
func (w *world) nodesAt(at segue.Time) int {
	nodes := w.Cluster.Pools[0].Nodes
	for _, o := range w.Cluster.Outages {
		if o.From <= at && at < o.Until {
			nodes -= o.Nodes
		}
	}
	return max(nodes, 1)
}
