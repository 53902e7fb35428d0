package evaluation

import (
	"encoding/json"
	"math"
	"strconv"
)

// Report is all that one backtest found; its JSON is what
// `segue backtest --json` prints.
type Report struct {
	PairNodes int    `json:"pair_nodes"` // nodes of each job of a pair
	PairTime  string `json:"pair_time"`  // limit of each job of a pair, "48h0m0s"
	Periods   Split  `json:"periods"`
	Result
	Rolling *Rolling `json:"rolling,omitempty"`
	Stress  []Stress `json:"stress"`
	// Notes are sentences that a reader of some of the rows has to know.
	Notes []string `json:"notes,omitempty"`
}

// MarshalJSON writes an empty list, not null, when there was no stress run.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	if r.Stress == nil {
		r.Stress = []Stress{}
	}
	return json.Marshal(plain(r))
}

// Stress is a backtest in a cluster that differs, on the test period, from the
// one that the policies were trained and tuned in.
type Stress struct {
	Name string `json:"name"` // stable: "fewer_nodes"
	What string `json:"what"` // one sentence: what differs
	Result
	Rolling *Rolling `json:"rolling,omitempty"` // of another replay
}

// Rolling is a rolling origin: the runs one by one, and all test starts
// together.
type Rolling struct {
	Runs   []Labelled `json:"runs"`
	Pooled Result     `json:"pooled"`
}

// Labelled is the result of one run of a rolling origin.
type Labelled struct {
	Label   string `json:"label"`
	Periods Split  `json:"periods"`
	Result
}

// Result is the scores of all policies on one set of test starts: constant
// first, oracle last.
type Result struct {
	Starts       int    `json:"starts"`
	OverlapPrice Number `json:"overlap_price"`
	// BestPlanner is the planner of least cost on the tuning period, "" when
	// no planner was named.
	BestPlanner string `json:"best_planner,omitempty"`
	// Blocks is the number of four-day blocks that the intervals rest on.
	Blocks   int     `json:"four_day_blocks"`
	Policies []Score `json:"policies"`
	// Coverage tells how the forecasts of models turned out; empty without any.
	Coverage []ForecastCoverage `json:"coverage,omitempty"`
}

// ForecastCoverage is the share of the waits of the test period that lay within
// the median and within the 0.9 quantile of what a model decides by, as it had been
// corrected then. A wait that a forecast has several times, so that the quantile lies
// among them, is within by that part (drift.Coverage).
type ForecastCoverage struct {
	Model string `json:"model"` // "" or "seed-2"
	Covered
	// By the load of the start.
	Light  Covered `json:"light"`
	Medium Covered `json:"medium"`
	Heavy  Covered `json:"heavy"`
}

// Covered is how often so many waits lay within their forecasts.
type Covered struct {
	Forecasts int    `json:"forecasts"`
	At50      Number `json:"within_the_median"`
	At90      Number `json:"within_the_0.9_quantile"`
}

// Of returns the part of a load.
func (c *ForecastCoverage) Of(l Load) *Covered {
	switch l {
	case Light:
		return &c.Light
	case Medium:
		return &c.Medium
	}
	return &c.Heavy
}

// Score is the measure of one policy. Hours are means over the test starts.
type Score struct {
	Name string `json:"name"`
	// GapClosed and Cost carry the intervals of the bootstrap by four-day
	// blocks. Cost is in hours, at the tuned parameter.
	GapClosed Estimate `json:"gap_closed"`
	Cost      Estimate `json:"cost"`
	// Interruption and ZeroInterruption are read off the frontier: the mean
	// interruption in hours, and the share of starts interrupted for a minute
	// at most.
	Interruption     AtOverlaps `json:"interruption_hours_at_overlap"`
	ZeroInterruption AtOverlaps `json:"zero_interruption_share_at_overlap"`
	ByLoad           ByLoad     `json:"by_load"`
	Tuned            Setting    `json:"tuned"`
	Worst            Worst      `json:"worst_start"`
	// OverPlanner is the cost minus the best planner's, below 0 when this
	// policy is cheaper; null when no planner was named.
	OverPlanner Estimate  `json:"cost_minus_best_planner"`
	DayBlocks   DayBlocks `json:"day_blocks"`
	// Frontier holds the corners of the frontier, overlap rising.
	Frontier []Point `json:"frontier"`
}

// Estimate is a mean over the test starts with its 95 % bootstrap interval.
type Estimate struct {
	Mean Number `json:"mean"`
	Lo   Number `json:"lo"`
	Hi   Number `json:"hi"`
}

func estimate(mean float64, bounds interval) Estimate {
	return Estimate{Mean: Number(mean), Lo: Number(bounds.lo), Hi: Number(bounds.hi)}
}

// Setting is what a policy does at its tuned parameter.
type Setting struct {
	// Parameter is null for a policy without one, and where the runs of a
	// rolling origin chose different values.
	Parameter        Number `json:"parameter"`
	Overlap          Number `json:"overlap_hours"`
	Interruption     Number `json:"interruption_hours"`
	ZeroInterruption Number `json:"zero_interruption_share"`
}

// Worst is the test start that costs a policy most at its tuned parameter.
type Worst struct {
	At           string `json:"at"` // RFC 3339
	Overlap      Number `json:"overlap_hours"`
	Interruption Number `json:"interruption_hours"`
	Cost         Number `json:"cost"`
}

// ByLoad splits the mean cost at the tuned parameter by the load of the start.
type ByLoad struct {
	Light  LoadScore `json:"light"`
	Medium LoadScore `json:"medium"`
	Heavy  LoadScore `json:"heavy"`
}

// LoadScore is the share of one load; the means are null without starts.
type LoadScore struct {
	Starts       int    `json:"starts"`
	Cost         Number `json:"cost"`
	Overlap      Number `json:"overlap_hours"`
	Interruption Number `json:"interruption_hours"`
}

// DayBlocks repeats the intervals with blocks of one day. They flatter, since
// neighbouring days are not independent, and are kept for comparison.
type DayBlocks struct {
	GapClosed Estimate `json:"gap_closed"`
	Cost      Estimate `json:"cost"`
}

// Overlaps are the mean overlaps, in hours, at which frontiers are read.
var Overlaps = [...]float64{0.5, 1, 2, 4, 8}

// AtOverlaps holds one number for each of [Overlaps]; its JSON is an object
// with the overlaps as names.
type AtOverlaps [len(Overlaps)]Number

// MarshalJSON writes {"0.5": ..., "1": ..., ...}.
func (a AtOverlaps) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, overlap := range Overlaps {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendFloat(b, overlap, 'g', -1, 64)
		b = append(b, '"', ':')
		b = a[i].append(b)
	}
	return append(b, '}'), nil
}

// Number is a float64 whose JSON is rounded to six decimals, and null when it
// is not finite: not defined, or not reachable.
type Number float64

// Known reports whether n is a number at all.
func (n Number) Known() bool { return finite(float64(n)) }

// MarshalJSON writes the rounded number, or null.
func (n Number) MarshalJSON() ([]byte, error) { return n.append(nil), nil }

func (n Number) append(b []byte) []byte {
	if !n.Known() {
		return append(b, "null"...)
	}
	rounded := math.Round(float64(n)*1e6) / 1e6
	if !finite(rounded) {
		rounded = float64(n)
	}
	return strconv.AppendFloat(b, rounded+0, 'g', -1, 64) // +0 turns -0 into 0
}
