package evaluation

import (
	"math"
	"math/rand/v2"

	"github.com/segue-project/segue"
)

// Paired is how the mean of one loss differs from that of another, as a share of
// the other's: -0.15 is 15 % less. Lo and Hi bound the central 95 % of a bootstrap
// over blocks of days; they are NaN with fewer than two blocks.
type Paired struct {
	Difference Number `json:"difference"`
	Lo         Number `json:"lo"`
	Hi         Number `json:"hi"`
	Blocks     int    `json:"blocks"`
}

// PairedDifference compares the losses a and b of the same forecasts, made at
// the given instants. Blocks of neighbouring days are drawn together, for both
// alike. It panics if the lengths differ; without losses the difference is NaN.
func PairedDifference(at []segue.Time, a, b []float64, blockDays, replicates int, seed uint64) Paired {
	sameLength(len(a), len(b))
	sameLength(len(a), len(at))
	nan := Number(math.NaN())
	if len(a) == 0 {
		return Paired{Difference: nan, Lo: nan, Hi: nan}
	}
	block, blocks := blocksOf(at, blockDays)
	sumsA, sumsB := make([]float64, blocks), make([]float64, blocks)
	for i, k := range block {
		sumsA[k] += a[i]
		sumsB[k] += b[i]
	}
	share := func(weights []float64) float64 {
		totalA, totalB := 0.0, 0.0
		for k, w := range weights {
			totalA += w * sumsA[k]
			totalB += w * sumsB[k]
		}
		return (totalA - totalB) / totalB
	}
	differences := make([]float64, 0, replicates)
	for _, weights := range drawReplicates(block, blocks, rand.New(rand.NewPCG(seed, uint64(blockDays))), replicates) {
		differences = append(differences, share(weights))
	}
	once := make([]float64, blocks)
	for k := range once {
		once[k] = 1
	}
	bounds := percentiles(differences, blocks)
	return Paired{Difference: Number(share(once)), Lo: Number(bounds.lo), Hi: Number(bounds.hi), Blocks: blocks}
}
