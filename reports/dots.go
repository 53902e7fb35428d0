package reports

import (
	"fmt"
	"math"
	"strings"
)

// Dots compares values row by row: a dot for each, with a whisker for its
// interval, in one or more panels side by side.
type Dots struct {
	Title  string
	Row    string // what a row is, as the table calls it: "month"
	Rows   []DotRow
	Panels []DotPanel
	// SameScale draws all panels to the scale of the widest; without it, each
	// has its own.
	SameScale bool
}

// DotRow is what the dots of one line belong to: a policy.
type DotRow struct {
	Name string
	Look Look
}

// DotPanel is one column of dots. Values belong to the rows one by one; a value
// that is not finite is written as unknown.
type DotPanel struct {
	Title string // "heavy (21 starts)"
	Axis  string // what is measured, with its unit
	// Percent writes values as per cent of 1.
	Percent bool
	Values  []Dot
	// Marks are values to compare with, each with a vertical line.
	Marks []Mark
	// Least, where it is not 0, is the least value on the scale: what goes
	// beyond ends in an arrow.
	Least float64
}

// Dot is a value and its interval; an unknown bound is NaN, and Lo = Hi = the
// value draws no whisker.
type Dot struct{ Value, Lo, Hi float64 }

// Mark is a value to compare with.
type Mark struct {
	Value float64
	Name  string
}

// Sizes in pixels.
const (
	dotRow    = 26 // of a row with its name beside it
	namedRow  = 42 // of a row with its name above it
	panelHead = 34 // for the title of a panel
	panelGap  = 28
)

// Draw implements Figure. On a narrow drawing the panels lie below each other
// and the names of the rows above their lines.
func (g Dots) Draw(width int) Drawing {
	w := widthOf(width)
	if len(g.Rows) == 0 || len(g.Panels) == 0 {
		return empty(w, g.Title)
	}
	columns, row, left := g.columns(w), float64(dotRow), g.nameRoom(w)
	if isNarrow(w) {
		row, left = namedRow, 6
	}
	head := float64(panelHead)
	for _, p := range g.Panels {
		if len(p.Marks) > 0 {
			head = panelHead + lineRoom
		}
	}
	lines := (len(g.Panels) + columns - 1) / columns
	pitch := head + row*float64(len(g.Rows)) + footRoom + panelGap
	panelWidth := (w - left - panelGap*float64(columns-1)) / float64(columns)
	d := newDrawing(w, pitch*float64(lines)-panelGap, g.Title, g.description())
	for i, p := range g.Panels {
		c := &chart{drawing: d, left: left + float64(i%columns)*(panelWidth+panelGap), top: float64(i/columns)*pitch + head}
		c.right, c.bottom = c.left+panelWidth, c.top+row*float64(len(g.Rows))
		titleAt := c.left
		if isNarrow(w) {
			titleAt = 0
		}
		c.text("strong", fromStart, titleAt, c.top-head+16, fit(p.Title, panelWidth/1.13))
		c.panel(p, g, row)
		for k, r := range g.Rows {
			switch {
			case isNarrow(w):
				d.name("halo", fromStart, 0, c.top+float64(k)*row+16, w, r.Name)
			case i%columns == 0:
				d.name("label", toEnd, left-12, c.top+(float64(k)+0.5)*row+4, left-12, r.Name)
			}
		}
	}
	return d.finish()
}

// columns returns how many panels lie side by side.
func (g Dots) columns(width float64) int {
	switch {
	case isNarrow(width):
		return 1
	case len(g.Panels) == 4:
		return 2
	}
	return min(len(g.Panels), 3)
}

// nameRoom returns the room for the names of the rows beside them.
func (g Dots) nameRoom(width float64) float64 {
	longest := 0.0
	for _, r := range g.Rows {
		longest = max(longest, textWidth(r.Name))
	}
	return min(longest, 0.28*width) + 12
}

// panel draws p into the chart's area: the dots, and at its right edge their
// values.
func (c *chart) panel(p DotPanel, g Dots, row float64) {
	edge := c.right
	labels := make([]string, len(g.Rows))
	for i := range g.Rows {
		labels[i] = p.label(p.value(i).Value)
	}
	c.right -= widest(labels) + 14
	lo, hi := p.extent()
	if g.SameScale {
		for _, other := range g.Panels {
			least, most := other.extent()
			lo, hi = min(lo, least), max(hi, most)
		}
	}
	c.x = p.axis(lo, hi, c.right-c.left)
	rowAt := func(i int) float64 { return c.top + float64(i+1)*row - dotRow/2 }
	for i := range g.Rows {
		c.line("rule", c.left, rowAt(i), c.right, rowAt(i))
	}
	for _, m := range p.Marks {
		x, half := c.px(m.Value), textWidth(m.Name)/2
		c.line("mark", x, c.top-4, x, c.bottom)
		c.text("tick", centred, min(max(x, c.left-10+half), edge-half), c.top-9, m.Name)
	}
	c.foot()
	for i, r := range g.Rows {
		c.text("note", toEnd, edge, rowAt(i)+4, labels[i])
		if v := p.value(i); finite(v.Value) {
			c.dot(v, r, rowAt(i), r.Name+": "+p.inFull(v))
		}
	}
}

