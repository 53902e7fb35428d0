package synthetic

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// stream is one source of randomness. Each part of a history draws from its
// own, so that one part does not disturb the others.
type stream struct{ *rand.Rand }

// The streams of one seed.
const (
	streamPopulation = iota + 1
	streamPilot
	streamRegimes
	streamArrivals
	streamJobs
	streamCluster
)

func newStream(seed, which uint64) stream {
	return stream{rand.New(rand.NewPCG(seed, which))}
}

// chance reports true with probability p.
func (s stream) chance(p float64) bool { return s.Float64() < p }

// lognormal returns a value whose median is median and whose logarithm has the
// standard deviation sigma.
func (s stream) lognormal(median, sigma float64) float64 {
	return median * math.Exp(sigma*s.NormFloat64())
}

// duration returns a lognormal duration in whole seconds, at least one.
func (s stream) duration(median time.Duration, sigma float64) time.Duration {
	return wholeSeconds(s.lognormal(median.Seconds(), sigma))
}

// pareto returns a whole number of at least least whose tail falls as
// (least/n)^alpha, cut at most.
func (s stream) pareto(least, most int, alpha float64) int {
	v := float64(least) * math.Pow(1-s.Float64(), -1/alpha)
	return int(min(v, float64(most)))
}

func wholeSeconds(s float64) time.Duration {
	const most = 10 * 365 * 86400
	return time.Duration(max(1, math.Round(min(s, most)))) * time.Second
}

// table draws indices with given weights.
type table struct{ cumulative []float64 }

func newTable(weights []float64) table {
	t := table{cumulative: make([]float64, len(weights))}
	sum := 0.0
	for i, w := range weights {
		sum += w
		t.cumulative[i] = sum
	}
	return t
}

func (t table) draw(s stream) int {
	x := s.Float64() * t.cumulative[len(t.cumulative)-1]
	return min(sort.SearchFloat64s(t.cumulative, x), len(t.cumulative)-1)
}
