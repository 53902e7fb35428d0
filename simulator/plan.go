package simulator

import "slices"

// plan is what a planning pass knows of the future of a pool: the wholly free
// nodes as a profile and, where jobs share nodes, a timeline of free GPUs for
// each node that is shared now or is planned to be.
type plan struct {
	now   int64
	whole profile
	step  position // of whole, where the job fits that earliest was last asked for
	hints hints
	lows  []low // of whole; empty after a change

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
	gpus        profile
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
	f.now, f.hints, f.lows = s.now, f.hints[:0], f.lows[:0]
	switch {
	case p.sharing || len(without) > 0:
		f.buildShared(s, p, res, without)
	case s.conf.Backfill == SlurmBackfill && p.draining == 0:
		if p.future.isLong() {
			p.future.tightenAll()
		}
		p.future.copyInto(&f.whole)
		f.whole.begin(s.now, p.free)
	default:
		f.buildWhole(s, p, res)
	}
}

func (f *plan) buildWhole(s *Sim, p *pool, res int64) {
	lost := p.draining // the next whole nodes that come free leave service
	f.whole.reset(s.now, p.free)
	for r := range p.running.all() {
		kept := r.nodes - min(lost, r.nodes)
		lost -= r.nodes - kept
		f.whole.release(max(ceilTo(r.est, res), s.now), kept)
	}
}

// earliest returns the first instant at which the job can have its nodes for
// length, never if there is none, and for a job on part of nodes which ones:
// indices into f.slots, or newNode.
func (f *plan) earliest(p *pool, j *job, length int64) (int64, []int32) {
	if !j.shares(p.gpus) {
		return f.earliestWhole(j.nodes, length), nil
	}
	for _, at := range f.instants {
		if chosen, ok := f.choose(j, at, at+length); ok {
			return at, chosen
		}
	}
	return never, nil
}

// earliestWhole returns the first instant at which so many whole nodes are free
// for length.
func (f *plan) earliestWhole(nodes int32, length int64) int64 {
	c := position{}
	from, known := f.hints.bound(nodes, length)
	if known && from > f.now {
		c = f.whole.find(from)
	}
	at, step := f.whole.earliest(c, nodes, length)
	f.step = step
	if !known || at > from {
		f.hints.learn(hint{nodes, length, at})
	}
	return at
}

// margin returns how many nodes are idle until the given instant beside those of
// the job; negative if it does not fit. On shared nodes that is not counted: it
// is 0 or -1.
func (f *plan) margin(p *pool, j *job, until int64) int32 {
	if j.shares(p.gpus) {
		if _, ok := f.choose(j, f.now, until); ok {
			return 0
		}
		return -1
	}
	lows := f.idle()
	k := len(lows) - 1
	for lows[k].at >= until {
		k--
	}
	return lows[k].free - j.nodes
}

// idle returns when how many whole nodes stop being idle.
func (f *plan) idle() []low {
	if len(f.lows) == 0 {
		f.lows = f.whole.appendLows(f.lows)
	}
	return f.lows
}

// book gives the job, for which earliest was asked last, its nodes from at to
// end. physical names the slots of the
// pool that a job which has started now is on.
func (f *plan) book(p *pool, j *job, at, end int64, chosen, physical []int32) {
	f.lows = f.lows[:0]
	if p.sharing {
		f.note(at)
		f.note(end)
	}
	if j.shares(p.gpus) {
		f.takeShared(p, j, at, end, chosen, physical)
	} else {
		f.whole.takeFrom(f.step, end, j.nodes)
	}
}

// note adds an instant at which something changes.
func (f *plan) note(at int64) {
	if i, found := slices.BinarySearch(f.instants, at); !found {
		f.instants = slices.Insert(f.instants, i, at)
	}
}
