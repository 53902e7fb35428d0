package drift

import (
	"fmt"
	"math"
	"strconv"
)

// Check reports whether a row of features is like those of training. If it is
// not, why says what is unlike them, for example "pending_node_hours is 9,120,
// training saw at most 4,030".
func (p *Profile) Check(row []float32) (ok bool, why string) {
	if len(row) != len(p.Features) {
		return false, fmt.Sprintf("there are %d features, training had %d", len(row), len(p.Features))
	}
	if why := p.alone(row); why != "" {
		return false, why
	}
	return p.together(row)
}

// alone returns what is unlike training about the feature that is farthest from
// it, empty when none is far.
func (p *Profile) alone(row []float32) string {
	farthest, why, far := 0.0, "", 0
	for i := range p.Features {
		excess, text := p.Features[i].compare(float64(row[i]), p.Margin)
		if text == "" {
			continue
		}
		far++
		if excess > farthest || why == "" {
			farthest, why = excess, text
		}
	}
	if far > 1 {
		why += fmt.Sprintf("; %d features are like that", far)
	}
	return why
}

// compare returns how far beyond the extremes of training v is, in widths of
// the middle 99 %, and if that is more than the margin says so in words. A
// feature that was always the same has no width: only what never occurred, a 0,
// and now does is told here. The rest is left to the joint distance.
func (f *Range) compare(v, margin float64) (excess float64, why string) {
	missing := math.IsNaN(v)
	switch {
	case missing && f.Missing > 0:
		return 0, ""
	case missing:
		return math.Inf(1), f.Name + " is missing, training always had it"
	case f.Missing == 1:
		return math.Inf(1), fmt.Sprintf("%s is %s, training never had it", f.Name, number(v))
	}
	if f.constant() {
		if f.Min != 0 || v == 0 {
			return 0, ""
		}
		return math.Inf(1), fmt.Sprintf("%s is %s, in training it was always 0", f.Name, number(v))
	}
	beyond := max(v-f.Max, f.Min-v)
	if beyond <= margin*f.spread() {
		return 0, ""
	}
	excess = beyond / f.spread() // infinite for a feature that hardly ever varied
	if v > f.Max {
		return excess, fmt.Sprintf("%s is %s, training saw at most %s", f.Name, number(v), number(f.Max))
	}
	return excess, fmt.Sprintf("%s is %s, training saw at least %s", f.Name, number(v), number(f.Min))
}

// together compares the joint distance of a row with its limit.
func (p *Profile) together(row []float32) (ok bool, why string) {
	solved := make([]float64, len(row))
	d := p.distance(row, solved)
	if d <= p.Joint.Limit {
		return true, ""
	}
	return false, fmt.Sprintf("the features together are unlike training, %s most: distance %.1f, training stayed within %.1f",
		p.Features[p.leading(row, solved)].Name, d, p.Joint.Limit)
}

// distance returns the Mahalanobis distance of a row from the mean of training,
// sqrt(z' R^-1 z) with the standardised row z and the shrunk correlations R
// (Mahalanobis, 1936). It leaves L^-1 z in solved, where R = L L'.
func (p *Profile) distance(row []float32, solved []float64) float64 {
	sum, at := 0.0, 0
	for i := range row {
		v := p.Features[i].standardise(row[i])
		for j := range i {
			v -= p.Joint.Factor[at+j] * solved[j]
		}
		v /= p.Joint.Factor[at+i]
		solved[i] = v
		sum += v * v
		at += i + 1
	}
	return math.Sqrt(sum)
}

// leading returns the feature i with the greatest part z_i (R^-1 z)_i of the
// squared distance, given L^-1 z, which it overwrites with R^-1 z.
func (p *Profile) leading(row []float32, solved []float64) int {
	leading, most := 0, math.Inf(-1)
	for i := len(solved) - 1; i >= 0; i-- {
		for j := i + 1; j < len(solved); j++ {
			solved[i] -= p.Joint.Factor[triangle(j)+i] * solved[j]
		}
		solved[i] /= p.Joint.Factor[triangle(i+1)-1]
		if part := p.Features[i].standardise(row[i]) * solved[i]; part > most {
			leading, most = i, part
		}
	}
	return leading
}

// number returns v for a sentence: whole and with commas from 1,000 on, else
// with four digits.
func number(v float64) string {
	if !(math.Abs(v) >= 1000 && math.Abs(v) < 1e15) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	s := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
