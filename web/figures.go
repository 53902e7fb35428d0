package web

import (
	"html/template"

	"github.com/segue-project/segue/reports"
)

// figure is a drawing with its numbers. Narrow is for a phone; empty where Wide
// serves both.
type figure struct {
	Wide, Narrow template.HTML
	Numbers      table
}

// figureOf draws a figure once, at a width that a phone can show too.
func figureOf(f reports.Figure, width int, caption string) figure {
	// Drawings escape all text themselves.
	return figure{Wide: template.HTML(f.Draw(width).SVG), Numbers: tableOf(caption, f.Table())}
}

// figureOfBoth draws a figure for a desk and for a phone.
func figureOfBoth(f reports.Figure, caption string) figure {
	both := figureOf(f, reports.WideWidth, caption)
	both.Narrow = template.HTML(f.Draw(reports.NarrowWidth).SVG)
	return both
}
