package waits

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Source is the name of the forecaster in forecasts and decisions.
const Source = "trees"

// Kind is how a model's ensembles make a distribution.
type Kind string

// The kinds of models.
const (
	// Thresholds is one boosted ensemble for the log-odds that the wait is at
	// most t, with t as the last feature and a margin that never falls with it.
	Thresholds Kind = "thresholds"
	// AFT is one boosted ensemble for the location of an accelerated failure
	// time model: log(wait + Offset) = margin + Scale x standard normal.
	AFT Kind = "aft"
	// Quantiles is one boosted ensemble per level for the quantile of
	// log(wait + Offset).
	Quantiles Kind = "quantiles"
	// Forest is one random forest for log(wait + Offset), whose trees' own
	// answers are the distribution.
	Forest Kind = "forest"
)

// Offset is added to waits, in hours, before their logarithm is taken.
const Offset = 0.1

// Ensemble is a trained ensemble of trees, as predictor/trees reads it.
type Ensemble interface {
	// Features is the number of features that the ensemble was trained on.
	Features() int
	// Trees is the number of trees, Base the margin before the first of them.
	Trees() int
	Base() float64
	// Margin is Base and the sum of the trees for features that hold NaN where
	// nothing is known.
	Margin(features []float32) float64
	// PerTree sets out, which it may grow and returns, to what each tree adds.
	PerTree(features []float32, out []float64) []float64
}

// Spec describes a model; its JSON is part of a model's folder.
type Spec struct {
	Kind Kind `json:"kind"`
	// Levels are those of the Quantiles kind, one for each ensemble, ascending.
	Levels []float64 `json:"levels,omitempty"`
	// Scale is that of the AFT kind.
	Scale float64 `json:"scale,omitempty"`
}

// Model forecasts waits. It is not safe for concurrent use.
type Model struct {
	spec      Spec
	ensembles []Ensemble
	input     []float32
	margins   []float64
}

// New returns the model of spec, whose ensembles read that many features. The
// errors are of kind Invalid.
func New(spec Spec, features int, ensembles []Ensemble) (*Model, error) {
	if err := spec.validate(len(ensembles)); err != nil {
		return nil, fmt.Errorf("model of waits: %w", err)
	}
	want := features
	if spec.Kind == Thresholds {
		want++
	}
	for i, e := range ensembles {
		if e.Features() != want {
			return nil, segue.Errorf(segue.Invalid, "model of waits: ensemble %d reads %d features, want %d", i, e.Features(), want)
		}
	}
	return &Model{spec: spec, ensembles: ensembles}, nil
}

func (s Spec) validate(ensembles int) error {
	want := 1
	switch s.Kind {
	case Thresholds, Forest:
	case AFT:
		if !(s.Scale > 0) || math.IsInf(s.Scale, 0) {
			return segue.Errorf(segue.Invalid, "scale %v, want a positive number", s.Scale)
		}
	case Quantiles:
		want = len(s.Levels)
		for i, p := range s.Levels {
			if !(p > 0 && p < 1) || (i > 0 && p <= s.Levels[i-1]) {
				return segue.Errorf(segue.Invalid, "levels %v, want them ascending between 0 and 1", s.Levels)
			}
		}
	default:
		return segue.Errorf(segue.Invalid, "kind %q, want %s, %s, %s or %s", s.Kind, Thresholds, AFT, Quantiles, Forest)
	}
	if ensembles != want || want == 0 {
		return segue.Errorf(segue.Invalid, "%d ensembles, want %d for the kind %s", ensembles, want, s.Kind)
	}
	return nil
}

// Spec returns what the model was made from.
func (m *Model) Spec() Spec { return m.spec }

// ranks is the number of equally likely waits in a forecast.
const ranks = 40

