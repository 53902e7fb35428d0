package reports

import (
	"fmt"
	"math"
	"slices"
)

// Band draws a quantity that is forecast for the hours to come: its median as a
// line, and around it the range that it keeps to with some probability.
type Band struct {
	Title string
	X, Y  string // what the axes measure, in hours: "submitted after, h"
	Range string // what the band is: "80 % of waits"
	// At ascends, in hours; Lo, Mid and Hi belong to it one by one. What is not
	// finite is left out.
	At, Lo, Mid, Hi []float64
	Look            Look
}

// bandHeight is the height of the plotting area in pixels.
const bandHeight = 150

// Draw implements Figure.
func (g Band) Draw(width int) Drawing {
	w := widthOf(width)
	points := g.points()
	if len(points) == 0 {
		return empty(w, g.Title)
	}
	last, top := points[len(points)-1], 0.0
	for _, p := range points {
		top = max(top, p.hi)
	}
	legend := []entry{
		{"median", func(d *drawing, x, y float64) { d.line("curve "+g.Look.class(), x, y, x+24, y) }},
		{g.Range, filled("band " + g.Look.class())},
	}
	c := &chart{top: titleRoom, bottom: titleRoom + bandHeight, right: w - 12}
	c.x = hourAxis(g.X, points[0].at, last.at, int(w/70)).within(points[0].at, max(last.at, points[0].at+1))
	c.y = hourAxis(g.Y, 0, max(top, 0.5), 4)
	c.left = labelRoom(c.y)
	c.drawing = newDrawing(w, c.bottom+footRoom+legendHeight(legend, w)+4, g.Title, g.description(points))
	c.grid()
	var line, outline []at
	for _, p := range points {
		line = append(line, c.at(p.at, p.mid))
		outline = append(outline, c.at(p.at, p.hi))
	}
	for _, p := range slices.Backward(points) {
		outline = append(outline, c.at(p.at, p.lo))
	}
	c.polygon("band "+g.Look.class(), outline, g.Range)
	c.polyline("curve "+g.Look.class(), line, "")
	for i, p := range points {
		c.marker("dot "+g.Look.class(), g.Look.shape(), line[i],
			fmt.Sprintf("%s: %s, from %s to %s", hours(p.at), hours(p.mid), hours(p.lo), hours(p.hi)))
	}
	c.legendRows(legend, c.bottom+footRoom+8, w)
	return c.finish()
}

type bandPoint struct{ at, lo, mid, hi float64 }

func (g Band) points() []bandPoint {
	var points []bandPoint
	for i := range min(len(g.At), len(g.Lo), len(g.Mid), len(g.Hi)) {
		p := bandPoint{g.At[i], g.Lo[i], g.Mid[i], g.Hi[i]}
		if finite(p.at) && finite(p.lo) && finite(p.mid) && finite(p.hi) && math.Abs(p.at) < 1e6 {
			points = append(points, p)
		}
	}
	return points
}

func (g Band) description(points []bandPoint) string {
	first, last := points[0], points[len(points)-1]
	return fmt.Sprintf("The median goes from %s after %s to %s after %s.", hours(first.mid), hours(first.at), hours(last.mid), hours(last.at))
}

// Table implements Figure: a row for each instant.
func (g Band) Table() Table {
	t := Table{Columns: []string{g.X, "median", g.Range + ", from", "to"}}
	for _, p := range g.points() {
		t.Rows = append(t.Rows, []string{hours(p.at), hours(p.mid), hours(p.lo), hours(p.hi)})
	}
	return t
}
