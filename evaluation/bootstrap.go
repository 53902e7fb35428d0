package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// intervals are the bootstrap intervals of a set of policies on one trial,
// from blocks of whole days. Neighbouring starts see the same queue, so they
// are drawn together or not at all; a pair spans more than two days and
// congestion lasts days, so blocks of four days are the honest ones.
//
// Every replicate draws the blocks once, for all policies and for both
// yardsticks, so that differences between policies are paired.
type intervals struct {
	// blocks is how many blocks had a start.
	blocks int
	// gapClosed, cost and difference have one interval per contender;
	// difference is of the cost minus the reference's.
	gapClosed, cost, difference []interval
}

// interval holds the percentile bounds. A bound is NaN when it cannot be
// known: with fewer than two blocks, or when the policy could not be held to
// an overlap in too many replicates (which counts as less than every number).
// Replicates that leave no gap to close say nothing and are left out.
type interval struct{ lo, hi float64 }

// bootstrap draws cfg.Replicates replicates of blocks of blockDays days and
// returns the intervals of the contenders, of whom the first is constant and
// the last the oracle; reference is the number of one of them, or -1.
func bootstrap(at []segue.Time, contenders []contender, reference, blockDays int, cfg Config) intervals {
	block, blocks := blocksOf(at, blockDays)
	draws := drawReplicates(block, blocks, rand.New(rand.NewPCG(cfg.Seed, uint64(blockDays))), cfg.Replicates)

	heights := make([][]levels, len(contenders))
	costs := make([][]float64, len(contenders))
	for c, contender := range contenders {
		heights[c], costs[c] = sumBlocks(contender, block, blocks).replay(draws, cfg.Prefer.OverlapPrice())
	}

	result := intervals{blocks: blocks}
	constant, oracle := heights[0], heights[len(heights)-1]
	for c := range contenders {
		var gaps, differences []float64
		for r := range draws {
			if isGap(constant[r], oracle[r]) {
				gaps = append(gaps, gapClosed(constant[r], heights[c][r], oracle[r]))
			}
			if reference >= 0 {
				differences = append(differences, costs[c][r]-costs[reference][r])
			}
		}
		result.gapClosed = append(result.gapClosed, percentiles(gaps, blocks))
		result.difference = append(result.difference, percentiles(differences, blocks))
	}
	for c := range contenders {
		result.cost = append(result.cost, percentiles(costs[c], blocks))
	}
	return result
}

// blocksOf numbers the blocks of the given length, counted from the midnight
// (UTC) before the first start; blocks without a start have no number.
func blocksOf(at []segue.Time, days int) (block []int, blocks int) {
	origin := slices.Min(at).Std().Truncate(24 * time.Hour)
	length := time.Duration(days) * 24 * time.Hour
	number := map[int64]int{}
	block = make([]int, len(at))
	for i, t := range at {
		key := int64(t.Sub(segue.TimeOf(origin)) / length)
		b, seen := number[key]
		if !seen {
			b = len(number)
			number[key] = b
		}
		block[i] = b
	}
	return block, len(number)
}

// drawReplicates returns the share that each block has in each replicate, when
// as many blocks as there are get drawn with replacement: the number of times
// that it was drawn over the number of starts drawn in all.
func drawReplicates(block []int, blocks int, rng *rand.Rand, replicates int) [][]float64 {
	sizes := make([]float64, blocks)
	for _, b := range block {
		sizes[b]++
	}
	draws := make([][]float64, replicates)
	for r := range draws {
		share, starts := make([]float64, blocks), 0.0
		for range blocks {
			b := rng.IntN(blocks)
			share[b]++
			starts += sizes[b]
		}
		for b := range share {
			share[b] /= starts
		}
		draws[r] = share
	}
	return draws
}

// blockSums holds the summed outcomes of each row in each block, so that a
// replicate costs blocks x rows, whatever the number of starts. The last row
// is the chosen outcomes.
type blockSums [][]Point // by block, then row

func sumBlocks(c contender, block []int, blocks int) blockSums {
	rows := append(slices.Clone(c.rows.X), c.chosen)
	sums := make(blockSums, blocks)
	for b := range sums {
		sums[b] = make([]Point, len(rows))
	}
	for k, row := range rows {
		for i, x := range row {
			p := PointOf(x)
			sums[block[i]][k].Overlap += p.Overlap
			sums[block[i]][k].Interruption += p.Interruption
		}
	}
	return sums
}

// replay returns the frontier's levels and the cost of the chosen outcomes in
// every replicate.
func (s blockSums) replay(draws [][]float64, price float64) ([]levels, []float64) {
	heights, costs := make([]levels, len(draws)), make([]float64, len(draws))
	means := make([]Point, len(s[0]))
	last := len(means) - 1
	var frontier Frontier
	for r, shares := range draws {
		clear(means)
		for b, share := range shares {
			if share == 0 {
				continue
			}
			for k, sum := range s[b] {
				means[k].Overlap += share * sum.Overlap
				means[k].Interruption += share * sum.Interruption
			}
		}
		frontier.rebuild(means[:last])
		heights[r] = frontier.levels()
		costs[r] = means[last].Cost(price)
	}
	return heights, costs
}

// confidence of the intervals.
const confidence = 0.95

// percentiles returns the central interval of values, which it sorts; NaNs
// sort below all numbers.
func percentiles(values []float64, blocks int) interval {
	if blocks < 2 || len(values) == 0 {
		return interval{lo: math.NaN(), hi: math.NaN()}
	}
	slices.Sort(values)
	const tail = (1 - confidence) / 2
	return interval{lo: quantile(values, tail), hi: quantile(values, 1-tail)}
}

// quantile returns the p-quantile of sorted values, interpolated linearly
// (type 7 of Hyndman and Fan, 1996).
func quantile(sorted []float64, p float64) float64 {
	pos := p * float64(len(sorted)-1)
	lo := int(pos)
	if lo+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return between(sorted[lo], sorted[lo+1], pos-float64(lo))
}