// Forecast returns the distribution of the wait of a request submitted at the
// instant at, from its features.
func (m *Model) Forecast(at segue.Time, features []float32) segue.Forecast {
	waits := make([]time.Duration, 0, ranks)
	switch m.spec.Kind {
	case Thresholds:
		waits = m.fromThresholds(features, waits)
	case AFT:
		location := m.ensembles[0].Margin(features)
		for j := range ranks {
			waits = append(waits, unlog(location+m.spec.Scale*normalQuantile(rank(j))))
		}
	case Quantiles:
		waits = m.fromQuantiles(features, waits)
	case Forest:
		// Each tree of a forest was given its share of an average.
		forest := m.ensembles[0]
		m.margins = forest.PerTree(features, m.margins)
		slices.Sort(m.margins)
		for j := range ranks {
			own := m.margins[int(rank(j)*float64(len(m.margins)))]
			waits = append(waits, unlog(forest.Base()+float64(forest.Trees())*own))
		}
	}
	return segue.NewForecast(at, Source, waits)
}

// rank returns the level of the j-th of equally likely waits.
func rank(j int) float64 { return (float64(j) + 0.5) / ranks }

// unlog returns the wait whose shifted logarithm is given, of two weeks at most.
func unlog(v float64) time.Duration { return hours(math.Exp(min(v, 10)) - Offset) }

// longest bounds a forecast wait, in hours.
const longest = 14 * 24

func hours(h float64) time.Duration {
	return time.Duration(min(max(h, 0), longest) * float64(time.Hour))
}

// Grid is where the distribution of the Thresholds kind is looked at, in hours.
var Grid = [...]float64{
	1. / 60, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 36, 42, 48, 60, 72, 96,
}

// beyond is how far the tail after the last threshold reaches, as a multiple of
// it: what is left of the probability is spread evenly up to there.
const beyond = 1.5

// ThresholdFeature is the last feature of a Thresholds ensemble, for a
// threshold in hours.
func ThresholdFeature(hours float64) float32 { return float32(math.Log(hours + Offset)) }

// fromThresholds inverts the distribution function, which is a line between two
// thresholds.
func (m *Model) fromThresholds(features []float32, waits []time.Duration) []time.Duration {
	m.input = append(append(m.input[:0], features...), 0)
	m.margins = m.margins[:0]
	for _, t := range Grid {
		m.input[len(features)] = ThresholdFeature(t)
		p := 1 / (1 + math.Exp(-m.ensembles[0].Margin(m.input)))
		if n := len(m.margins); n > 0 {
			p = max(p, m.margins[n-1])
		}
		m.margins = append(m.margins, p)
	}
	k := 0
	for j := range ranks {
		level := rank(j)
		for k < len(Grid) && m.margins[k] < level {
			k++
		}
		t0, p0, t1, p1 := 0., 0., beyond*Grid[len(Grid)-1], 1.
		if k > 0 {
			t0, p0 = Grid[k-1], m.margins[k-1]
		}
		if k < len(Grid) {
			t1, p1 = Grid[k], m.margins[k]
		}
		if k == 0 {
			t1 = 0 // up to the first threshold counts as no wait at all
		}
		waits = append(waits, hours(t0+(t1-t0)*(level-p0)/(p1-p0)))
	}
	return waits
}

// fromQuantiles joins the quantiles by lines; beyond the outermost it is flat.
func (m *Model) fromQuantiles(features []float32, waits []time.Duration) []time.Duration {
	m.margins = m.margins[:0]
	for _, e := range m.ensembles {
		m.margins = append(m.margins, e.Margin(features))
	}
	slices.Sort(m.margins) // levels that cross are swapped (Chernozhukov et al., 2010)
	levels := m.spec.Levels
	for j := range ranks {
		k, _ := slices.BinarySearch(levels, rank(j))
		v := m.margins[min(k, len(levels)-1)]
		if k > 0 && k < len(levels) {
			v0 := m.margins[k-1]
			v = v0 + (v-v0)*(rank(j)-levels[k-1])/(levels[k]-levels[k-1])
		}
		waits = append(waits, unlog(v))
	}
	return waits
}

// normalQuantile returns the quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
