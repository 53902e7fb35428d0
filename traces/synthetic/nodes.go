package synthetic

import (
	"slices"
	"sort"

	"github.com/segue-project/segue"
)

// occupancy lists when nodes come free at the latest, by the limits of the jobs
// on them, in order of time.
type occupancy []occupied

type occupied struct {
	until segue.Time
	nodes int
}

func (o *occupancy) add(until segue.Time, nodes int) {
	i := sort.Search(len(*o), func(i int) bool { return (*o)[i].until > until })
	*o = slices.Insert(*o, i, occupied{until, nodes})
}

func (o *occupancy) remove(until segue.Time, nodes int) {
	i := sort.Search(len(*o), func(i int) bool { return (*o)[i].until >= until })
	for (*o)[i].nodes != nodes {
		i++
	}
	*o = slices.Delete(*o, i, i+1)
}

// reservation is the room that the first blocked job will get: all its nodes at
// the shadow time, and the spare ones that it leaves over then.
type reservation struct {
	shadow segue.Time
	spare  int
}

// reserve returns the reservation of r. A job that takes part of a node is
// promised the first node that comes free.
func (c *cluster) reserve(r *record) reservation {
	need, free := r.script.nodes, c.idle
	for _, o := range c.occupancy {
		if free += o.nodes; free >= need {
			return reservation{shadow: o.until, spare: free - need}
		}
	}
	return reservation{shadow: segue.Never}
}

// place gives r its nodes or GPUs if it fits and keeps to the reservation.
func (c *cluster) place(r *record, limitEnds segue.Time, room *reservation) bool {
	if r.script.gpus > 0 && !c.cfg.Unscheduled {
		return c.placeShared(r, limitEnds, room)
	}
	return c.placeWhole(r, limitEnds, room)
}

func (c *cluster) placeWhole(r *record, limitEnds segue.Time, room *reservation) bool {
	if r.script.nodes > c.idle || !room.permits(limitEnds, r.script.nodes) {
		return false
	}
	c.idle -= r.script.nodes
	c.occupancy.add(limitEnds, r.script.nodes)
	return true
}

// permits reports whether nodes may be used until the instant until without
// delaying the reserved job, and books what is left over for it.
func (v *reservation) permits(until segue.Time, nodes int) bool {
	switch {
	case v == nil || until <= v.shadow:
		return true
	case nodes <= v.spare:
		v.spare -= nodes
		return true
	}
	return false
}

// sharedNode is a node whose GPUs are handed out one by one.
type sharedNode struct {
	free  int // GPUs
	until segue.Time
	jobs  int
}

// hasShared reports whether some shared node has so many GPUs free.
func (c *cluster) hasShared(gpus int) bool {
	for _, nodes := range c.roomy[min(gpus, len(c.roomy)):] {
		if nodes > 0 {
			return true
		}
	}
	return false
}

// placeShared puts r on the fullest shared node that has room, or opens another.
func (c *cluster) placeShared(r *record, limitEnds segue.Time, room *reservation) bool {
	n := c.fullestShared(r.script.gpus, limitEnds, room)
	switch {
	case n != nil:
		c.occupancy.remove(n.until, 1)
	case c.idle > 0 && room.permits(limitEnds, 1):
		c.idle--
		n = &sharedNode{free: c.cfg.GPUsPerNode}
		c.shared = append(c.shared, n)
		c.roomy[n.free]++
	default:
		return false
	}
	n.until = max(n.until, limitEnds)
	n.jobs++
	c.take(n, r.script.gpus)
	c.occupancy.add(n.until, 1)
	r.shared = n
	return true
}

func (c *cluster) fullestShared(gpus int, limitEnds segue.Time, room *reservation) *sharedNode {
	var best *sharedNode
	if !c.hasShared(gpus) {
		return nil
	}
	for _, n := range c.shared {
		if n.free >= gpus && (best == nil || n.free < best.free) && n.permits(limitEnds, room) {
			best = n
		}
	}
	return best
}

// permits reports whether a job that may last until limitEnds keeps the node
// from a reserved job no longer than it is kept anyway.
func (n *sharedNode) permits(limitEnds segue.Time, room *reservation) bool {
	return room == nil || limitEnds <= room.shadow || limitEnds <= n.until
}

// take hands out GPUs of a shared node; a negative number gives them back.
func (c *cluster) take(n *sharedNode, gpus int) {
	c.roomy[n.free]--
	n.free -= gpus
	c.roomy[n.free]++
}

// free gives the nodes of an ended job back. A shared node stays occupied until
// its last job has ended; when it comes free at the latest is not shortened
// meanwhile.
func (c *cluster) free(r *record) {
	n := r.shared
	if n == nil {
		c.idle += r.script.nodes
		c.occupancy.remove(r.job.Start.Add(r.script.limit), r.script.nodes)
		return
	}
	c.take(n, -r.script.gpus)
	if n.jobs--; n.jobs > 0 {
		return
	}
	c.roomy[n.free]--
	c.occupancy.remove(n.until, 1)
	c.shared = slices.DeleteFunc(c.shared, func(m *sharedNode) bool { return m == n })
	c.idle++
}
