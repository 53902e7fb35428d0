package reports

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
)

// Distribution compares distributions of waits: for each wait on a logarithmic
// axis, the share of jobs that waited no longer.
type Distribution struct {
	Title  string
	Series []Sample
}

// Sample is the waits of one source in hours, in any order.
type Sample struct {
	Name  string
	Look  Look
	Waits []float64
}

// Draw implements Figure.
func (g Distribution) Draw(width int) Drawing {
	w := widthOf(width)
	longest := 0.0
	var legend []entry
	for _, s := range g.Series {
		sorted := s.sorted()
		if len(sorted) == 0 {
			continue
		}
		longest = max(longest, sorted[len(sorted)-1])
		legend = append(legend, entry{name: s.label(), draw: func(d *drawing, x, y float64) {
			d.line("curve "+s.Look.class()+s.Look.dash(), x, y, x+24, y)
		}})
	}
	if len(legend) == 0 {
		return empty(w, g.Title)
	}
	c := &chart{top: titleRoom, right: w - 12, bottom: 280, x: waitAxis("wait, logarithmic", longest)}
	c.y = linearAxis("share that waited no longer", 0, 1, 5)
	for i, t := range c.y.ticks {
		c.y.ticks[i].label = percent(t.value)
	}
	c.left = labelRoom(c.y)
	c.drawing = newDrawing(w, c.bottom+footRoom+legendHeight(legend, w)+4, g.Title, g.description())
	c.grid()
	for _, s := range g.Series {
		c.polyline("curve "+s.Look.class()+s.Look.dash(), c.cumulative(s.sorted()), s.label())
	}
	c.legendRows(legend, c.bottom+footRoom+8, w)
	return c.finish()
}

// cumulative returns the steps of the empirical distribution function; all
// waits below the left end of the axis are on it.
func (c *chart) cumulative(sorted []float64) []at {
	if len(sorted) == 0 {
		return nil
	}
	n := float64(len(sorted))
	first := sort.Search(len(sorted), func(i int) bool { return sorted[i] > c.x.lo })
	line := []at{c.at(c.x.lo, float64(first)/n)}
	for i := first; i < len(sorted); {
		k := i
		for k < len(sorted) && sorted[k] == sorted[i] {
			k++
		}
		line = append(line, c.at(sorted[i], float64(i)/n), c.at(sorted[i], float64(k)/n))
		i = k
	}
	line = append(line, c.at(c.x.hi, 1))
	return decimate(line, int(c.right-c.left)/2)
}

// sorted returns the waits that are numbers, none of them negative, ascending.
func (s Sample) sorted() []float64 {
	waits := slices.DeleteFunc(slices.Clone(s.Waits), func(v float64) bool { return !finite(v) })
	for i, v := range waits {
		waits[i] = max(v, 0)
	}
	slices.Sort(waits)
	return waits
}

func (s Sample) label() string {
	n := len(s.sorted())
	if n == 1 {
		return s.Name + " (1 wait)"
	}
	return s.Name + " (" + strconv.Itoa(n) + " waits)"
}

func (g Distribution) description() string {
	return fmt.Sprintf("Cumulative distributions of %d samples of waits. The table below holds means and quantiles.", len(g.Series))
}

// Table implements Figure: the mean and some quantiles.
func (g Distribution) Table() Table {
	levels := []float64{0.25, 0.5, 0.75, 0.9, 0.99}
	t := Table{Columns: []string{"waits", "mean"}}
	for _, p := range levels {
		t.Columns = append(t.Columns, strconv.Itoa(int(math.Round(p*100)))+" % wait at most")
	}
	for _, s := range g.Series {
		sorted := s.sorted()
		sum := 0.0
		for _, v := range sorted {
			sum += v
		}
		row := []string{s.Name, hours(sum / float64(len(sorted)))}
		for _, p := range levels {
			quantile := math.NaN()
			if n := len(sorted); n > 0 {
				quantile = sorted[min(int(math.Ceil(p*float64(n)))-1, n-1)]
			}
			row = append(row, hours(quantile))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
