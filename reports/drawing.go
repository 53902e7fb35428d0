package reports

import (
	"bytes"
	"encoding/xml"
	"math"
	"strconv"
	"strings"
)

// minWidth is the least width that the layouts are made for.
const minWidth = 280

// drawing is an SVG element in the making. Classes are names of the style
// sheet, coordinates are CSS pixels from the top left.
type drawing struct {
	buf           bytes.Buffer
	width, height float64
}

// newDrawing starts an element that a screen reader announces by title and
// description.
func newDrawing(width, height float64, title, description string) *drawing {
	d := &drawing{width: width, height: height}
	d.buf.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="figure" role="img" viewBox="0 0 `)
	d.buf.WriteString(number(width) + " " + number(height))
	d.buf.WriteString(`" width="` + number(width) + `" height="` + number(height))
	d.buf.WriteString(`" aria-label="` + escape(title) + `">` + "\n")
	d.buf.WriteString("<title>" + escape(title) + "</title>\n<desc>" + escape(description) + "</desc>\n")
	d.rect("paper", 0, 0, width, height, "")
	return d
}

// finish ends the element.
func (d *drawing) finish() Drawing {
	d.buf.WriteString("</svg>\n")
	return Drawing{SVG: d.buf.Bytes(), Width: d.width, Height: d.height}
}

// element writes one element; tip, where there is one, is shown when a pointer
// rests on it. attributes are as attribute writes them.
func (d *drawing) element(name, class, tip, attributes string) {
	d.buf.WriteString("<" + name + ` class="` + class + `"` + attributes)
	if tip == "" {
		d.buf.WriteString("/>\n")
		return
	}
	d.buf.WriteString("><title>" + escape(tip) + "</title></" + name + ">\n")
}

func attribute(name string, value float64) string { return " " + name + `="` + number(value) + `"` }

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.element("line", class, "", attribute("x1", x1)+attribute("y1", y1)+attribute("x2", x2)+attribute("y2", y2))
}

// rect draws nothing where there is no area.
func (d *drawing) rect(class string, x, y, width, height float64, tip string) {
	if width > 0 && height > 0 {
		d.element("rect", class, tip,
			attribute("x", x)+attribute("y", y)+attribute("width", width)+attribute("height", height))
	}
}

// stripes draws a hatched bar without a pattern, whose name would have to be
// unique in the page: a line as thick as the bar is high, dashed.
func (d *drawing) stripes(class string, x, y, width, height float64, tip string) {
	if width > 0 && height > 0 {
		d.element("line", class, tip,
			attribute("x1", x)+attribute("y1", y+height/2)+attribute("x2", x+width)+attribute("y2", y+height/2)+
				attribute("stroke-width", height)+` stroke-dasharray="2 2"`)
	}
}

// at is a position in a drawing.
type at struct{ x, y float64 }

func (d *drawing) polyline(class string, points []at, tip string) {
	if len(points) > 1 {
		d.path(class, tip, points, "")
	}
}

func (d *drawing) polygon(class string, points []at, tip string) {
	if len(points) > 2 {
		d.path(class, tip, points, "Z")
	}
}

func (d *drawing) path(class, tip string, points []at, end string) {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(number(p.x) + " " + number(p.y))
	}
	d.element("path", class, tip, ` d="`+b.String()+end+`"`)
}

// markers are the outlines of markers, told apart without colour, around
// their centre: square, triangle, diamond. The one before them is a circle.
var markers = [...][]at{
	{{-4, -4}, {4, -4}, {4, 4}, {-4, 4}},
	{{0, -5}, {5, 4}, {-5, 4}},
	{{0, -6}, {6, 0}, {0, 6}, {-6, 0}},
}

func (d *drawing) marker(class string, shape int, centre at, tip string) {
	shape %= len(markers) + 1
	if shape == 0 {
		d.element("circle", class, tip, attribute("cx", centre.x)+attribute("cy", centre.y)+attribute("r", 4.5))
		return
	}
	outline := make([]at, 0, 4)
	for _, p := range markers[shape-1] {
		outline = append(outline, at{centre.x + p.x, centre.y + p.y})
	}
	d.polygon(class, outline, tip)
}

// Anchors of a text: which end of it stands at its position.
const (
	fromStart = "start"
	centred   = "middle"
	toEnd     = "end"
)

func (d *drawing) text(class, anchor string, x, y float64, s string) {
	d.buf.WriteString(`<text class="` + class + `" text-anchor="` + anchor + `" x="` + number(x) + `" y="` + number(y) + `">`)
	d.buf.WriteString(escape(s) + "</text>\n")
}

// name writes s cut to the given width; the whole of it is shown when a
// pointer rests on it.
func (d *drawing) name(class, anchor string, x, y, width float64, s string) {
	short := fit(s, width)
	if short == s {
		d.text(class, anchor, x, y, s)
		return
	}
	d.buf.WriteString(`<text class="` + class + `" text-anchor="` + anchor + `" x="` + number(x) + `" y="` + number(y) + `">`)
	d.buf.WriteString(escape(short) + "<title>" + escape(s) + "</title></text>\n")
}

// escape makes s safe in text and attributes; characters that XML does not
// allow become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// number writes v with one decimal at most; what is not finite never gets
// here, and would be 0.
func number(v float64) string {
	if !finite(v) {
		v = 0
	}
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
