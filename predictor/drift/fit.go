package drift

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/segue-project/segue"
)

// Config holds how far is far. The zero value is what the project uses.
type Config struct {
	// Margin is how far beyond the extremes that training saw one feature may
	// be, in widths of the middle 99 % of its values. Default 0.5: a month that
	// is busier than those before it is no reason for mistrust.
	Margin float64
	// Quantile of the training rows' joint distance that is the limit of what
	// counts as like training. Default 0.999.
	Quantile float64
	// Shrinkage is the weight, from 0 to 1, of the identity in the correlation
	// matrix: it keeps the distance steady where features nearly determine
	// each other. Default 0.1.
	Shrinkage float64
}

func (c Config) withDefaults() Config {
	if c.Margin == 0 {
		c.Margin = 0.5
	}
	if c.Quantile == 0 {
		c.Quantile = 0.999
	}
	if c.Shrinkage == 0 {
		c.Shrinkage = 0.1
	}
	return c
}

func (c Config) validate() error {
	switch {
	case !(c.Margin > 0) || math.IsInf(c.Margin, 0):
		return segue.Errorf(segue.Invalid, "Margin is %v, want a positive number", c.Margin)
	case !(c.Quantile > 0 && c.Quantile <= 1):
		return segue.Errorf(segue.Invalid, "Quantile is %v, want more than 0 and at most 1", c.Quantile)
	case !(c.Shrinkage > 0 && c.Shrinkage <= 1):
		return segue.Errorf(segue.Invalid, "Shrinkage is %v, want more than 0 and at most 1", c.Shrinkage)
	}
	return nil
}

// Fit returns the profile of the training rows, which lie one after the other
// with a value for each of the names; NaN is a missing value. It takes time in
// proportion to rows x names^2. The errors are of kind Invalid.
func Fit(rows []float32, names []string, cfg Config) (*Profile, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("fit what training saw: %w", err)
	}
	width := len(names)
	if width == 0 || len(rows) == 0 || len(rows)%width != 0 {
		return nil, segue.Errorf(segue.Invalid, "fit what training saw: %d values are no rows of %d features", len(rows), width)
	}
	for i, v := range rows {
		if math.IsInf(float64(v), 0) {
			return nil, segue.Errorf(segue.Invalid, "fit what training saw: row %d, %s is %v", i/width, names[i%width], v)
		}
	}
	p := &Profile{Format: format, Rows: len(rows) / width, Margin: cfg.Margin}
	for i, name := range names {
		p.Features = append(p.Features, rangeOf(name, rows[i:], width))
	}
	if err := p.fitJoint(rows, cfg); err != nil {
		return nil, err
	}
	return p, nil
}

// rangeOf returns the range of a feature whose values are width apart.
func rangeOf(name string, values []float32, width int) Range {
	var present []float64
	rows := 0
	for i := 0; i < len(values); i += width {
		rows++
		if v := float64(values[i]); !math.IsNaN(v) {
			present = append(present, v)
		}
	}
	r := Range{Name: name, Missing: float64(rows-len(present)) / float64(rows)}
	if len(present) == 0 {
		return r
	}
	slices.Sort(present)
	r.Min, r.Max = present[0], present[len(present)-1]
	r.Low = stat.Quantile(0.005, stat.Empirical, present, nil)
	r.High = stat.Quantile(0.995, stat.Empirical, present, nil)
	r.Mean = stat.Mean(present, nil)
	r.SD = math.Sqrt(stat.MomentAbout(2, present, r.Mean, nil))
	return r
}

// fitJoint factors the shrunk correlation matrix and measures the training
// rows by it. A missing value counts as the mean.
func (p *Profile) fitJoint(rows []float32, cfg Config) error {
	width := len(p.Features)
	correlation := mat.NewSymDense(width, nil)
	z := mat.NewVecDense(width, nil)
	for row := range slices.Chunk(rows, width) {
		for i := range p.Features {
			z.SetVec(i, p.Features[i].standardise(row[i]))
		}
		correlation.SymRankOne(correlation, 1, z)
	}
	correlation.ScaleSym((1-cfg.Shrinkage)/float64(p.Rows), correlation)
	for i := range width {
		correlation.SetSym(i, i, correlation.At(i, i)+cfg.Shrinkage)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(correlation) {
		return segue.Errorf(segue.Invalid, "fit what training saw: the features' correlations cannot be factored")
	}
	var lower mat.TriDense
	cholesky.LTo(&lower)
	for i := range width {
		for j := range i + 1 {
			p.Joint.Factor = append(p.Joint.Factor, lower.At(i, j))
		}
	}
	distances := make([]float64, 0, p.Rows)
	scratch := make([]float64, width)
	for row := range slices.Chunk(rows, width) {
		distances = append(distances, p.distance(row, scratch))
	}
	slices.Sort(distances)
	p.Joint.Limit = stat.Quantile(cfg.Quantile, stat.Empirical, distances, nil)
	return nil
}