// dot draws v with its interval; a value below the scale is an arrow.
func (c *chart) dot(v Dot, r DotRow, y float64, tip string) {
	class := r.Look.class()
	if v.Value < c.x.lo {
		c.whiskerEnd(v.Value, c.x.lo, -1, class, y)
		return
	}
	c.whisker(v, class, y)
	c.marker("dot "+class, r.Look.shape(), at{c.px(v.Value), y}, tip)
}

// whisker draws the interval of v; an end beyond the scale, or unknown, has an
// arrow, the others a bar.
func (c *chart) whisker(v Dot, class string, y float64) {
	if v.Lo == v.Value && v.Hi == v.Value {
		return
	}
	lo, hi := v.Lo, v.Hi
	if !finite(lo) && !finite(hi) {
		return
	}
	c.whiskerEnd(lo, c.x.lo, -1, class, y)
	c.whiskerEnd(hi, c.x.hi, 1, class, y)
	if !finite(lo) {
		lo = c.x.lo
	}
	if !finite(hi) {
		hi = c.x.hi
	}
	c.line("whisker "+class, c.px(lo), y, c.px(hi), y)
}

func (c *chart) whiskerEnd(v, end, direction float64, class string, y float64) {
	if !finite(v) || direction*(v-end) > 0 {
		x := c.px(end)
		c.polygon("bar "+class, []at{{x + 3*direction, y}, {x - 5*direction, y - 5}, {x - 5*direction, y + 5}}, "")
		return
	}
	c.line("whisker "+class, c.px(v), y-5, c.px(v), y+5)
}

// extent returns the ends of a scale for the values, their intervals and the
// marks; 0 is always on it.
func (p DotPanel) extent() (lo, hi float64) {
	cover := func(v float64) {
		if finite(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, v := range p.Values {
		cover(v.Value)
		cover(v.Lo)
		cover(v.Hi)
	}
	for _, m := range p.Marks {
		cover(m.Value)
	}
	if p.Least != 0 && finite(p.Least) {
		lo = max(lo, p.Least)
	}
	return lo, hi
}

// axis covers lo to hi with a little air on both sides, but for a 0 at its
// left end.
func (p DotPanel) axis(lo, hi, width float64) axis {
	lo, hi = sound(lo, hi)
	air := 0.04 * (hi - lo)
	if lo < 0 {
		lo -= air
	}
	hi += air
	a := linearAxis(p.Axis, lo, hi, int(max(width/34, 2))).within(lo, hi)
	if p.Percent {
		for i, t := range a.ticks {
			a.ticks[i].label = percent(t.value)
		}
	}
	return a
}

func (p DotPanel) value(i int) Dot {
	if i < len(p.Values) {
		return p.Values[i]
	}
	return Dot{math.NaN(), math.NaN(), math.NaN()}
}

func (p DotPanel) label(v float64) string {
	if p.Percent {
		return percent(v)
	}
	return decimal(v)
}

// inFull writes a value with its interval: "1.33 (1.10 to 1.61)".
func (p DotPanel) inFull(v Dot) string {
	if !finite(v.Value) || (v.Lo == v.Value && v.Hi == v.Value) {
		return p.label(v.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", p.label(v.Value), strings.TrimSuffix(p.label(v.Lo), " %"), p.label(v.Hi))
}

func (g Dots) description() string {
	return fmt.Sprintf("Dots with intervals for %d rows in %d panels. The table below holds the numbers.",
		len(g.Rows), len(g.Panels))
}

// Table implements Figure: a column for each panel.
func (g Dots) Table() Table {
	t := Table{Columns: []string{g.Row}}
	for _, p := range g.Panels {
		title := p.Title
		if title == "" {
			title = p.Axis
		}
		t.Columns = append(t.Columns, title)
	}
	for i, r := range g.Rows {
		row := []string{r.Name}
		for _, p := range g.Panels {
			row = append(row, p.inFull(p.value(i)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
