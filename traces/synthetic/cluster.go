package synthetic

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

// record is one job on its way through the cluster.
type record struct {
	job      segue.Job
	user     *user
	script   script
	outcome  outcome
	waiters  []*record // start after this one has ended
	shared   *sharedNode
	started  bool
	finished bool // ended, or cancelled while it waited
}

// happening is what the cluster's agenda holds.
type happening struct {
	kind happeningKind
	rec  *record
}

type happeningKind uint8

const (
	jobEnds       happeningKind = iota
	nodesAreClean               // and may be used again
	userLosesPatience
)

// backfillDepth is the number of jobs behind the first blocked one that are
// tried.
const backfillDepth = 200

// cluster is the light scheduler: eligible jobs are tried in the order in which
// they became eligible; a job of a user who runs as many as allowed is passed
// over; the first that does not fit gets a reservation at the earliest instant
// at which limits promise room for it (the shadow time), and later ones may
// start if they end by then or use nodes that it leaves over (EASY; Lifka,
// 1995).
type cluster struct {
	cfg       Config
	stream    stream
	swift     bool // nodes may be used again at once
	now       segue.Time
	idle      int // whole nodes
	shared    []*sharedNode
	roomy     []int // shared nodes, by their free GPUs
	occupancy occupancy
	queue     []*record // eligible, in order
	agenda    agenda[happening]
}

func newCluster(cfg Config) *cluster {
	c := &cluster{
		cfg:    cfg,
		stream: newStream(cfg.Seed, streamCluster),
		idle:   cfg.Nodes,
		roomy:  make([]int, cfg.GPUsPerNode+1),
	}
	if cfg.Unscheduled {
		c.swift, c.idle = true, math.MaxInt
		c.cfg.MaxRunning, c.cfg.MaxQueued = NoLimit, NoLimit
	}
	return c
}

// accepts reports whether the user may queue one more job.
func (c *cluster) accepts(u *user) bool {
	return c.cfg.MaxQueued == NoLimit || u.queued+u.running < c.cfg.MaxQueued
}

// submit queues a job that waits for after, if that is not nil, to end.
func (c *cluster) submit(r *record, after *record, patience time.Duration) {
	r.user.queued++
	if after != nil && !after.finished {
		after.waiters = append(after.waiters, r)
	} else {
		c.enqueue(r)
	}
	if patience > 0 {
		c.agenda.add(c.now.Add(patience), happening{userLosesPatience, r})
	}
}

func (c *cluster) enqueue(r *record) {
	r.job.Eligible = c.now
	c.queue = append(c.queue, r)
}

// happen carries out what the agenda holds for the instant now.
func (c *cluster) happen() {
	for c.agenda.next() == c.now {
		switch h := c.agenda.take(); h.kind {
		case jobEnds:
			h.rec.user.running--
			c.finish(h.rec)
			c.agenda.add(c.now.Add(c.cleanUp()), happening{nodesAreClean, h.rec})
		case nodesAreClean:
			c.free(h.rec)
		case userLosesPatience:
			c.cancel(h.rec)
		}
	}
}

// cleanUp draws how long nodes take from the end of one job to the next start.
func (c *cluster) cleanUp() time.Duration {
	if c.swift {
		return 0
	}
	return time.Duration(3+c.stream.IntN(45)) * time.Second
}

func (c *cluster) finish(r *record) {
	r.finished = true
	for _, waiter := range r.waiters {
		c.enqueue(waiter)
	}
	r.waiters = nil
}

// cancel takes a job back that has not started; the next pass drops it from the
// queue.
func (c *cluster) cancel(r *record) {
	if r.started {
		return
	}
	r.user.queued--
	r.job.End = c.now
	r.job.State = segue.Cancelled
	c.finish(r)
}

// pass starts what can start now.
func (c *cluster) pass() {
	waiting := c.queue[:0]
	blocked, tried := false, 0
	var room reservation
	for i, r := range c.queue {
		switch {
		case r.finished:
			continue
		case tried > backfillDepth || (c.idle == 0 && !c.hasShared(1)):
			waiting = append(waiting, c.queue[i:]...)
			c.truncate(waiting)
			return
		case c.cfg.MaxRunning != NoLimit && r.user.running >= c.cfg.MaxRunning:
		case !blocked && c.start(r, nil), blocked && c.start(r, &room):
			continue
		case !blocked:
			blocked, room = true, c.reserve(r)
		default:
			tried++
		}
		waiting = append(waiting, r)
	}
	c.truncate(waiting)
}

// truncate makes waiting, a prefix of the queue's memory, the queue.
func (c *cluster) truncate(waiting []*record) {
	clear(c.queue[len(waiting):])
	c.queue = waiting
}

// start starts r if it fits, and does not delay the reserved job if there is
// one. It reports whether it did.
func (c *cluster) start(r *record, room *reservation) bool {
	limitEnds := c.now.Add(r.script.limit)
	if !c.place(r, limitEnds, room) {
		return false
	}
	r.started = true
	r.user.queued--
	r.user.running++
	r.job.Start = c.now
	r.job.End = c.now.Add(r.outcome.run)
	r.job.State = r.outcome.state
	r.job.ExitCode = r.outcome.exit
	c.agenda.add(r.job.End, happening{jobEnds, r})
	return true
}
