package reports

// Widths at which pages carry each figure, in CSS pixels.
const (
	WideWidth   = 832
	NarrowWidth = 340
)

// Figure is a drawing together with its numbers.
type Figure interface {
	// Draw draws the figure at the given width in CSS pixels, at least 280.
	// The height follows from the content.
	Draw(width int) Drawing
	// Table returns the numbers of the drawing.
	Table() Table
}

// Drawing is one <svg> element, which takes its colours from the style sheet
// of this package, and its size in CSS pixels.
type Drawing struct {
	SVG           []byte
	Width, Height float64
}

// Table is numbers with a heading for each column. The first column names the
// row, the others are numbers, or with Words texts.
type Table struct {
	Columns []string
	Rows    [][]string
	Words   bool
}

// Standalone returns an SVG file of f at [WideWidth], with its style sheet
// inside, a heading and lines of text above.
func Standalone(f Figure, heading string, lines ...string) []byte {
	const margin, headRoom, headingSize = 24, 40, 19
	inner := f.Draw(WideWidth)
	top := headRoom + lineRoom*float64(len(lines)) + 16
	d := newDrawing(inner.Width+2*margin, top+inner.Height+margin, heading, "A drawing with a heading.")
	d.buf.WriteString("<style>" + theme + figureStyle + "</style>\n")
	d.name("heading", fromStart, margin, headRoom, inner.Width*textSize/headingSize/1.13, heading)
	for i, line := range lines {
		d.name("note", fromStart, margin, headRoom+lineRoom*float64(i+1)+2, inner.Width, line)
	}
	d.buf.WriteString("<svg" + attribute("x", margin) + attribute("y", top) + string(inner.SVG[len("<svg"):]))
	return d.finish().SVG
}
