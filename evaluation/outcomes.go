package evaluation

import (
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Names of the two yardsticks. No policy under test may bear them.
const (
	ConstantName = "constant"
	OracleName   = "oracle"
)

// Outcomes is what one policy achieved: X[k][i] is the signed outcome in hours
// of start i when the policy's parameter is Params[k]. Positive is an
// interruption, negative an overlap. A policy without a parameter has one row
// and may leave Params nil.
type Outcomes struct {
	Name   string
	Params []float64
	X      [][]float64
}

// Starts are the starts of a backtest: when each predecessor's pair began, and
// the outcome in hours of submitting the successor only when the predecessor
// ends, which is never negative and sorts starts by load.
type Starts struct {
	At       []segue.Time
	Reactive []float64
}

// Trial is all that was observed on one set of starts.
type Trial struct {
	Starts Starts
	// Constant holds the outcome of every lead, Params in hours before the
	// predecessor's end. It is the yardstick at 0, and the oracle chooses
	// among its rows.
	Constant Outcomes
	Policies []Outcomes
}

// Len returns the number of starts.
func (t Trial) Len() int { return len(t.Starts.At) }

// In returns the part of the trial whose starts belong to p, by
// [Period.Holds].
func (t Trial) In(p Period, embargo time.Duration) Trial {
	var keep []int
	for i, at := range t.Starts.At {
		if p.Holds(at, embargo) {
			keep = append(keep, i)
		}
	}
	part := Trial{
		Starts:   Starts{At: pick(t.Starts.At, keep), Reactive: pick(t.Starts.Reactive, keep)},
		Constant: t.Constant.pick(keep),
	}
	for _, policy := range t.Policies {
		part.Policies = append(part.Policies, policy.pick(keep))
	}
	return part
}

// all returns the policies that need tuning: the constant lead, by its name,
// and then the others.
func (t Trial) all() []Outcomes {
	constant := t.Constant
	constant.Name = ConstantName
	return append([]Outcomes{constant}, t.Policies...)
}

// join returns the starts of both trials, which have the same shape.
func (t Trial) join(u Trial) Trial {
	joined := Trial{
		Starts: Starts{
			At:       slices.Concat(t.Starts.At, u.Starts.At),
			Reactive: slices.Concat(t.Starts.Reactive, u.Starts.Reactive),
		},
		Constant: t.Constant.join(u.Constant),
	}
	for p, policy := range t.Policies {
		joined.Policies = append(joined.Policies, policy.join(u.Policies[p]))
	}
	return joined
}

func (o Outcomes) join(u Outcomes) Outcomes {
	joined := Outcomes{Name: o.Name, Params: o.Params}
	for k, row := range o.X {
		joined.X = append(joined.X, slices.Concat(row, u.X[k]))
	}
	return joined
}

func (o Outcomes) pick(keep []int) Outcomes {
	part := Outcomes{Name: o.Name, Params: o.Params, X: make([][]float64, len(o.X))}
	for k, row := range o.X {
		part.X[k] = pick(row, keep)
	}
	return part
}

func pick[T any](values []T, keep []int) []T {
	part := make([]T, len(keep))
	for k, i := range keep {
		part[k] = values[i]
	}
	return part
}

// Point is a mean outcome, in hours.
type Point struct {
	Overlap      float64 `json:"overlap_hours"`
	Interruption float64 `json:"interruption_hours"`
}

// Cost returns interruption + price x overlap.
func (p Point) Cost(price float64) float64 { return p.Interruption + price*p.Overlap }

// PointOf returns the interruption and the overlap of one signed outcome.
func PointOf(x float64) Point {
	return Point{Overlap: max(0, -x), Interruption: max(0, x)}
}

// Mean returns the mean point of the signed outcomes xs, NaN when there are
// none.
func Mean(xs []float64) Point {
	var sum Point
	for _, x := range xs {
		p := PointOf(x)
		sum.Overlap += p.Overlap
		sum.Interruption += p.Interruption
	}
	n := float64(len(xs))
	return Point{Overlap: sum.Overlap / n, Interruption: sum.Interruption / n}
}

// Points returns the mean point of every row.
func (o Outcomes) Points() []Point {
	points := make([]Point, len(o.X))
	for k, row := range o.X {
		points[k] = Mean(row)
	}
	return points
}

// validate refuses a trial whose shapes disagree or whose values are not
// finite; the message names the policy, the row and the start.
func (t Trial) validate() error {
	n := t.Len()
	switch {
	case n == 0:
		return segue.Errorf(segue.Invalid, "no starts")
	case len(t.Starts.Reactive) != n:
		return segue.Errorf(segue.Invalid, "%d starts have %d reactive outcomes", n, len(t.Starts.Reactive))
	}
	if err := t.all()[0].validate(n); err != nil {
		return err
	}
	seen := map[string]bool{"": true, ConstantName: true, OracleName: true}
	for _, policy := range t.Policies {
		if seen[policy.Name] {
			return segue.Errorf(segue.Invalid, "policy name %q is empty, reserved or used twice", policy.Name)
		}
		seen[policy.Name] = true
		if err := policy.validate(n); err != nil {
			return err
		}
	}
	return nil
}

func (o Outcomes) validate(starts int) error {
	switch {
	case len(o.X) == 0:
		return segue.Errorf(segue.Invalid, "policy %q has no outcomes", o.Name)
	case len(o.Params) != len(o.X) && !(o.Params == nil && len(o.X) == 1):
		return segue.Errorf(segue.Invalid, "policy %q has %d parameter values and %d rows of outcomes",
			o.Name, len(o.Params), len(o.X))
	}
	for k, row := range o.X {
		if o.Params != nil && !finite(o.Params[k]) {
			return segue.Errorf(segue.Invalid, "policy %q, row %d: parameter is %v", o.Name, k, o.Params[k])
		}
		if len(row) != starts {
			return segue.Errorf(segue.Invalid, "policy %q, row %d has %d outcomes, want %d", o.Name, k, len(row), starts)
		}
		for i, x := range row {
			if !finite(x) {
				return segue.Errorf(segue.Invalid, "policy %q, row %d, start %d: outcome is %v", o.Name, k, i, x)
			}
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
