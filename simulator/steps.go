package simulator

import "slices"

// steps is a step function of time: free[i] holds from at[i] to at[i+1], the
// last for ever.
type steps struct {
	at   []int64
	free []int32
}

// reset starts the function anew: free from the instant now on.
func (f *steps) reset(now int64, free int32) {
	f.at, f.free = append(f.at[:0], now), append(f.free[:0], free)
}

// release adds n from the instant at on, which is not before the last step.
func (f *steps) release(at int64, n int32) {
	last := len(f.at) - 1
	if f.at[last] >= at {
		f.free[last] += n
		return
	}
	f.at, f.free = append(f.at, at), append(f.free, f.free[last]+n)
}

// holding returns the index of the step that holds at the instant at, which is
// not before the first.
func (f *steps) holding(at int64) int {
	lo, hi := 0, len(f.at)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); f.at[mid] <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func (f *steps) value(at int64) int32 { return f.free[f.holding(at)] }

// split makes the instant at, not before the first step, a step of its own and
// returns its index.
func (f *steps) split(at int64) int {
	i := f.holding(at)
	if f.at[i] == at {
		return i
	}
	f.at = slices.Insert(f.at, i+1, at)
	f.free = slices.Insert(f.free, i+1, f.free[i])
	return i + 1
}

// take subtracts n from start to end.
func (f *steps) take(start, end int64, n int32) {
	i := f.split(start)
	for stop := f.split(end); i < stop; i++ {
		f.free[i] -= n
	}
}

// least returns the least value from start to end.
func (f *steps) least(start, end int64) int32 {
	i := f.holding(start)
	least := f.free[i]
	for i++; i < len(f.at) && f.at[i] < end; i++ {
		least = min(least, f.free[i])
	}
	return least
}

func (f *steps) copyInto(d *steps) {
	d.at, d.free = append(d.at[:0], f.at...), append(d.free[:0], f.free...)
}
