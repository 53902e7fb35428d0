package drift

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/segue-project/segue"
)

// format is the version of the JSON of a profile.
const format = 1

// Profile is what the rows of training looked like. Its JSON is the content of
// a model's drift.json.
type Profile struct {
	Format   int     `json:"format"`
	Rows     int     `json:"rows"`
	Margin   float64 `json:"margin"` // of Config
	Features []Range `json:"features"`
	Joint    Joint   `json:"joint"`
}

// Range is what training saw of one feature. Rows in which it was missing (NaN)
// count for Missing alone.
type Range struct {
	Name string  `json:"name"`
	Min  float64 `json:"min"`
	Low  float64 `json:"low"`  // the 0.5 % quantile
	High float64 `json:"high"` // the 99.5 % quantile
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	// Missing is the share of rows without the feature; at 1 the other numbers
	// are 0 and mean nothing.
	Missing float64 `json:"missing"`
}

// Joint is what training saw of all features together.
type Joint struct {
	// Factor is the lower triangle, row by row, of the Cholesky factor of the
	// shrunk correlation matrix of the features.
	Factor []float64 `json:"factor"`
	// Limit is the distance beyond which a row is far from training.
	Limit float64 `json:"limit"`
}

// Encode returns the JSON of the profile.
func (p *Profile) Encode() ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode what training saw: %w", err)
	}
	return append(text, '\n'), nil
}

// Read reads the JSON of a profile. The errors are of kind Corrupt: unknown keys,
// another version, or numbers that no training rows could have.
func Read(text []byte) (*Profile, error) {
	var p Profile
	if err := segue.UnmarshalStrict(text, &p); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "read what training saw: %w", err)
	}
	if err := p.validate(); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "read what training saw: %w", err)
	}
	return &p, nil
}

func (p *Profile) validate() error {
	width := len(p.Features)
	switch {
	case p.Format != format:
		return fmt.Errorf("format is %d, want %d", p.Format, format)
	case p.Rows < 1 || width == 0:
		return fmt.Errorf("%d rows of %d features, want at least one", p.Rows, width)
	case !(p.Margin >= 0):
		return fmt.Errorf("margin is %v, want 0 or more", p.Margin)
	case len(p.Joint.Factor) != triangle(width):
		return fmt.Errorf("joint.factor has %d numbers, want %d for %d features", len(p.Joint.Factor), triangle(width), width)
	case !(p.Joint.Limit >= 0):
		return fmt.Errorf("joint.limit is %v, want 0 or more", p.Joint.Limit)
	}
	for i := range width {
		if pivot := p.Joint.Factor[triangle(i+1)-1]; !(pivot > 0) {
			return fmt.Errorf("joint.factor: the diagonal has %v, want more than 0", pivot)
		}
	}
	for i, f := range p.Features {
		if !(f.Min <= f.Low && f.Low <= f.High && f.High <= f.Max && f.SD >= 0 && f.Missing >= 0 && f.Missing <= 1) {
			return fmt.Errorf("features[%d], %q: the numbers are out of order", i, f.Name)
		}
	}
	return nil
}

// triangle returns how many numbers the lower triangle of n rows has.
func triangle(n int) int { return n * (n + 1) / 2 }

// spread returns the width of the middle 99 %.
func (f *Range) spread() float64 { return f.High - f.Low }

// constant reports whether training saw one value of the feature only.
func (f *Range) constant() bool { return f.Min == f.Max && f.Missing < 1 }

// standardise returns (x-mean)/sd; 0 for a missing value. A feature that was
// always the same is measured in units of its own size, for want of another one:
// 1 is twice as much. One that was always 0 is told alone.
func (f *Range) standardise(x float32) float64 {
	v := float64(x)
	switch {
	case math.IsNaN(v):
		return 0
	case f.constant() && f.Min != 0:
		return (v - f.Min) / math.Abs(f.Min)
	case !f.constant() && f.SD > 0:
		return (v - f.Mean) / f.SD
	}
	return 0
}
