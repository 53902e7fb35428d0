//go:build native

package learning

import (
	"fmt"
	"math"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/trainer"
)

// validation is the fold of time that no policy is trained on.
const validation = folds - 1

// Validation is what policies come to on the fold of time that none was trained
// on, by forecasts of trees that never saw it. The fold chose which step of each
// network was kept.
type Validation struct {
	Starts int
	Pairs  []segue.Shape
	// Policies are the yardsticks, the rules on the trees' forecast and the
	// networks.
	Policies []Validated
}

// Validated is one policy of a Validation.
type Validated struct {
	Name string
	// Points are the means of every value of its parameter, Untuned is the one of
	// the value that the balanced preference asks for; nil for the yardsticks.
	Points  []evaluation.Point
	Untuned *evaluation.Point
	// Costs are those of that value, in hours a start, one for each pair; empty
	// without Untuned.
	Costs []evaluation.Estimate
}

// validate judges the policies and the rules on the trees' forecast by the
// episodes of the last fold. A history that does not reach it gives none.
func validate(streams []trainer.Stream, policies []learned.Policy, seed uint64) (Validation, error) {
	var v Validation
	b := blocksOf(streams)
	var all []trainer.Episode
	byPair := map[segue.Shape][]trainer.Episode{}
	for _, s := range streams {
		for _, e := range s.Episodes {
			if b.part(e.Curve.Submit, validation) == heldOut {
				all, byPair[s.Pair] = append(all, e), append(byPair[s.Pair], e)
			}
		}
		if byPair[s.Pair] != nil && !slices.Contains(v.Pairs, s.Pair) {
			v.Pairs = append(v.Pairs, s.Pair)
		}
	}
	v.Starts = len(all)
	if v.Starts == 0 {
		return v, nil
	}
	contenders := contendersOf(policies)
	trial, err := trainer.Trial(all, contenders)
	if err != nil {
		return v, fmt.Errorf("validate: %w", err)
	}
	v.Policies = validated(trial)
	for _, pair := range v.Pairs {
		trial, err := trainer.Trial(byPair[pair], contenders)
		if err != nil {
			return v, fmt.Errorf("validate: %w", err)
		}
		if err := v.cost(trial, seed); err != nil {
			return v, fmt.Errorf("validate: %s: %w", pair, err)
		}
	}
	return v, nil
}

// contendersOf returns the rules and the networks.
func contendersOf(policies []learned.Policy) []trainer.Contender {
	var list []trainer.Contender
	for _, f := range trainer.LearnedFamilies() {
		list = append(list, trainer.Ruled(f))
	}
	for i := range policies {
		list = append(list, trainer.Network(&policies[i]))
	}
	return list
}

// validated returns the points of a trial, with the yardsticks around them.
func validated(t evaluation.Trial) []Validated {
	list := []Validated{{Name: evaluation.ConstantName, Points: t.Constant.Points()}}
	for _, o := range t.Policies {
		p := Validated{Name: o.Name, Points: o.Points()}
		if i := untunedOf(o); i >= 0 {
			p.Untuned = &p.Points[i]
		}
		list = append(list, p)
	}
	return append(list, Validated{Name: evaluation.OracleName, Points: evaluation.Oracle(t.Constant, segue.Balanced.OverlapPrice()).Points()})
}

// untunedOf returns the place of the parameter that needs no tuning at the
// balanced preference: the preference for a network, the quantile or the factor 1
// for a rule; -1 where there is none.
func untunedOf(o evaluation.Outcomes) int {
	want := float64(segue.Balanced)
	for _, f := range trainer.LearnedFamilies() {
		switch {
		case f.Name == o.Name && f.Form == policy.Quantile:
			want = segue.Balanced.CriticalQuantile()
		case f.Name == o.Name:
			want = 1
		}
	}
	return slices.IndexFunc(o.Params, func(param float64) bool { return math.Abs(param-want) < 1e-9 })
}

// cost appends to each policy what it costs on the starts of one pair. The measure
// of a backtest gives the interval; there is one value of each parameter, so that
// nothing can be tuned.
func (v *Validation) cost(t evaluation.Trial, seed uint64) error {
	one := t
	one.Policies = nil
	for _, o := range t.Policies {
		if i := untunedOf(o); i >= 0 {
			one.Policies = append(one.Policies, evaluation.Outcomes{Name: o.Name, Params: o.Params[i : i+1], X: o.X[i : i+1]})
		}
	}
	result, err := evaluation.Backtest(evaluation.Run{Tune: one, Test: one}, evaluation.Config{Seed: seed})
	if err != nil {
		return err
	}
	for i := range v.Policies {
		p := &v.Policies[i]
		k := slices.IndexFunc(result.Policies, func(s evaluation.Score) bool { return s.Name == p.Name })
		if p.Untuned != nil && k >= 0 {
			p.Costs = append(p.Costs, result.Policies[k].Cost)
		}
	}
	return nil
}
