package evaluation

import (
	"math"
	"slices"
)

// score measures every policy on t's test starts.
func (t tuned) score(cfg Config) (Result, error) {
	price := cfg.Prefer.OverlapPrice()
	planner, err := t.bestPlanner(cfg)
	if err != nil {
		return Result{}, err
	}
	contenders := t.contenders(price)
	result := Result{Starts: t.test.Len(), OverlapPrice: Number(price)}
	if planner >= 0 {
		result.BestPlanner = contenders[planner].rows.Name
	}
	long := bootstrap(t.test.Starts.At, contenders, planner, longBlock, cfg)
	short := bootstrap(t.test.Starts.At, contenders, planner, shortBlock, cfg)
	result.Blocks = long.blocks

	constant := NewFrontier(contenders[0].rows.Points())
	oracle := NewFrontier(contenders[len(contenders)-1].rows.Points())
	for c, contender := range contenders {
		frontier := NewFrontier(contender.rows.Points())
		gap := GapClosed(constant, frontier, oracle)
		point := Mean(contender.chosen)
		cost := point.Cost(price)
		s := Score{
			Name:        contender.rows.Name,
			GapClosed:   estimate(gap, long.gapClosed[c]),
			Cost:        estimate(cost, long.cost[c]),
			ByLoad:      t.test.Starts.byLoad(contender.chosen, price),
			Worst:       t.test.Starts.worst(contender.chosen, price),
			OverPlanner: estimate(math.NaN(), long.difference[c]),
			DayBlocks: DayBlocks{
				GapClosed: estimate(gap, short.gapClosed[c]),
				Cost:      estimate(cost, short.cost[c]),
			},
			Tuned: Setting{
				Parameter:        Number(contender.param),
				Overlap:          Number(point.Overlap),
				Interruption:     Number(point.Interruption),
				ZeroInterruption: Number(zeroShare(contender.chosen)),
			},
		}
		if planner >= 0 {
			s.OverPlanner.Mean = Number(cost - Mean(contenders[planner].chosen).Cost(price))
		}
		for i, overlap := range Overlaps {
			s.Interruption[i] = Number(frontier.At(overlap))
			s.ZeroInterruption[i] = Number(frontier.zeroShareAt(contender.rows, overlap))
		}
		for _, v := range frontier.vertices {
			s.Frontier = append(s.Frontier, v.Point)
		}
		result.Policies = append(result.Policies, s)
	}
	return result, nil
}

// contender is one policy in the contest: all rows for its frontier, and the
// outcome of each start that its cost is counted on.
type contender struct {
	rows   Outcomes
	chosen []float64
	param  float64
}

// contenders returns constant, the policies and, last, the oracle.
func (t tuned) contenders(price float64) []contender {
	var all []contender
	for p, rows := range t.test.all() {
		all = append(all, contender{rows: rows, chosen: t.chosen[p], param: t.params[p]})
	}
	oracle := Oracle(t.test.Constant, price)
	return append(all, contender{
		rows:   oracle,
		chosen: oracle.X[slices.Index(oracle.Params, price)],
		param:  price,
	})
}

// byLoad scores the chosen outcomes by the load of the starts.
func (s Starts) byLoad(chosen []float64, price float64) ByLoad {
	var xs [Heavy + 1][]float64
	for i, x := range chosen {
		load := LoadOf(s.Reactive[i])
		xs[load] = append(xs[load], x)
	}
	part := func(load Load) LoadScore {
		p := Mean(xs[load])
		return LoadScore{
			Starts:       len(xs[load]),
			Cost:         Number(p.Cost(price)),
			Overlap:      Number(p.Overlap),
			Interruption: Number(p.Interruption),
		}
	}
	return ByLoad{Light: part(Light), Medium: part(Medium), Heavy: part(Heavy)}
}

// worst returns the start of most cost, the first of equals.
func (s Starts) worst(chosen []float64, price float64) Worst {
	worst := 0
	for i, x := range chosen {
		if PointOf(x).Cost(price) > PointOf(chosen[worst]).Cost(price) {
			worst = i
		}
	}
	p := PointOf(chosen[worst])
	return Worst{
		At:           s.At[worst].String(),
		Overlap:      Number(p.Overlap),
		Interruption: Number(p.Interruption),
		Cost:         Number(p.Cost(price)),
	}
}
