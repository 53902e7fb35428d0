package traces

import "bytes"

// join mends a line in which users' text contains the separator: it gives
// every column its fields so that each but the text columns has one that is
// plausible there. It reports false unless exactly one way exists. The fields
// of a text column are joined by the separator again.
func (c *columns) join(fields [][]byte, separator byte, clock *zoneClock) ([][]byte, bool) {
	const mostExtra = 64
	n, extra := len(c.names), len(fields)-len(c.names)
	if extra > mostExtra {
		return nil, false
	}
	// ways[i][k] is the number of ways, up to two, to give columns i... the
	// fields i+k...
	ways := make([][]uint8, n+1)
	for i := range ways {
		ways[i] = make([]uint8, extra+1)
	}
	ways[n][extra] = 1
	for i := n - 1; i >= 0; i-- {
		for k := 0; k <= extra; k++ {
			if !c.plausible(i, fields[i+k], clock) {
				continue
			}
			widest := k
			if c.free[i] {
				widest = extra
			}
			for next := k; next <= widest; next++ {
				ways[i][k] = min(ways[i][k]+ways[i+1][next], 2)
			}
		}
	}
	if ways[0][0] != 1 {
		return nil, false
	}
	joined := make([][]byte, 0, n)
	for i, k := 0, 0; i < n; i++ {
		next := k
		for ways[i+1][next] == 0 {
			next++
		}
		joined = append(joined, bytes.Join(fields[i+k:i+next+1], []byte{separator}))
		k = next
	}
	return joined, true
}
