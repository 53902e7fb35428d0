package simulator

import "slices"

// plan is what a planning pass knows of the future of a pool: the wholly free
// nodes as a profile and, where jobs share nodes, a timeline of free GPUs for
// each node that is shared now or is planned to be.
type plan struct {
	now   int64
	whole profile

	slots    []slotPlan
	instants []int64 // at which anything changes, ascending; only where nodes are shared
	releases []release
	bySlot   []int32 // index into slots of each slot of the pool
	chosen   []int32
	nodes    []int32 // what chosen stands for in the pool
}

// slotPlan is one shared node: its free GPUs from the instant from until the
// instant whole, when it counts as a whole node again.
type slotPlan struct {
	from, whole int64
	gpus        steps
	physical    int32 // slot of the pool, or newNode
}

// release is what a running job gives back at an instant: whole nodes, or GPUs
// of a slot.
type release struct {
	at   int64
	n    int32
	slot int32 // newNode for whole nodes
}

// build makes the plan of the running jobs, but those without, each to the end
// of its limit on the grid res.
func (f *plan) build(s *Sim, p *pool, res int64, without []running) {
	f.now = s.now
	lost := p.draining // the next whole nodes that come free leave service
	if !p.sharing && len(without) == 0 {
		f.whole.reset(s.now, p.free)
		for i := range p.running {
			r := &p.running[i]
			n := r.nodes
			if lost > 0 {
				n -= min(lost, n)
				lost -= r.nodes - n
			}
			f.whole.release(max(ceilTo(r.est, res), s.now), n)
		}
		return
	}
	f.buildShared(s, p, res, without)
}

// earliest returns the first instant at which the job can have its nodes for
// length, never if there is none, and for a job on part of nodes which ones:
// indices into f.slots, or newNode.
func (f *plan) earliest(p *pool, j *job, length int64) (int64, []int32) {
	if !j.shares(p.gpus) {
		return f.whole.earliest(f.now, j.nodes, length), nil
	}
	for _, at := range f.instants {
		if chosen, ok := f.choose(j, at, at+length); ok {
			return at, chosen
		}
	}
	return never, nil
}

// fitsNow reports whether the job could have its nodes for length from now on.
func (f *plan) fitsNow(p *pool, j *job, length int64) bool {
	if !j.shares(p.gpus) {
		return f.whole.fits(f.now, j.nodes, length)
	}
	_, ok := f.choose(j, f.now, f.now+length)
	return ok
}

// book gives the job its nodes from at to end. physical names the slots of the
// pool that a job which has started now is on.
func (f *plan) book(p *pool, j *job, at, end int64, chosen, physical []int32) {
	if p.sharing {
		f.note(at)
		f.note(end)
	}
	if j.shares(p.gpus) {
		f.takeShared(p, j, at, end, chosen, physical)
	} else {
		f.whole.take(at, end, j.nodes)
	}
}

// note adds an instant at which something changes.
func (f *plan) note(at int64) {
	if i, found := slices.BinarySearch(f.instants, at); !found {
		f.instants = slices.Insert(f.instants, i, at)
	}
}
