package simulator

import (
	"cmp"
	"slices"
)

// buildShared is build where nodes are shared, or as if some jobs did not run.
func (f *plan) buildShared(s *Sim, p *pool, res int64, without []running) {
	room := &s.scratch.room
	room.of(s, p, without)
	f.collect(s, p, res, without)
	f.openSlots(s.now, room)
	for _, r := range f.releases {
		if r.slot != newNode {
			sp := &f.slots[f.bySlot[r.slot]]
			sp.gpus.release(r.at, r.n)
			sp.whole = max(sp.whole, r.at)
		}
	}
	f.releases = slices.DeleteFunc(f.releases, func(r release) bool { return r.slot != newNode })
	for i := range f.slots {
		f.releases = append(f.releases, release{at: f.slots[i].whole, n: 1, slot: newNode})
	}
	f.sortReleases()
	f.whole.reset(s.now, room.free)
	lost := room.draining
	for _, r := range f.releases {
		kept := r.n - min(lost, r.n)
		lost -= r.n - kept
		f.whole.release(r.at, kept)
	}
	f.noteAll()
}

// collect lists what the running jobs will give back, in order.
func (f *plan) collect(s *Sim, p *pool, res int64, without []running) {
	f.releases = f.releases[:0]
	give := func(at int64, nodes, places, gpus int32) {
		at = max(ceilTo(at, res), s.now)
		if places == noPlace {
			f.releases = append(f.releases, release{at: at, n: nodes, slot: newNode})
		}
		for i := places; i != noPlace; i = p.shared.places[i].next {
			f.releases = append(f.releases, release{at: at, n: gpus, slot: p.shared.places[i].slot})
		}
	}
	for r := range p.running.all() {
		if !slices.Contains(without, *r) {
			give(r.est, r.nodes, r.places, s.job(r.ref).gpus)
		}
	}
	for _, c := range s.cleaning {
		if c.pool == p.index {
			give(c.at, c.nodes, c.places, c.gpus)
		}
	}
	if len(s.cleaning) > 0 {
		f.sortReleases()
	}
}

func (f *plan) sortReleases() {
	slices.SortStableFunc(f.releases, func(a, b release) int { return cmp.Compare(a.at, b.at) })
}

// openSlots makes a timeline of each shared node.
func (f *plan) openSlots(now int64, room *room) {
	f.slots, f.bySlot = f.slots[:0], f.bySlot[:0]
	for i, n := range room.slots {
		f.bySlot = append(f.bySlot, int32(len(f.slots)))
		if n.jobs > 0 {
			f.openSlot(now, now, n.free, int32(i))
		}
	}
}

func (f *plan) openSlot(from, whole int64, gpus, physical int32) {
	f.slots = openAt(f.slots, len(f.slots))
	sp := &f.slots[len(f.slots)-1]
	sp.from, sp.whole, sp.physical = from, whole, physical
	sp.gpus.reset(from, gpus)
}

// noteAll lists the instants at which anything changes.
func (f *plan) noteAll() {
	f.instants = f.instants[:0]
	for i := range f.whole.parts {
		f.instants = append(f.instants, f.whole.parts[i].at...)
	}
	for i := range f.slots {
		for k := range f.slots[i].gpus.parts {
			f.instants = append(f.instants, f.slots[i].gpus.parts[k].at...)
		}
	}
	slices.Sort(f.instants)
	f.instants = slices.Compact(f.instants)
}

// choose picks nodes for j from at to end. A node that stays shared until end
// costs nothing else, so these come first, the fullest first; then nodes that
// become whole before end, the latest first, since each takes one from the
// whole nodes from then on; then whole nodes.
func (f *plan) choose(j *job, at, end int64) ([]int32, bool) {
	f.chosen = f.chosen[:0]
	for i := range f.slots {
		if sp := &f.slots[i]; sp.from <= at && at < sp.whole && sp.gpus.fits(at, min(end, sp.whole), j.gpus) {
			f.chosen = append(f.chosen, int32(i))
		}
	}
	slices.SortStableFunc(f.chosen, func(a, b int32) int {
		x, y := &f.slots[a], &f.slots[b]
		return cmp.Or(cmp.Compare(min(y.whole, end), min(x.whole, end)), cmp.Compare(x.gpus.least(at, at+1), y.gpus.least(at, at+1)))
	})
	f.chosen = f.chosen[:min(len(f.chosen), int(j.nodes))]
	if !f.wholeNodesSuffice(j.nodes-int32(len(f.chosen)), at, end) {
		return nil, false
	}
	for len(f.chosen) < int(j.nodes) {
		f.chosen = append(f.chosen, newNode)
	}
	return f.chosen, true
}

// wholeNodesSuffice reports whether fresh whole nodes are free from at to end,
// and one more for each chosen node from when it becomes whole.
func (f *plan) wholeNodesSuffice(fresh int32, at, end int64) bool {
	for _, i := range slices.Backward(f.chosen) { // the first to become whole first
		whole := f.slots[i].whole
		if whole >= end {
			break
		}
		if !f.whole.fits(at, whole, fresh) {
			return false
		}
		at = whole
		fresh++
	}
	return f.whole.fits(at, end, fresh)
}

// takeShared books j on the chosen nodes from at to end.
func (f *plan) takeShared(p *pool, j *job, at, end int64, chosen, physical []int32) {
	for k, i := range chosen {
		if i == newNode {
			f.whole.take(at, end, 1)
			slot := newNode
			if physical != nil {
				slot = physical[k]
			}
			f.openSlot(at, end, p.gpus-j.gpus, slot)
			f.slots[len(f.slots)-1].gpus.release(end, j.gpus)
			continue
		}
		sp := &f.slots[i]
		if end > sp.whole {
			f.whole.take(sp.whole, end, 1)
			sp.whole = end
		}
		sp.gpus.take(at, end, j.gpus)
	}
}

// physical returns what the chosen nodes are in the pool, nil for none.
func (f *plan) physical(chosen []int32) []int32 {
	if chosen == nil {
		return nil
	}
	f.nodes = f.nodes[:0]
	for _, i := range chosen {
		if i != newNode {
			i = f.slots[i].physical
		}
		f.nodes = append(f.nodes, i)
	}
	return f.nodes
}
