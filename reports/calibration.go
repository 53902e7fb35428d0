package reports

import "fmt"

// Calibration compares how often waits stayed below a forecast quantile with
// how often they should have. A perfect forecast lies on the diagonal.
type Calibration struct {
	Title  string
	Series []CalibrationSeries
}

// CalibrationSeries is one forecaster, or one group of starts. Observed[i] is
// the share of outcomes at or below the forecast of quantile Levels[i].
type CalibrationSeries struct {
	Name             string
	Look             Look
	Levels, Observed []float64
}

// Draw implements Figure.
func (g Calibration) Draw(width int) Drawing {
	w := widthOf(width)
	var legend []entry
	for _, s := range g.Series {
		if len(s.points()) == 0 {
			continue
		}
		legend = append(legend, entry{name: s.Name, draw: func(d *drawing, x, y float64) {
			d.line("curve "+s.Look.class()+s.Look.dash(), x, y, x+24, y)
			d.marker("dot "+s.Look.class(), s.Look.shape(), at{x + 12, y}, "")
		}})
	}
	if len(legend) == 0 {
		return empty(w, g.Title)
	}
	legend = append(legend, entry{name: "perfect", draw: func(d *drawing, x, y float64) { d.line("mark", x, y, x+24, y) }})
	share := func(title string) axis {
		a := linearAxis(title, 0, 1, 5)
		for i, t := range a.ticks {
			a.ticks[i].label = percent(t.value)
		}
		return a
	}
	c := &chart{top: titleRoom, x: share("forecast quantile"), y: share("share of outcomes at or below it")}
	c.left = labelRoom(c.y)
	side := min(w-c.left-16, 340)
	c.right, c.bottom = c.left+side, c.top+side
	height := c.bottom + footRoom
	if isNarrow(w) {
		height += legendHeight(legend, w) + 4
	}
	c.drawing = newDrawing(w, height, g.Title, g.description())
	c.grid()
	from, to := c.at(0, 0), c.at(1, 1)
	c.line("mark", from.x, from.y, to.x, to.y)
	for _, s := range g.Series {
		var line []at
		for _, p := range s.points() {
			line = append(line, c.at(p[0], p[1]))
		}
		c.polyline("curve "+s.Look.class()+s.Look.dash(), line, s.Name)
		for i, p := range line {
			if len(line) <= 25 {
				c.marker("dot "+s.Look.class(), s.Look.shape(), p,
					fmt.Sprintf("%s: %s below the %s quantile", s.Name, percent(s.points()[i][1]), percent(s.points()[i][0])))
			}
		}
	}
	if isNarrow(w) {
		c.legendRows(legend, c.bottom+footRoom+8, w)
	} else {
		c.legendColumn(legend, c.right+24, c.top+8, w-c.right-24)
	}
	return c.finish()
}

// points returns the pairs of level and share that are numbers.
func (s CalibrationSeries) points() [][2]float64 {
	var points [][2]float64
	for i := range min(len(s.Levels), len(s.Observed)) {
		if finite(s.Levels[i]) && finite(s.Observed[i]) {
			points = append(points, [2]float64{s.Levels[i], s.Observed[i]})
		}
	}
	return points
}

func (g Calibration) description() string {
	return fmt.Sprintf("Observed share against forecast quantile for %d series; a perfect forecast lies on the diagonal.", len(g.Series))
}

// Table implements Figure: a row for each series and level.
func (g Calibration) Table() Table {
	t := Table{Columns: []string{"series", "forecast quantile", "share at or below it"}}
	for _, s := range g.Series {
		points := s.points()
		for _, i := range evenly(len(points), 12) {
			t.Rows = append(t.Rows, []string{s.Name, percent(points[i][0]), percent(points[i][1])})
		}
	}
	return t
}
