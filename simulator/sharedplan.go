package simulator

import (
	"cmp"
	"slices"
)

// sharedPlan is a plan of a pool in which jobs share nodes: the wholly free
// nodes as a profile, and a timeline of free GPUs for each node that is shared
// now or is planned to be.
type sharedPlan struct {
	whole    profile
	slots    []slotPlan
	releases []release
	chosen   []int32
	instants []int64
}

// slotPlan is one shared node: its free GPUs from the instant from until the
// instant whole, when it counts as a whole node again.
type slotPlan struct {
	from, whole int64
	steps       profile
	physical    int32 // slot of the pool, or newNode
}

type release struct {
	at   int64
	n    int32
	slot int32 // newNode for whole nodes
}

// build makes the plan of the running jobs, each to the end of its limit on the
// grid res.
func (f *sharedPlan) build(s *Sim, p *pool, res int64) {
	f.collect(s, p, res)
	f.whole.reset(s.now, p.free)
	f.slots = f.slots[:0]
	bySlot := make(map[int32]int, len(p.shared.free))
	for slot, free := range p.shared.free {
		if free == unused {
			continue
		}
		bySlot[int32(slot)] = len(f.slots)
		f.slots = append(f.slots, slotPlan{from: s.now, whole: s.now + 1, physical: int32(slot)})
		f.slots[len(f.slots)-1].steps.reset(s.now, free)
	}
	for _, r := range f.releases {
		if r.slot != newNode {
			sp := &f.slots[bySlot[r.slot]]
			sp.steps.release(r.at, r.n)
			sp.whole = max(sp.whole, r.at)
		}
	}
	f.releases = slices.DeleteFunc(f.releases, func(r release) bool { return r.slot != newNode })
	for i := range f.slots {
		f.releases = append(f.releases, release{at: f.slots[i].whole, n: 1, slot: newNode})
	}
	f.sortReleases()
	for _, r := range f.releases {
		f.whole.release(r.at, r.n)
	}
}

// collect lists what the running jobs will give back.
func (f *sharedPlan) collect(s *Sim, p *pool, res int64) {
	f.releases = f.releases[:0]
	for _, r := range p.running {
		at := max(ceilTo(r.est, res), s.now+1)
		if r.places == noPlace {
			f.releases = append(f.releases, release{at: at, n: r.nodes, slot: newNode})
			continue
		}
		for i := r.places; i != noPlace; i = p.shared.places[i].next {
			f.releases = append(f.releases, release{at: at, n: s.job(r.ref).gpus, slot: p.shared.places[i].slot})
		}
	}
	f.sortReleases()
}

func (f *sharedPlan) sortReleases() {
	slices.SortStableFunc(f.releases, func(a, b release) int { return cmp.Compare(a.at, b.at) })
}

// earliestShared returns the first instant from which j can have its GPUs for
// length, and the nodes: indices into f.slots, or newNode.
func (f *sharedPlan) earliestShared(j *job, length int64) (int64, []int32) {
	f.instants = append(f.instants[:0], f.whole.at...)
	for i := range f.slots {
		f.instants = append(f.instants, f.slots[i].steps.at...)
	}
	slices.Sort(f.instants)
	for _, at := range slices.Compact(f.instants) {
		if at < f.whole.at[0] {
			continue
		}
		if chosen, ok := f.fitAt(j, at, at+length); ok {
			return at, chosen
		}
	}
	return never, nil
}

// fitAt picks nodes for j from at to end: shared ones first, the fullest first.
func (f *sharedPlan) fitAt(j *job, at, end int64) ([]int32, bool) {
	f.chosen = f.chosen[:0]
	drawn := int32(0) // of the whole nodes
	for i := range f.slots {
		sp := &f.slots[i]
		if len(f.chosen) == int(j.nodes) {
			break
		}
		if at < sp.from || at >= sp.whole || sp.steps.least(at, min(end, sp.whole)) < j.gpus {
			continue
		}
		if end > sp.whole {
			if f.whole.least(sp.whole, end) <= drawn {
				continue
			}
			drawn++
		}
		f.chosen = append(f.chosen, int32(i))
	}
	more := j.nodes - int32(len(f.chosen))
	if more > 0 && f.whole.least(at, end)-drawn < more {
		return nil, false
	}
	for range more {
		f.chosen = append(f.chosen, newNode)
	}
	return f.chosen, true
}

// takeShared books j on the chosen nodes from at to end. physical names the
// slots of the pool that a job which has started now is on.
func (f *sharedPlan) takeShared(p *pool, j *job, at, end int64, chosen, physical []int32) {
	for k, i := range chosen {
		if i == newNode {
			f.whole.take(f.whole.split(at), end, 1)
			sp := slotPlan{from: at, whole: end, physical: newNode}
			if physical != nil {
				sp.physical = physical[k]
			}
			sp.steps.reset(at, p.gpus-j.gpus)
			f.slots = append(f.slots, sp)
			continue
		}
		sp := &f.slots[i]
		if end > sp.whole {
			f.whole.take(f.whole.split(sp.whole), end, 1)
			sp.steps.split(sp.whole)
			sp.whole = end
		}
		sp.steps.take(sp.steps.split(at), end, j.gpus)
	}
}

// least returns the least value from at to end, both after the start.
func (f *profile) least(at, end int64) int32 {
	i, found := slices.BinarySearch(f.at, at)
	if !found {
		i--
	}
	least := f.free[i]
	for i++; i < len(f.at) && f.at[i] < end; i++ {
		least = min(least, f.free[i])
	}
	return least
}
