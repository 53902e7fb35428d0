package simulator

import "slices"

// profile is the number of free nodes of a pool as a step function of time:
// free[i] holds from at[i] to at[i+1], the last for ever.
type profile struct {
	at   []int64
	free []int32
}

// reset starts the profile anew: free nodes from now on.
func (f *profile) reset(now int64, free int32) {
	f.at = append(f.at[:0], now)
	f.free = append(f.free[:0], free)
}

// release adds n free nodes from the instant at on, which must not be before
// the last step.
func (f *profile) release(at int64, n int32) {
	last := len(f.at) - 1
	if f.at[last] >= at {
		f.free[last] += n
		return
	}
	f.at = append(f.at, at)
	f.free = append(f.free, f.free[last]+n)
}

// earliest returns the first instant, not before the profile's start, from
// which n nodes are free for length, and the index of its step; never if there
// is none.
func (f *profile) earliest(n int32, length int64) (start int64, step int) {
	i := 0
	for i < len(f.at) {
		if f.free[i] < n {
			i++
			continue
		}
		end := f.at[i] + length
		k := i + 1
		for k < len(f.at) && f.at[k] < end && f.free[k] >= n {
			k++
		}
		if k == len(f.at) || f.at[k] >= end {
			return f.at[i], i
		}
		i = k + 1
	}
	return never, -1
}

// fitsNow reports whether n nodes are free from the profile's start for length.
func (f *profile) fitsNow(n int32, length int64) bool {
	end := f.at[0] + length
	for i := 0; i < len(f.at) && (i == 0 || f.at[i] < end); i++ {
		if f.free[i] < n {
			return false
		}
	}
	return true
}

// take subtracts n nodes from the step at index step until end; a negative n
// gives nodes back.
func (f *profile) take(step int, end int64, n int32) {
	k := step
	for k < len(f.at) && f.at[k] < end {
		k++
	}
	if k == len(f.at) || f.at[k] != end {
		f.at = slices.Insert(f.at, k, end)
		f.free = slices.Insert(f.free, k, f.free[k-1])
	}
	for i := step; i < k; i++ {
		f.free[i] -= n
	}
}

// split makes the instant at, not before the profile's start, a step and
// returns its index.
func (f *profile) split(at int64) int {
	k, found := slices.BinarySearch(f.at, at)
	if found {
		return k
	}
	f.at = slices.Insert(f.at, k, at)
	f.free = slices.Insert(f.free, k, f.free[k-1])
	return k
}

// drop forgets the steps before now.
func (f *profile) drop(now int64) {
	k := 0
	for k+1 < len(f.at) && f.at[k+1] <= now {
		k++
	}
	if k > 0 {
		f.at = append(f.at[:0], f.at[k:]...)
		f.free = append(f.free[:0], f.free[k:]...)
	}
	f.at[0] = max(f.at[0], now)
}

// merge joins neighbouring steps of equal value around the index k.
func (f *profile) merge(k int) {
	if k > 0 && k < len(f.at) && f.free[k] == f.free[k-1] {
		f.at = slices.Delete(f.at, k, k+1)
		f.free = slices.Delete(f.free, k, k+1)
	}
}

func (f *profile) copyInto(dst *profile) {
	dst.at = append(dst.at[:0], f.at...)
	dst.free = append(dst.free[:0], f.free...)
}
