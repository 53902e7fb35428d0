package simulator

import "math"

// profile is a number of free things, nodes or GPUs, as a step function of time.
// Each step holds by how much it changes, so that taking from a span of time
// touches only its two ends. The steps are cut into parts; once there are many,
// each part knows what a search needs to pass over it.
type profile struct {
	parts []part // none is empty
}

type part struct {
	from  int64   // the first of at
	at    []int64 // ascending
	delta []int32 // change at each instant; the very first is the value there
	sum   int32   // of delta

	// Bounds of the values within the part, less the value before it.
	least, top int32
	exact      bool // or looser than need be
}

const (
	partSize = 48
	fewParts = 4 // up to so many are searched step by step
)

// position is the place of a step in a profile, and the value before it.
type position struct {
	part, i int
	before  int32
}

// reset starts the profile anew: free from the instant now on.
func (f *profile) reset(now int64, free int32) {
	f.parts = f.parts[:0]
	f.open(0, now, free)
}

// begin makes the first step, which no other precedes, the value from now on.
func (f *profile) begin(now int64, free int32) {
	p := &f.parts[0]
	p.from, p.at[0] = now, now
	p.add(0, free-p.delta[0])
}

// release adds n from the instant at on, which must not be before the last step.
func (f *profile) release(at int64, n int32) {
	p := &f.parts[len(f.parts)-1]
	switch last := len(p.at) - 1; {
	case p.at[last] >= at:
		p.add(last, n)
	case last+1 >= partSize*3/4: // leaves room for what will be put between
		f.open(len(f.parts), at, n)
	default:
		p.at, p.delta = append(p.at, at), append(p.delta, 0)
		p.add(last+1, n)
	}
}

// earliest returns the first instant, from the step c on, from which n are free
// for length, and the step there; never if there is none.
func (f *profile) earliest(c position, n int32, length int64) (int64, position) {
	for {
		if c = f.firstWith(c, n); c.part == len(f.parts) {
			return never, c
		}
		start := f.parts[c.part].at[c.i]
		below, found := f.firstBelow(c, n, start+length)
		if !found {
			return start, c
		}
		c = below
	}
}

// firstWith returns the first step from c on with at least n.
func (f *profile) firstWith(c position, n int32) position {
	for ; c.part < len(f.parts); c.part, c.i = c.part+1, 0 {
		p := &f.parts[c.part]
		if c.i == 0 && f.isLong() && (c.before+p.top < n || (p.tighten() && c.before+p.top < n)) {
			c.before += p.sum
			continue
		}
		for ; c.i < len(p.delta); c.i++ {
			if c.before+p.delta[c.i] >= n {
				return c
			}
			c.before += p.delta[c.i]
		}
	}
	return c
}

// firstBelow returns the first step from c on, before the instant end, with less
// than n; false if there is none.
func (f *profile) firstBelow(c position, n int32, end int64) (position, bool) {
	for ; c.part < len(f.parts); c.part, c.i = c.part+1, 0 {
		p := &f.parts[c.part]
		if p.from >= end {
			return c, false
		}
		if c.i == 0 && f.isLong() && (c.before+p.least >= n || (p.tighten() && c.before+p.least >= n)) {
			c.before += p.sum
			continue
		}
		at := p.at
		delta := p.delta[:len(at)]
		for i := c.i; i < len(at); i++ {
			if at[i] >= end {
				return c, false
			}
			if c.before+delta[i] < n {
				c.i = i
				return c, true
			}
			c.before += delta[i]
		}
	}
	return c, false
}

// fits reports whether n are free from start, not before the profile's, to end.
func (f *profile) fits(start, end int64, n int32) bool {
	_, below := f.firstBelow(f.find(start), n, end)
	return !below
}

// low is an instant from which less is free than ever before.
type low struct {
	at   int64
	free int32
}

// appendLows appends the profile's start and its lows, down to 0, to lows.
func (f *profile) appendLows(lows []low) []low {
	least, free := int32(math.MaxInt32), int32(0)
	for k := range f.parts {
		p := &f.parts[k]
		if f.isLong() && (free+p.least >= least || (p.tighten() && free+p.least >= least)) {
			free += p.sum
			continue
		}
		for i, d := range p.delta {
			if free += d; free < least {
				least = free
				lows = append(lows, low{p.at[i], free})
			}
		}
		if least <= 0 {
			break
		}
	}
	return lows
}

// least returns the least value from start, not before the profile's, to end.
func (f *profile) least(start, end int64) int32 {
	least := int32(math.MaxInt32)
	for c := f.find(start); c.part < len(f.parts); c.part, c.i = c.part+1, 0 {
		p := &f.parts[c.part]
		for ; c.i < len(p.at); c.i++ {
			if p.at[c.i] >= end {
				return least
			}
			c.before += p.delta[c.i]
			least = min(least, c.before)
		}
	}
	return least
}

// take subtracts n from start, not before the profile's, to end; negative n
// gives back.
func (f *profile) take(start, end int64, n int32) {
	if end = min(end, horizon); start < end {
		f.change(start, -n)
		f.change(end, n)
	}
}

// takeFrom is take from a known step on.
func (f *profile) takeFrom(c position, end int64, n int32) {
	p := &f.parts[c.part]
	if end = min(end, horizon); p.at[c.i] < end {
		p.add(c.i, -n)
		f.change(end, n)
	}
}

// change adds n from the instant at on.
func (f *profile) change(at int64, n int32) {
	k := f.partOf(at)
	p := &f.parts[k]
	i := p.stepOf(at)
	if p.at[i] == at {
		p.add(i, n)
		if p.delta[i] == 0 && k+i > 0 {
			f.remove(k, i)
		}
		return
	}
	i++
	p.at, p.delta = append(p.at, 0), append(p.delta, 0)
	copy(p.at[i+1:], p.at[i:])
	copy(p.delta[i+1:], p.delta[i:])
	p.at[i], p.delta[i] = at, 0
	p.add(i, n)
	if len(p.at) > partSize {
		f.halve(k)
	}
}

// add changes the values of the part from step i on.
func (p *part) add(i int, n int32) {
	p.delta[i] += n
	p.sum += n
	p.exact = false
	if n < 0 || i == 0 {
		p.least += n
	}
	if n > 0 || i == 0 {
		p.top += n
	}
}

// forget drops the steps before now.
func (f *profile) forget(now int64) {
	c := f.find(now)
	for range c.part {
		f.parts = closeAt(f.parts, 0)
	}
	p := &f.parts[0]
	n := copy(p.at, p.at[c.i:])
	copy(p.delta, p.delta[c.i:])
	p.at, p.delta = p.at[:n], p.delta[:n]
	p.from = max(p.at[0], now)
	p.at[0] = p.from
	p.delta[0] += c.before
	p.measure()
}
