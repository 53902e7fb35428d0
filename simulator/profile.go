package simulator

import "slices"

// profile is the number of free nodes of a pool as a step function of time. It
// is steps cut into parts that know their least and greatest value, so that a
// search passes over whole parts and a change of a long time changes one number
// per part.
type profile struct {
	parts []part // none is empty
}

type part struct {
	steps
	add         int32 // to every value of steps
	least, most int32 // of the values of steps, without add
}

const partSize = 32

// position is the place of a step in a profile.
type position struct{ part, i int }

// reset starts the profile anew: free nodes from now on.
func (f *profile) reset(now int64, free int32) {
	f.parts = f.parts[:0]
	f.open(0, now, free)
}

// open puts a part with one step at index i.
func (f *profile) open(i int, at int64, free int32) {
	f.parts = openAt(f.parts, i)
	p := &f.parts[i]
	p.reset(at, free)
	p.add, p.least, p.most = 0, free, free
}

// release adds n free nodes from the instant at on, which must not be before
// the last step.
func (f *profile) release(at int64, n int32) {
	p := &f.parts[len(f.parts)-1]
	if last := len(p.at) - 1; p.at[last] < at && last+1 >= partSize*3/4 {
		f.open(len(f.parts), at, p.free[last]+n)
		return
	}
	p.release(at, n)
	p.least, p.most = p.free[0], p.free[len(p.free)-1]
}

// earliest returns the first instant, not before from and the profile's start,
// from which n nodes are free for length; never if there is none.
func (f *profile) earliest(from int64, n int32, length int64) int64 {
	c := f.find(from)
	for {
		c = f.firstWith(c, n)
		if c.part == len(f.parts) {
			return never
		}
		start := max(f.parts[c.part].at[c.i], from)
		below, found := f.firstBelow(c, start+length, n)
		if !found {
			return start
		}
		c = below
	}
}

// fits reports whether n nodes are free from start, not before the profile's,
// for length.
func (f *profile) fits(start int64, n int32, length int64) bool {
	_, below := f.firstBelow(f.find(start), start+length, n)
	return !below
}

// firstWith returns the first step from c on with at least n nodes.
func (f *profile) firstWith(c position, n int32) position {
	for ; c.part < len(f.parts); c = (position{c.part + 1, 0}) {
		p := &f.parts[c.part]
		want := n - p.add
		if p.most < want {
			continue
		}
		for ; c.i < len(p.free); c.i++ {
			if p.free[c.i] >= want {
				return c
			}
		}
	}
	return c
}

// firstBelow returns the first step from c on, before the instant end, with
// fewer than n nodes; false if there is none.
func (f *profile) firstBelow(c position, end int64, n int32) (position, bool) {
	for ; c.part < len(f.parts); c = (position{c.part + 1, 0}) {
		p := &f.parts[c.part]
		if p.at[c.i] >= end {
			return c, false
		}
		want := n - p.add
		if p.least >= want {
			continue
		}
		for ; c.i < len(p.free) && p.at[c.i] < end; c.i++ {
			if p.free[c.i] < want {
				return c, true
			}
		}
		if c.i < len(p.free) {
			return c, false
		}
	}
	return c, false
}

// take subtracts n nodes from start, not before the profile's, to end; negative
// n gives nodes back.
func (f *profile) take(start, end int64, n int32) {
	end = min(end, horizon)
	if start >= end {
		return
	}
	f.split(end)
	c := f.split(start)
	for ; c.part < len(f.parts); c = (position{c.part + 1, 0}) {
		p := &f.parts[c.part]
		if p.at[c.i] >= end {
			return
		}
		if c.i == 0 && p.at[len(p.at)-1] < end {
			p.add -= n
			continue
		}
		for i := c.i; i < len(p.free) && p.at[i] < end; i++ {
			p.free[i] -= n
		}
		p.measure()
	}
}

// split makes the instant at, not before the profile's start, a step of its own
// and returns its position.
func (f *profile) split(at int64) position {
	c := f.find(at)
	p := &f.parts[c.part]
	if p.at[c.i] == at {
		return c
	}
	if len(p.at) == partSize {
		f.halve(c.part)
		return f.split(at)
	}
	return position{c.part, p.split(at)}
}

// halve moves the upper half of a full part to a new one behind it.
func (f *profile) halve(i int) {
	f.parts = openAt(f.parts, i+1)
	p, q := &f.parts[i], &f.parts[i+1]
	const half = partSize / 2
	q.at, q.free, q.add = append(q.at[:0], p.at[half:]...), append(q.free[:0], p.free[half:]...), p.add
	p.at, p.free = p.at[:half], p.free[:half]
	p.measure()
	q.measure()
}

// find returns the position of the step that holds at the instant at, or the
// first.
func (f *profile) find(at int64) position {
	lo, hi := 0, len(f.parts)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); f.parts[mid].at[0] <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return position{lo, f.parts[lo].holding(at)}
}

// join joins the step at the instant at with the one before if they are equal.
func (f *profile) join(at int64) {
	c := f.find(at)
	p := &f.parts[c.part]
	if p.at[c.i] != at || (c == position{}) || f.value(c) != f.value(f.previous(c)) {
		return
	}
	p.at, p.free = slices.Delete(p.at, c.i, c.i+1), slices.Delete(p.free, c.i, c.i+1)
	if len(p.at) == 0 {
		f.parts = closeAt(f.parts, c.part)
	} else {
		p.measure()
	}
}

func (f *profile) value(c position) int32 { return f.parts[c.part].free[c.i] + f.parts[c.part].add }

func (f *profile) previous(c position) position {
	if c.i == 0 {
		return position{c.part - 1, len(f.parts[c.part-1].at) - 1}
	}
	return position{c.part, c.i - 1}
}

// forget drops the steps before now.
func (f *profile) forget(now int64) {
	c := f.find(now)
	for range c.part {
		f.parts = closeAt(f.parts, 0)
	}
	p := &f.parts[0]
	p.at, p.free = slices.Delete(p.at, 0, c.i), slices.Delete(p.free, 0, c.i)
	p.at[0] = max(p.at[0], now)
	p.measure()
}

// measure computes what the part says about its steps.
func (p *part) measure() {
	least, most := p.free[0], p.free[0]
	for _, n := range p.free[1:] {
		least, most = min(least, n), max(most, n)
	}
	p.least, p.most = least, most
}

func (f *profile) copyInto(d *profile) {
	for len(d.parts) < len(f.parts) {
		d.parts = openAt(d.parts, len(d.parts))
	}
	d.parts = d.parts[:len(f.parts)]
	for i := range f.parts {
		p, q := &f.parts[i], &d.parts[i]
		p.copyInto(&q.steps)
		q.add, q.least, q.most = p.add, p.least, p.most
	}
}
