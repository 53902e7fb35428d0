package reports

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Lines draws how numbers develop, in panels below each other that share the
// axis from left to right: the course of a training.
type Lines struct {
	Title string
	X     string // what is counted from left to right
	// Panels lie one below the other; one without a number is left out.
	Panels []LinePanel
}

// LinePanel is one of the panels of Lines, with a scale of its own.
type LinePanel struct {
	Axis string // what is measured, with its unit
	// Percent writes values as per cent of 1, on a scale from 0 to 1.
	Percent bool
	Series  []LineSeries
}

// LineSeries is one line. X ascends; Y[i] belongs to X[i]. What is not finite is
// left out.
type LineSeries struct {
	Name string
	Look Look
	X, Y []float64
	// Best is the X that is to be marked; NaN, or one that the line does not
	// have, marks none.
	Best float64
}

// Sizes in pixels of the panels of Lines.
const (
	linePanelHeight = 150
	linePanelGap    = 44
)

// Draw implements Figure.
func (g Lines) Draw(width int) Drawing {
	w := widthOf(width)
	panels := g.drawable()
	if len(panels) == 0 {
		return empty(w, g.Title)
	}
	x := g.xAxis(panels, w)
	charts := make([]*chart, len(panels))
	top, left := float64(titleRoom), 0.0
	for i, p := range panels {
		charts[i] = &chart{top: top, right: w - 12, bottom: top + linePanelHeight, x: x, y: p.yAxis()}
		top = charts[i].bottom + linePanelGap
		left = max(left, labelRoom(charts[i].y))
	}
	last := charts[len(charts)-1]
	legend := linesLegend(panels)
	d := newDrawing(w, last.bottom+footRoom+legendHeight(legend, w)+4, g.Title, g.description(panels))
	for i, c := range charts {
		c.drawing, c.left = d, left
		if c != last { // the labels below the last panel are enough
			c.x.title, c.x.ticks = "", slices.Clone(c.x.ticks)
			for k := range c.x.ticks {
				c.x.ticks[k].label = ""
			}
		}
		c.grid()
		for _, s := range panels[i].Series {
			c.development(s)
		}
	}
	d.legendRows(legend, last.bottom+footRoom+8, w)
	return d.finish()
}

// drawable returns the panels with the series that have numbers.
func (g Lines) drawable() []LinePanel {
	var panels []LinePanel
	for _, p := range g.Panels {
		p.Series = slices.DeleteFunc(slices.Clone(p.Series), func(s LineSeries) bool { return len(s.points()) == 0 })
		if len(p.Series) > 0 {
			panels = append(panels, p)
		}
	}
	return panels
}

// points returns the pairs that are numbers.
func (s LineSeries) points() [][2]float64 {
	var points [][2]float64
	for i := range min(len(s.X), len(s.Y)) {
		if finite(s.X[i]) && finite(s.Y[i]) {
			points = append(points, [2]float64{s.X[i], s.Y[i]})
		}
	}
	return points
}

// xAxis covers all points of all panels.
func (g Lines) xAxis(panels []LinePanel, width float64) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, s := range p.Series {
			for _, q := range s.points() {
				lo, hi = min(lo, q[0]), max(hi, q[0])
			}
		}
	}
	lo, hi = sound(lo, hi)
	return linearAxis(g.X, lo, hi, int(width/80)).within(lo, hi)
}

// yAxis covers the values, and of shares all from 0 to 1.
func (p LinePanel) yAxis() axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, q := range s.points() {
			lo, hi = min(lo, q[1]), max(hi, q[1])
		}
	}
	if !p.Percent {
		return linearAxis(p.Axis, lo, hi, 4)
	}
	a := linearAxis(p.Axis, 0, 1, 4)
	for i, t := range a.ticks {
		a.ticks[i].label = percent(t.value)
	}
	return a
}

// development draws a line, and a marker where it was best.
func (c *chart) development(s LineSeries) {
	var line []at
	points := s.points()
	for _, p := range points {
		line = append(line, c.at(p[0], p[1]))
	}
	c.polyline("curve "+s.Look.class()+s.Look.dash(), decimate(line, int(c.right-c.left)), s.Name)
	for i, p := range points {
		if p[0] == s.Best || len(points) == 1 {
			c.marker("dot "+s.Look.class(), s.Look.shape(), line[i], fmt.Sprintf("%s: %s at %s", s.Name, precise(p[1]), precise(p[0])))
		}
	}
}

// linesLegend has every name once.
func linesLegend(panels []LinePanel) []entry {
	var legend []entry
	for _, p := range panels {
		for _, s := range p.Series {
			if slices.ContainsFunc(legend, func(e entry) bool { return e.name == s.Name }) {
				continue
			}
			legend = append(legend, entry{name: s.Name, draw: func(d *drawing, x, y float64) {
				d.line("curve "+s.Look.class()+s.Look.dash(), x, y, x+24, y)
				if finite(s.Best) {
					d.marker("dot "+s.Look.class(), s.Look.shape(), at{x + 12, y}, "")
				}
			}})
		}
	}
	return legend
}

func (g Lines) description(panels []LinePanel) string {
	series := 0
	for _, p := range panels {
		series += len(p.Series)
	}
	return fmt.Sprintf("%d lines in %d panels, against %s. The table below holds the numbers.", series, len(panels), g.X)
}

// mostLineRows is about how many rows the table of Lines has.
const mostLineRows = 24

// Table implements Figure: a column for each line, and rows for about two dozen
// of the places at which one has a number, and for all that are marked.
func (g Lines) Table() Table {
	t := Table{Columns: []string{g.X}}
	var all, marked []float64
	var values []map[float64]float64
	for _, p := range g.drawable() {
		for _, s := range p.Series {
			name := s.Name
			if len(g.Panels) > 1 && p.Axis != s.Name {
				name += ", " + p.Axis
			}
			t.Columns = append(t.Columns, name)
			at := map[float64]float64{}
			for _, q := range s.points() {
				at[q[0]] = q[1]
				all = append(all, q[0])
			}
			if _, ok := at[s.Best]; ok {
				marked = append(marked, s.Best)
			}
			values = append(values, at)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	var places []float64
	for _, i := range evenly(len(all), mostLineRows) {
		places = append(places, all[i])
	}
	places = append(places, marked...)
	slices.Sort(places)
	for _, x := range slices.Compact(places) {
		row := []string{precise(x)}
		for _, at := range values {
			y, ok := at[x]
			if !ok {
				y = math.NaN()
			}
			row = append(row, precise(y))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// precise writes v with four digits: 0.1534, 12.3, 4000.
func precise(v float64) string {
	if !finite(v) {
		return unknown
	}
	digits := 4
	if size := math.Abs(v); size >= 1 {
		digits = max(0, 3-int(math.Log10(size)))
	}
	return minus(strconv.FormatFloat(roundTo(v, digits), 'f', -1, 64))
}
