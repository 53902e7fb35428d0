package simulator

import "slices"

// sharedNodes are the nodes of a pool that at least one job has part of. A
// node that the last such job leaves is a whole idle node again.
type sharedNodes struct {
	free    []int32 // free GPUs per slot; unused where the slot stands for no node
	jobs    []int32 // jobs per slot
	places  []place // linked lists of the slots of each job
	noPlace int32   // head of the list of unused places, plus one
}

// place is one node of a job on shared nodes.
type place struct{ slot, next int32 }

const (
	noPlace = int32(-1)
	newNode = int32(-1) // in a list of slots: take an idle node
	unused  = int32(-1)
)

// fits reports whether j could be placed now.
func (n *sharedNodes) fits(p *pool, j *job) bool {
	room := p.free
	for _, free := range n.free {
		if free >= j.gpus {
			room++
		}
	}
	return room >= j.nodes
}

// choose returns slots for j: the fullest nodes on which it fits, then idle
// ones.
func (n *sharedNodes) choose(j *job, slots []int32) []int32 {
	for range j.nodes {
		best := newNode
		for slot, free := range n.free {
			if free >= j.gpus && (best == newNode || free < n.free[best]) && !slices.Contains(slots, int32(slot)) {
				best = int32(slot)
			}
		}
		slots = append(slots, best)
	}
	return slots
}

// place puts j on the given slots and returns the first of its places; slots
// then names the slots that idle nodes became.
func (n *sharedNodes) place(p *pool, j *job, slots []int32) int32 {
	first := noPlace
	for k, slot := range slots {
		if slot == newNode {
			p.free--
			slot = n.open(p.gpus)
			slots[k] = slot
		}
		n.free[slot] -= j.gpus
		n.jobs[slot]++
		first = n.link(place{slot: slot, next: first})
	}
	return first
}

// open makes a slot for an idle node.
func (n *sharedNodes) open(gpus int32) int32 {
	for slot := range n.free {
		if n.free[slot] == unused {
			n.free[slot] = gpus
			return int32(slot)
		}
	}
	n.free, n.jobs = append(n.free, gpus), append(n.jobs, 0)
	return int32(len(n.free) - 1)
}

func (n *sharedNodes) link(pl place) int32 {
	if n.noPlace > 0 {
		i := n.noPlace - 1
		n.noPlace = n.places[i].next + 1
		n.places[i] = pl
		return i
	}
	n.places = append(n.places, pl)
	return int32(len(n.places) - 1)
}

// release takes a job with gpus per node off its places.
func (n *sharedNodes) release(p *pool, first, gpus int32) {
	for first != noPlace {
		pl := n.places[first]
		n.free[pl.slot] += gpus
		n.jobs[pl.slot]--
		if n.jobs[pl.slot] == 0 {
			n.free[pl.slot] = unused
			p.free++
		}
		n.places[first].next = n.noPlace - 1
		n.noPlace = first + 1
		first = pl.next
	}
}

func (n *sharedNodes) copyInto(d *sharedNodes) {
	d.free = append(d.free[:0], n.free...)
	d.jobs = append(d.jobs[:0], n.jobs...)
	d.places = append(d.places[:0], n.places...)
	d.noPlace = n.noPlace
}
