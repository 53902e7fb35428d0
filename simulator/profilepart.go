package simulator

import (
	"math"
	"slices"
)

// isLong reports whether it pays to pass over parts.
func (f *profile) isLong() bool { return len(f.parts) > fewParts }

// find returns the step that holds at the instant at, or the first.
func (f *profile) find(at int64) position {
	c := position{part: f.partOf(at)}
	for k := range c.part {
		c.before += f.parts[k].sum
	}
	p := &f.parts[c.part]
	for c.i+1 < len(p.at) && p.at[c.i+1] <= at {
		c.before += p.delta[c.i]
		c.i++
	}
	return c
}

// partOf returns the index of the part in which the instant at belongs.
func (f *profile) partOf(at int64) int {
	lo, hi := 0, len(f.parts)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); f.parts[mid].from <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// stepOf returns the index of the step that holds at the instant at, or 0.
func (p *part) stepOf(at int64) int {
	lo, hi := 0, len(p.at)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); p.at[mid] <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// open puts a part with one step at index k.
func (f *profile) open(k int, at int64, delta int32) {
	f.parts = openAt(f.parts, k)
	p := &f.parts[k]
	p.from, p.at, p.delta = at, append(p.at[:0], at), append(p.delta[:0], delta)
	p.measure()
}

// halve moves the upper half of part k to a new one behind it.
func (f *profile) halve(k int) {
	f.parts = openAt(f.parts, k+1)
	p, q := &f.parts[k], &f.parts[k+1]
	half := len(p.at) / 2
	q.at, q.delta = append(q.at[:0], p.at[half:]...), append(q.delta[:0], p.delta[half:]...)
	q.from = q.at[0]
	p.at, p.delta = p.at[:half], p.delta[:half]
	p.measure()
	q.measure()
}

// remove takes out a step that changes nothing.
func (f *profile) remove(k, i int) {
	p := &f.parts[k]
	if len(p.at) == 1 {
		f.parts = closeAt(f.parts, k)
		return
	}
	p.at, p.delta = slices.Delete(p.at, i, i+1), slices.Delete(p.delta, i, i+1)
	p.from = p.at[0]
}

// tighten makes loose bounds exact, and reports whether they were loose.
func (p *part) tighten() bool {
	if p.exact {
		return false
	}
	p.measure()
	return true
}

// tightenAll does so for a profile that is searched more than once.
func (f *profile) tightenAll() {
	for k := range f.parts {
		f.parts[k].tighten()
	}
}

// measure computes what the part says about its steps.
func (p *part) measure() {
	sum, least, top := int32(0), int32(math.MaxInt32), int32(math.MinInt32)
	for _, d := range p.delta {
		sum += d
		least, top = min(least, sum), max(top, sum)
	}
	p.sum, p.least, p.top, p.exact = sum, least, top, true
}

func (f *profile) copyInto(d *profile) {
	for len(d.parts) < len(f.parts) {
		d.parts = openAt(d.parts, len(d.parts))
	}
	d.parts = d.parts[:len(f.parts)]
	for k := range f.parts {
		p, q := &f.parts[k], &d.parts[k]
		at, delta := append(q.at[:0], p.at...), append(q.delta[:0], p.delta...)
		*q = *p
		q.at, q.delta = at, delta
	}
}
