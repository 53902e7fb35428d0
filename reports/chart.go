package reports

import "slices"

// chart is a drawing with a plotting area and two axes.
type chart struct {
	*drawing
	left, top, right, bottom float64
	x, y                     axis
}

// Room around a plotting area, in pixels.
const (
	tickRoom  = 8  // between an axis and its labels
	titleRoom = 26 // above the area, for the title of the y axis
	footRoom  = 48 // below it, for the labels and the title of the x axis
	lineRoom  = 20 // for one line of lettering
)

// isNarrow reports whether a drawing of this width is for a phone.
func isNarrow(width float64) bool { return width < 560 }

func widthOf(width int) float64 { return float64(max(width, minWidth)) }

// at returns the position of the values x and y.
func (c *chart) at(x, y float64) at { return at{c.px(x), c.py(y)} }

func (c *chart) px(x float64) float64 { return c.left + c.x.share(x)*(c.right-c.left) }

func (c *chart) py(y float64) float64 { return c.bottom - c.y.share(y)*(c.bottom-c.top) }

// labelRoom returns the width of the labels of a y axis.
func labelRoom(y axis) float64 {
	width := 0.0
	for _, t := range y.ticks {
		width = max(width, textWidth(t.label))
	}
	return width + tickRoom
}

// grid draws the axes: horizontal rules with labels, ticks below, both titles.
func (c *chart) grid() {
	for _, t := range c.y.ticks {
		y := c.py(t.value)
		c.line("rule", c.left, y, c.right, y)
		c.text("tick", toEnd, c.left-tickRoom, y+4, t.label)
	}
	c.text("axis", fromStart, 0, c.top-12, c.y.title)
	c.foot()
}

// foot draws the x axis alone.
func (c *chart) foot() {
	c.line("base", c.left, c.bottom, c.right, c.bottom)
	for _, t := range c.x.ticks {
		c.line("base", c.px(t.value), c.bottom, c.px(t.value), c.bottom+4)
	}
	for _, t := range c.labelled() {
		c.text("tick", centred, c.labelAt(t), c.bottom+18, t.label)
	}
	c.text("axis", toEnd, c.right, c.bottom+38, c.x.title)
}

// labelAt returns where the label of t is centred, inside the drawing.
func (c *chart) labelAt(t tick) float64 {
	half := textWidth(t.label) / 2
	return min(max(c.px(t.value), half), c.width-half)
}

// labelled returns the ticks of the x axis that get a label: all of them, or
// every second, third, ... if they would touch; 0 always does.
func (c *chart) labelled() []tick {
	zero := max(slices.IndexFunc(c.x.ticks, func(t tick) bool { return t.value == 0 }), 0)
	for stride := 1; ; stride++ {
		var kept []tick
		touch := false
		for i := zero % stride; i < len(c.x.ticks); i += stride {
			t := c.x.ticks[i]
			if n := len(kept); n > 0 {
				room := (textWidth(t.label) + textWidth(kept[n-1].label)) / 2
				touch = touch || c.labelAt(t)-c.labelAt(kept[n-1]) < room+4
			}
			kept = append(kept, t)
		}
		if !touch {
			return kept
		}
	}
}

// entry is one line of a legend: a swatch and a name.
type entry struct {
	name string
	// draw draws the swatch, 24 pixels wide, centred at y, from x.
	draw func(d *drawing, x, y float64)
}

// filled returns the swatch of an area of the given class.
func filled(class string) func(d *drawing, x, y float64) {
	return func(d *drawing, x, y float64) { d.rect(class, x, y-6, 24, 12, "") }
}

const swatch = 32 // pixels of a swatch and the space behind it

// legendWidth returns the room that entries need in a column beside a chart.
func legendWidth(entries []entry) float64 {
	width := 0.0
	for _, e := range entries {
		width = max(width, textWidth(e.name))
	}
	return swatch + min(width, 190) + 4
}

// legendHeight returns the room that entries need below a chart of this width.
func legendHeight(entries []entry, width float64) float64 {
	return lineRoom * float64(len(flow(entries, width)))
}

// legendColumn writes the entries one below the other.
func (d *drawing) legendColumn(entries []entry, x, y, width float64) {
	for i, e := range entries {
		row := y + lineRoom*float64(i)
		e.draw(d, x, row)
		d.name("label", fromStart, x+swatch, row+4, width-swatch, e.name)
	}
}

// legendRows writes the entries in lines of at most the given width, from the
// left edge of the drawing.
func (d *drawing) legendRows(entries []entry, y, width float64) {
	for i, row := range flow(entries, width) {
		left := 0.0
		for _, e := range row {
			e.draw(d, left, y+lineRoom*float64(i))
			d.name("label", fromStart, left+swatch, y+lineRoom*float64(i)+4, width-swatch, e.name)
			left += entryWidth(e, width)
		}
	}
}

func entryWidth(e entry, width float64) float64 {
	return swatch + min(textWidth(e.name), width-swatch) + 12
}

// flow breaks the entries into lines.
func flow(entries []entry, width float64) [][]entry {
	var rows [][]entry
	used := 0.0
	for _, e := range entries {
		need := entryWidth(e, width)
		if len(rows) == 0 || used+need > width+12 {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += need
	}
	return rows
}

// empty draws a chart's apology for having nothing to show.
func empty(width float64, title string) Drawing {
	d := newDrawing(width, 80, title, "There is nothing to draw.")
	d.text("axis", centred, width/2, 44, "nothing to draw")
	return d.finish()
}
