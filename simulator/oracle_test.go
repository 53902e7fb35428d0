package simulator_test

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// oracle is a simulator of one pool of whole nodes that is too simple to be
// wrong: it looks at every tick and counts everything anew. Times are whole
// ticks. It is the peer of the tests and of the benchmark.
type oracle struct {
	nodes    int64
	cleanUp  int64
	backfill simulator.Backfill
	slurm    oracleSlurm
	jobs     []oracleJob
	now      int64
	queue    []int // waiting jobs by submission
	changed  bool  // a job has come or ended in this tick
}

// oracleSlurm holds SlurmParameters in ticks.
type oracleSlurm struct {
	cycle, interval, window, res int64
	tests, userTests, depth      int
	outward                      bool
}

type oracleJob struct {
	submit, run, limit, nodes int64
	start, end                int64 // unknown while negative
	planned                   int64 // start of a reservation
	user                      int32
}

const unknown = int64(-1)

func newOracle(cfg simulator.Config, jobs []simulator.Job, tick time.Duration) *oracle {
	o := &oracle{nodes: int64(cfg.Pools[0].Nodes), cleanUp: int64(cfg.CleanUp / tick), backfill: cfg.Backfill}
	for i := range jobs {
		j := &jobs[i]
		o.jobs = append(o.jobs, oracleJob{
			submit: int64(j.Submit.Sub(0) / tick), run: int64(min(j.Run, j.Limit) / tick), limit: int64(j.Limit / tick),
			nodes: int64(j.Nodes), start: unknown, end: unknown, user: j.User,
		})
	}
	p := cfg.Slurm
	o.slurm = oracleSlurm{
		int64(p.CycleInterval / tick), int64(p.BackfillInterval / tick), int64(p.Window / tick), int64(p.Resolution / tick), p.MaxJobTest, p.MaxJobUser, p.QueueDepth,
		p.RoundOutward,
	}
	return o
}

// starts lets every tick pass until all jobs have ended and returns the starts.
func (o *oracle) starts() []int64 {
	for o.now = 0; !o.over(); o.now++ {
		for again := true; again; { // jobs without run time end in the tick in which they start
			o.finish()
			o.arrive()
			again = o.schedule()
		}
	}
	starts := make([]int64, len(o.jobs))
	for i := range o.jobs {
		starts[i] = o.jobs[i].start
	}
	return starts
}

func (o *oracle) over() bool {
	return !slices.ContainsFunc(o.jobs, func(j oracleJob) bool { return j.end == unknown })
}

func (o *oracle) finish() {
	for i := range o.jobs {
		j := &o.jobs[i]
		o.changed = o.changed || (j.end != unknown && j.end+o.cleanUp == o.now)
		if j.start == unknown || j.end != unknown || j.start+j.run != o.now {
			continue
		}
		j.end = o.now
		o.changed = true
		if o.backfill == simulator.Conservative && j.run < j.limit {
			for _, w := range o.queue {
				o.jobs[w].planned = o.earliest(w)
			}
		}
	}
}

func (o *oracle) arrive() {
	for i := range o.jobs {
		j := &o.jobs[i]
		if j.submit == o.now && j.start == unknown && !slices.Contains(o.queue, i) {
			o.queue = append(o.queue, i)
			o.changed = true
			if o.backfill == simulator.Conservative {
				j.planned = o.earliest(i)
			}
		}
	}
}

// schedule starts what may start and reports whether one of them has no run
// time, so that there is more to do in this tick.
func (o *oracle) schedule() (again bool) {
	if o.backfill == simulator.SlurmBackfill {
		return o.scheduleSlurm()
	}
	for k := 0; k < len(o.queue); k++ {
		i := o.queue[k]
		if !o.mayStart(i) {
			continue
		}
		again = o.start(k) || again
		k = -1 // from the head again: it changes what is free and reserved
	}
	return again
}

// start starts the kth waiting job and reports whether it has no run time.
func (o *oracle) start(k int) bool {
	j := &o.jobs[o.queue[k]]
	j.start = o.now
	o.queue = slices.Delete(o.queue, k, k+1)
	return j.run == 0
}

func (o *oracle) mayStart(i int) bool {
	j, head := &o.jobs[i], o.queue[0]
	switch {
	case o.backfill == simulator.Conservative:
		return j.planned == o.now
	case j.nodes > o.free(o.now):
		return false
	case i == head:
		return true
	case o.backfill == simulator.NoBackfill:
		return false
	}
	return o.shadow(head) == o.shadowWith(head, i)
}

// free returns the idle nodes at the instant t if every job runs to its limit
// and nothing else starts.
func (o *oracle) free(t int64) int64 {
	free := o.nodes
	for i := range o.jobs {
		j := &o.jobs[i]
		if j.start != unknown && t < o.idle(j) {
			free -= j.nodes
		}
	}
	return free
}

// idle returns when the nodes of a job that has started can be used again, as far
// as is known now.
func (o *oracle) idle(j *oracleJob) int64 {
	if j.end == unknown {
		return j.start + j.limit
	}
	return j.end + o.cleanUp
}

// shadow returns when the head of the queue can start at the latest.
func (o *oracle) shadow(head int) int64 {
	t := o.now
	for o.free(t) < o.jobs[head].nodes {
		t++
	}
	return t
}

// shadowWith returns the same if job i starts now.
func (o *oracle) shadowWith(head, i int) int64 {
	o.jobs[i].start = o.now
	t := o.shadow(head)
	o.jobs[i].start = unknown
	return t
}

// earliest returns the first instant from which job i fits for its limit beside
// everything that runs or holds a reservation.
func (o *oracle) earliest(i int) int64 {
	for t := o.now; ; t++ {
		fits := true
		for u := t; u < t+o.jobs[i].limit && fits; u++ {
			fits = o.unreserved(u, i) >= o.jobs[i].nodes
		}
		if fits {
			return t
		}
	}
}

func (o *oracle) unreserved(t int64, but int) int64 {
	free := o.free(t)
	for _, w := range o.queue {
		j := &o.jobs[w]
		if w != but && j.planned <= t && t < j.planned+j.limit {
			free -= j.nodes
		}
	}
	return free
}

// ticks returns starts as ticks of the same length.
func ticks(starts []segue.Time, tick time.Duration) []int64 {
	out := make([]int64, len(starts))
	for i, s := range starts {
		out[i] = unknown
		if s.Known() {
			out[i] = int64(s.Sub(0) / tick)
		}
	}
	return out
}
