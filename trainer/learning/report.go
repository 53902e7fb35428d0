//go:build native

package learning

import (
	"fmt"
	"math"
	"strings"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/reports"
)

// AddTo fills in what a report says of the training itself: the curves, how the
// forecasts turned out, and what the policies do on the validation fold.
func (l *Learned) AddTo(t *reports.Training) {
	t.Trees = treesFigure(l.Losses)
	for i := range l.Trainings {
		t.Policies = append(t.Policies, l.Trainings[i].report(kindOf(l, l.Trainings[i].Policy)))
	}
	t.ByFold = calibrationFigure("Calibration by fold", l.ByFold)
	t.ByLoad = calibrationFigure("Calibration by load", l.ByLoad)
	t.Coverage = coverageFigure(l.Coverage)
	t.Frontier, t.Costs = l.Validation.frontier(), l.Validation.costs()
}

func kindOf(l *Learned, policy string) networks.Kind {
	for _, p := range l.Model.Policies {
		if p.Name == policy {
			return p.Spec.Kind
		}
	}
	return ""
}

// treesFigure draws the losses of the trees; nil where there are none.
func treesFigure(curves []LossCurve) *reports.Lines {
	panel := reports.LinePanel{Axis: "loss"}
	for i, c := range curves {
		s := reports.LineSeries{Name: strings.TrimPrefix(c.Step, "trees "), Look: reports.Look(i), Best: math.NaN()}
		least := math.Inf(1)
		for round, loss := range c.Loss {
			s.X, s.Y = append(s.X, float64(round+1)), append(s.Y, loss)
			if loss < least {
				least, s.Best = loss, float64(round+1)
			}
		}
		panel.Series = append(panel.Series, s)
	}
	if len(panel.Series) == 0 {
		return nil
	}
	return &reports.Lines{Title: "Losses of the trees", X: "round", Panels: []reports.LinePanel{panel}}
}

// report says how the training of one policy went.
func (t *Training) report(kind networks.Kind) reports.TrainedPolicy {
	p := reports.TrainedPolicy{Name: t.Policy, Rule: math.NaN(), Best: t.Best, Course: reports.Lines{Title: "The training of " + t.Policy, X: "step"}}
	if kind != "" {
		p.What = fmt.Sprintf("A network of the kind %s.", kind)
	}
	loss := reports.LineSeries{Name: "loss", Best: math.NaN()}
	cost := reports.LineSeries{Name: "validation cost", Look: 1, Best: math.NaN()}
	var gate []reports.LineSeries
	least := math.Inf(1)
	for _, h := range t.History {
		step := float64(h.Step)
		p.Steps, p.Most = h.Step, h.Steps
		cost.X, cost.Y = append(cost.X, step), append(cost.Y, h.ValidationCost)
		if h.ValidationCost < least {
			least, cost.Best, p.BestStep = h.ValidationCost, step, h.Step
		}
		if h.Step == 0 { // the rule, before anything was learned
			p.Rule = h.ValidationCost
			continue
		}
		loss.X, loss.Y = append(loss.X, step), append(loss.Y, h.Loss)
		for k, use := range h.GateUse {
			if len(gate) <= k {
				gate = append(gate, reports.LineSeries{Name: fmt.Sprintf("expert %d", k+1), Look: reports.Look(2 + k), Best: math.NaN()})
			}
			gate[k].X, gate[k].Y = append(gate[k].X, step), append(gate[k].Y, use)
		}
	}
	p.Course.Panels = []reports.LinePanel{
		{Axis: "loss", Series: []reports.LineSeries{loss}},
		{Axis: "validation cost", Series: []reports.LineSeries{cost}},
		{Axis: "mean weight of the expert", Percent: true, Series: gate},
	}
	return p
}

// calibrationFigure draws groups of forecasts; nil where there are none.
func calibrationFigure(title string, groups []Reliability) *reports.Calibration {
	if len(groups) == 0 {
		return nil
	}
	g := &reports.Calibration{Title: title}
	for i, r := range groups {
		g.Series = append(g.Series, reports.CalibrationSeries{
			Name: fmt.Sprintf("%s (%d)", r.Group, r.Count), Look: reports.Look(i), Levels: Levels, Observed: r.Within,
		})
	}
	return g
}

// coverageFigure draws the coverage of every replay, pair and month; nil where
// there is none.
func coverageFigure(list []Coverage) *reports.Dots {
	if len(list) == 0 {
		return nil
	}
	median := reports.DotPanel{Title: "within the median", Axis: "share of the waits", Percent: true, Marks: []reports.Mark{{Value: 0.5, Name: "50 %"}}}
	high := reports.DotPanel{Title: "within the 0.9 quantile", Axis: "share of the waits", Percent: true, Marks: []reports.Mark{{Value: 0.9, Name: "90 %"}}}
	crps := reports.DotPanel{Title: "CRPS", Axis: "hours"}
	g := &reports.Dots{Title: "Coverage by replay, pair and month"}
	for _, c := range list {
		nodes, _, _ := strings.Cut(c.Pair, " x ")
		g.Rows = append(g.Rows, reports.DotRow{Name: fmt.Sprintf("%s, %s, %s", c.Replay, nodes, c.Month)})
		median.Values, high.Values, crps.Values = append(median.Values, bare(c.At50)), append(high.Values, bare(c.At90)), append(crps.Values, bare(c.CRPS))
	}
	g.Panels = []reports.DotPanel{median, high, crps}
	return g
}

// bare is a dot without an interval.
func bare(v float64) reports.Dot { return reports.Dot{Value: v, Lo: v, Hi: v} }

// looks returns the look of each policy: the same in all figures.
func (v *Validation) looks() []reports.Look {
	looks, next := make([]reports.Look, len(v.Policies)), reports.Look(0)
	for i, p := range v.Policies {
		switch p.Name {
		case evaluation.ConstantName:
			looks[i] = reports.ConstantLook
		case evaluation.OracleName:
			looks[i] = reports.OracleLook
		default:
			looks[i] = next
			next++
		}
	}
	return looks
}

// frontier draws what the policies do on the fold; nil where it has no start.
func (v *Validation) frontier() *reports.Frontier {
	if v.Starts == 0 {
		return nil
	}
	f := &reports.Frontier{Title: fmt.Sprintf("Frontiers on the %d starts of the validation fold", v.Starts)}
	for i, look := range v.looks() {
		p := v.Policies[i]
		f.Series = append(f.Series, reports.FrontierSeries{Name: p.Name, Look: look, Points: p.Points, Tuned: p.Untuned})
	}
	return f
}

// costs draws what the policies cost there; nil where the fold has no start.
func (v *Validation) costs() *reports.Dots {
	if v.Starts == 0 {
		return nil
	}
	g := &reports.Dots{Title: "Costs on the validation fold", SameScale: true}
	looks := v.looks()
	for i, p := range v.Policies {
		if p.Untuned != nil {
			g.Rows = append(g.Rows, reports.DotRow{Name: p.Name, Look: looks[i]})
		}
	}
	for k, pair := range v.Pairs {
		panel := reports.DotPanel{Title: pair.String(), Axis: "cost, hours per start"}
		for _, p := range v.Policies {
			if p.Untuned != nil {
				c := p.Costs[k]
				panel.Values = append(panel.Values, reports.Dot{Value: float64(c.Mean), Lo: float64(c.Lo), Hi: float64(c.Hi)})
			}
		}
		g.Panels = append(g.Panels, panel)
	}
	return g
}
