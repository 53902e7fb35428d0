package evaluation

import (
	"math"
	"slices"
)

// maxOracleRows bounds the oracle's rows, and so the memory of a long trial.
const maxOracleRows = 512

// Oracle returns the policy that knows the outcome of every lead of a start
// and, at a price of overlap, takes the one of least cost. Its parameter is
// the price in hours of interruption per hour of overlap, ascending, and the
// given prices are among its values.
//
// An outcome is either an interruption or an overlap, so only two leads of a
// start can ever be best: the one of least interruption i and the one of least
// overlap o; o is taken while the price is below i/o. The values i/o of all
// starts are therefore all the prices at which anything changes, and with
// them the frontier is exact, for a resampling of the starts as well. Beyond
// 512 different prices, evenly ranked ones stand for the rest: every vertex
// is exact then, and only the chords between them are not.
func Oracle(constant Outcomes, prices ...float64) Outcomes {
	choices := bestLeads(constant)
	ladder := []float64{0}
	for _, c := range choices {
		if c.switchAt > 0 && !math.IsInf(c.switchAt, 1) {
			ladder = append(ladder, c.switchAt)
		}
	}
	ladder = thin(distinct(ladder), maxOracleRows)
	ladder = distinct(append(ladder, prices...))

	oracle := Outcomes{Name: OracleName, Params: ladder, X: make([][]float64, len(ladder))}
	for k, price := range ladder {
		row := make([]float64, len(choices))
		for i, c := range choices {
			row[i] = c.at(price)
		}
		oracle.X[k] = row
	}
	return oracle
}

// choice is what an oracle may do on one start: suffer the least interruption
// or the least overlap, both in hours. It switches from overlap to
// interruption when the price reaches switchAt.
type choice struct {
	interruption, overlap float64
	switchAt              float64
}

func (c choice) at(price float64) float64 {
	if price < c.switchAt {
		return -c.overlap
	}
	return c.interruption
}

func bestLeads(constant Outcomes) []choice {
	choices := make([]choice, len(constant.X[0]))
	for i := range choices {
		c := choice{interruption: math.Inf(1), overlap: math.Inf(1)}
		for _, row := range constant.X {
			if x := row[i]; x >= 0 {
				c.interruption = min(c.interruption, x)
			} else {
				c.overlap = min(c.overlap, -x)
			}
		}
		switch {
		case math.IsInf(c.interruption, 1):
			c.switchAt = math.Inf(1)
		case math.IsInf(c.overlap, 1):
			c.switchAt = 0
		default:
			c.switchAt = min(c.interruption/c.overlap, math.MaxFloat64)
		}
		choices[i] = c
	}
	return choices
}

func distinct(values []float64) []float64 {
	slices.Sort(values)
	return slices.Compact(values)
}

// thin returns at most limit of the sorted values, evenly by rank, with both
// ends.
func thin(values []float64, limit int) []float64 {
	if len(values) <= limit {
		return values
	}
	kept := make([]float64, limit)
	for k := range kept {
		kept[k] = values[k*(len(values)-1)/(limit-1)]
	}
	return kept
}
