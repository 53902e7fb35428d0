package reports

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"regexp"
)

//go:embed page.gohtml
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is what the template shows.
type page struct {
	Title    string
	Trace    string
	Command  string
	Answer   []string
	About    string // heading of Measured
	Measured []string
	Headline Table
	Caption  string // of the headline
	Sections []section
	Policies []PolicyText
	Words    []word
	Notes    []string
}

// section is a figure with its caption, or a table alone.
type section struct {
	ID, Heading, Caption string
	Wide, Narrow         template.HTML
	Numbers              Table
}

func (p *page) add(f Figure, id, heading, caption string) {
	p.Sections = append(p.Sections, section{
		ID: id, Heading: heading, Caption: caption,
		// Drawings escape all text themselves.
		Wide:    template.HTML(f.Draw(WideWidth).SVG),
		Narrow:  template.HTML(f.Draw(NarrowWidth).SVG),
		Numbers: f.Table(),
	})
}

func (p *page) addTable(t Table, id, heading, caption string) {
	p.Sections = append(p.Sections, section{ID: id, Heading: heading, Caption: caption, Numbers: t})
}

// Style is the style sheet of the page and its drawings.
func (p *page) Style() template.CSS { return template.CSS(theme + figureStyle + pageStyle) }

// unit is a number and its unit, which no line break may part.
var unit = regexp.MustCompile(`([0-9]) (%|(?:h|min|d)\b)`)

// Glue puts no-break spaces between numbers and units.
func (p *page) Glue(text string) string { return unit.ReplaceAllString(text, "$1\u00a0$2") }

func (p *page) render() ([]byte, error) {
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render report %q: %w", p.Title, err)
	}
	return b.Bytes(), nil
}
