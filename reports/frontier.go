package reports

import (
	"fmt"
	"slices"

	"github.com/segue-project/segue/evaluation"
)

// Frontier draws, for each policy, the mean interruption that is left at each
// mean overlap. Both are in hours per start; lower and further left is better.
type Frontier struct {
	Title string
	// MaxOverlap is the right end of the drawing in hours. Default 8.
	MaxOverlap float64
	Series     []FrontierSeries
}

// FrontierSeries is one policy. Its line is the frontier of Points. Tuned is
// where the tuned policy lies, nil when it is not to be marked.
type FrontierSeries struct {
	Name   string
	Look   Look
	Points []evaluation.Point
	Tuned  *evaluation.Point
}

func (f Frontier) maxOverlap() float64 {
	if f.MaxOverlap > 0 && finite(f.MaxOverlap) {
		return f.MaxOverlap
	}
	return 8
}

// Draw implements Figure.
func (f Frontier) Draw(width int) Drawing {
	w := widthOf(width)
	series := f.drawable()
	if len(series) == 0 {
		return empty(w, f.Title)
	}
	highest := 0.0
	var legend []entry
	for _, s := range series {
		highest = max(highest, s.frontier().Vertices()[0].Interruption)
		legend = append(legend, s.entry())
	}
	c := &chart{top: titleRoom}
	c.x = hourAxis("mean overlap, hours", 0, f.maxOverlap(), 8).within(0, f.maxOverlap())
	c.y = linearAxis("mean interruption, hours", 0, highest, 6)
	c.left = labelRoom(c.y)
	height := 400.0
	if isNarrow(w) {
		c.right, c.bottom = w-8, 270
		height = c.bottom + footRoom + legendHeight(legend, w)
	} else {
		c.right, c.bottom = w-legendWidth(legend)-16, height-footRoom
	}
	c.drawing = newDrawing(w, height, f.Title, f.description(series))
	c.grid()
	for _, s := range series {
		c.polyline("curve "+s.Look.class()+s.Look.dash(), c.frontierLine(s, f.maxOverlap()), s.Name)
	}
	for _, s := range series {
		if s.Tuned != nil && s.Tuned.Overlap <= f.maxOverlap() {
			c.marker("dot "+s.Look.class(), s.Look.shape(), c.at(s.Tuned.Overlap, s.Tuned.Interruption),
				fmt.Sprintf("%s as tuned: %s h interruption, %s h overlap",
					s.Name, decimal(s.Tuned.Interruption), decimal(s.Tuned.Overlap)))
		}
	}
	if isNarrow(w) {
		c.legendRows(legend, c.bottom+footRoom+8, w)
	} else {
		c.legendColumn(legend, c.right+16, c.top+8, w-c.right-16)
	}
	return c.finish()
}

// drawable returns the series that reach into the drawing.
func (f Frontier) drawable() []FrontierSeries {
	var series []FrontierSeries
	for _, s := range f.Series {
		if finite(s.frontier().At(f.maxOverlap())) {
			series = append(series, s)
		}
	}
	return series
}

// frontier returns the frontier of the points that are numbers.
func (s FrontierSeries) frontier() evaluation.Frontier {
	return evaluation.NewFrontier(slices.DeleteFunc(slices.Clone(s.Points), func(p evaluation.Point) bool {
		return !finite(p.Overlap) || !finite(p.Interruption)
	}))
}

// frontierLine returns the frontier of s up to the given overlap.
func (c *chart) frontierLine(s FrontierSeries, end float64) []at {
	frontier := s.frontier()
	var line []at
	for _, v := range frontier.Vertices() {
		if v.Overlap < end {
			line = append(line, c.at(v.Overlap, v.Interruption))
		}
	}
	return append(line, c.at(end, frontier.At(end)))
}

func (s FrontierSeries) entry() entry {
	return entry{name: s.Name, draw: func(d *drawing, x, y float64) {
		class := s.Look.class()
		d.polyline("curve "+class+s.Look.dash(), []at{{x, y}, {x + 24, y}}, "")
		if s.Tuned != nil {
			d.marker("dot "+class, s.Look.shape(), at{x + 12, y}, "")
		}
	}}
}

func (f Frontier) description(series []FrontierSeries) string {
	return fmt.Sprintf("One line for each of %d policies: mean interruption against mean overlap from 0 to %s hours. "+
		"The table below holds the numbers.", len(series), decimal(f.maxOverlap()))
}

// Table implements Figure: the interruption at some overlaps.
func (f Frontier) Table() Table {
	t := Table{Columns: []string{"interruption in hours at an overlap of"}}
	for _, o := range evaluation.Overlaps {
		t.Columns = append(t.Columns, hours(o))
	}
	for _, s := range f.Series {
		row, frontier := []string{s.Name}, s.frontier()
		for _, o := range evaluation.Overlaps {
			row = append(row, decimal(frontier.At(o)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
