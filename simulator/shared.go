package simulator

import "slices"

// sharedNodes are the nodes of a pool that at least one job has part of. A
// node that the last such job leaves is a whole idle node again.
type sharedNodes struct {
	slots   []slot
	places  []place // linked lists of the slots of each job
	noPlace int32   // head of the list of unused places, plus one
}

// slot is one shared node; without jobs it stands for none.
type slot struct {
	free int32 // GPUs
	jobs int32
}

// place is one node of a job on shared nodes.
type place struct{ slot, next int32 }

const (
	noPlace = int32(-1)
	newNode = int32(-1) // in a list of slots: take an idle node
)

// hasRoom reports whether a job with so many GPUs fits on the shared node.
func (n slot) hasRoom(gpus int32) bool { return n.jobs > 0 && n.free >= gpus }

// fits reports whether j could be placed now.
func (n *sharedNodes) fits(p *pool, j *job) bool {
	room := max(p.free, 0)
	for _, s := range n.slots {
		if s.hasRoom(j.gpus) {
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
		for i, s := range n.slots {
			if s.hasRoom(j.gpus) && (best == newNode || s.free < n.slots[best].free) && !slices.Contains(slots, int32(i)) {
				best = int32(i)
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
	for k, i := range slots {
		if i == newNode {
			p.free--
			i = n.open(p.gpus)
			slots[k] = i
		}
		n.slots[i].free -= j.gpus
		n.slots[i].jobs++
		first = n.link(place{slot: i, next: first})
	}
	return first
}

// open makes a slot for an idle node.
func (n *sharedNodes) open(gpus int32) int32 {
	i := slices.IndexFunc(n.slots, func(s slot) bool { return s.jobs == 0 })
	if i < 0 {
		i = len(n.slots)
		n.slots = append(n.slots, slot{})
	}
	n.slots[i].free = gpus
	return int32(i)
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

// release takes a job with gpus per node off its places and returns how many
// nodes nobody is left on.
func (n *sharedNodes) release(first, gpus int32) (freed int32) {
	for first != noPlace {
		pl := n.places[first]
		s := &n.slots[pl.slot]
		s.free += gpus
		if s.jobs--; s.jobs == 0 {
			freed++
		}
		n.places[first].next = n.noPlace - 1
		n.noPlace = first + 1
		first = pl.next
	}
	return freed
}

// on reports whether the job whose places begin at first is on the slot.
func (n *sharedNodes) on(first, slot int32) bool {
	for ; first != noPlace; first = n.places[first].next {
		if n.places[first].slot == slot {
			return true
		}
	}
	return false
}

func (n *sharedNodes) copyInto(d *sharedNodes) {
	d.slots = append(d.slots[:0], n.slots...)
	d.places = append(d.places[:0], n.places...)
	d.noPlace = n.noPlace
}
