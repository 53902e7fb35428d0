package simulator

import "github.com/segue-project/segue"

const (
	never  = int64(segue.Never)
	noTime = int64(segue.NoTime)

	// horizon is the last instant of a simulation, in microseconds: every sum of
	// an instant and a span is cut there.
	horizon = int64(1) << 61
	maxSpan = int64(longest / 1000)
)

// after returns the instant d after t.
func after(t, d int64) int64 { return min(t+d, horizon) }

// ceilTo returns the first multiple of grid that is not before t.
func ceilTo(t, grid int64) int64 {
	r := t % grid
	if r < 0 {
		r += grid
	}
	if r == 0 {
		return t
	}
	return t + grid - r
}
