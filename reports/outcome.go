package reports

import (
	"fmt"
	"slices"
)

// OutcomeCurve draws one start: what would have come of submitting the
// successor at each lead before the predecessor's end, what was forecast, and
// what a policy chose.
type OutcomeCurve struct {
	Title string
	// Outcomes holds the signed outcome of each lead, both in hours: above 0
	// an interruption, below 0 an overlap. Leads ascend.
	Outcomes []LeadOutcome
	// Forecast, where there is one, is the band of outcomes that was expected
	// for each lead, and its middle.
	Forecast []LeadBand
	// Chosen marks the lead that a policy chose, ChosenBy names the policy;
	// nil marks none.
	Chosen   *LeadOutcome
	ChosenBy string
}

// LeadOutcome is the signed outcome of one lead, in hours.
type LeadOutcome struct{ Lead, Outcome float64 }

// LeadBand is the interval of outcomes expected for one lead, in hours.
type LeadBand struct{ Lead, Lo, Middle, Hi float64 }

// Draw implements Figure.
func (o OutcomeCurve) Draw(width int) Drawing {
	w := widthOf(width)
	points, band := o.drawable()
	if len(points) == 0 {
		return empty(w, o.Title)
	}
	c := &chart{top: titleRoom, left: 0, right: w - 8, bottom: 300}
	c.x, c.y = o.axes(points, band, w)
	c.left = labelRoom(c.y)
	legend := o.legend(len(band) > 0)
	c.drawing = newDrawing(w, c.bottom+footRoom+legendHeight(legend, w)+4, o.Title, o.description(points))
	zero := c.py(0)
	c.rect("wash gap", c.left, c.top, c.right-c.left, zero-c.top, "")
	c.rect("wash overlap", c.left, zero, c.right-c.left, c.bottom-zero, "")
	c.grid()
	c.line("zero", c.left, zero, c.right, zero)
	c.band(band)
	var line []at
	for _, p := range points {
		line = append(line, c.at(p.Lead, p.Outcome))
	}
	line = decimate(line, int(c.right-c.left))
	c.polyline("curve oracle", line, "what happened")
	if len(line) == 1 {
		c.marker("dot oracle", 0, line[0], "")
	}
	if zero-c.top > lineRoom {
		c.text("halo word gap", toEnd, c.right-6, c.top+16, "interruption")
	}
	if c.bottom-zero > lineRoom {
		c.text("halo word overlap", fromStart, c.left+6, c.bottom-8, "overlap")
	}
	if o.hasChosen() {
		c.choice(o)
	}
	c.legendRows(legend, c.bottom+footRoom+8, w)
	return c.finish()
}

// drawable returns what consists of numbers.
func (o OutcomeCurve) drawable() (points []LeadOutcome, band []LeadBand) {
	for _, p := range o.Outcomes {
		if finite(p.Lead) && finite(p.Outcome) {
			points = append(points, p)
		}
	}
	for _, b := range o.Forecast {
		if finite(b.Lead) && finite(b.Lo) && finite(b.Middle) && finite(b.Hi) {
			band = append(band, b)
		}
	}
	return points, band
}

func (o OutcomeCurve) hasChosen() bool {
	return o.Chosen != nil && finite(o.Chosen.Lead) && finite(o.Chosen.Outcome)
}

// axes cover the outcomes and the choice, and an hour on both sides of 0; a
// band that reaches far beyond them is cut.
func (o OutcomeCurve) axes(points []LeadOutcome, band []LeadBand, width float64) (x, y axis) {
	lead, lo, hi := points[0].Lead, -1.0, 1.0
	for _, p := range points {
		lead, lo, hi = max(lead, p.Lead), min(lo, p.Outcome), max(hi, p.Outcome)
	}
	if o.hasChosen() {
		lead, lo, hi = max(lead, o.Chosen.Lead), min(lo, o.Chosen.Outcome), max(hi, o.Chosen.Outcome)
	}
	room := 0.25 * (hi - lo)
	top, bottom := hi+room, lo-room
	for _, b := range band {
		lo, hi = max(min(lo, b.Lo), bottom), min(max(hi, b.Hi), top)
	}
	ticks := 12
	if isNarrow(width) {
		ticks = 6
	}
	lead = max(lead, 1e-3)
	x = hourAxis("lead: hours before the predecessor's end", 0, lead, ticks).within(0, lead)
	return x, hourAxis("outcome, hours", lo, hi, 7)
}

func (c *chart) band(band []LeadBand) {
	var outline, middle []at
	for _, b := range band {
		outline = append(outline, c.at(b.Lead, b.Hi))
		middle = append(middle, c.at(b.Lead, b.Middle))
	}
	for _, b := range slices.Backward(band) {
		outline = append(outline, c.at(b.Lead, b.Lo))
	}
	c.polygon("band s0", outline, "forecast")
	c.polyline("curve s0 dashed", decimate(middle, int(c.right-c.left)), "middle of the forecast")
}

func (c *chart) choice(o OutcomeCurve) {
	p := c.at(o.Chosen.Lead, o.Chosen.Outcome)
	c.line("mark", p.x, c.top, p.x, c.bottom)
	label := o.chosenLabel()
	c.marker("dot s1", 3, p, label)
	half := boldWidth(label) / 2
	x := min(max(p.x, c.left+half+4), c.right-half-4)
	y := p.y - 12
	if y < c.top+34 { // the word in the corner stays free
		y = p.y + 22
	}
	c.text("halo strong", centred, x, y, label)
}

// chosenLabel says what came of the choice: "lead 12 h: 40 min overlap".
func (o OutcomeCurve) chosenLabel() string {
	return "lead " + hours(o.Chosen.Lead) + ": " + outcomeInWords(o.Chosen.Outcome)
}

func outcomeInWords(x float64) string {
	switch word := hours(max(x, -x)); {
	case word == "0 h":
		return "no gap, no overlap"
	case x > 0:
		return word + " interruption"
	default:
		return word + " overlap"
	}
}

func (o OutcomeCurve) legend(band bool) []entry {
	entries := []entry{{name: "what would have happened", draw: func(d *drawing, x, y float64) {
		d.line("curve oracle", x, y, x+24, y)
	}}}
	if band {
		entries = append(entries, entry{name: "forecast at the time", draw: func(d *drawing, x, y float64) {
			d.rect("band s0", x, y-6, 24, 12, "")
			d.line("curve s0 dashed", x, y, x+24, y)
		}})
	}
	if o.hasChosen() {
		entries = append(entries, entry{name: "chosen by " + o.ChosenBy, draw: func(d *drawing, x, y float64) {
			d.marker("dot s1", 3, at{x + 12, y}, "")
		}})
	}
	return entries
}

func (o OutcomeCurve) description(points []LeadOutcome) string {
	text := fmt.Sprintf("Signed outcome in hours against the lead, at %d leads.", len(points))
	if o.hasChosen() {
		text += " " + o.ChosenBy + " chose " + o.chosenLabel() + "."
	}
	return text
}

// Table implements Figure: the outcome at up to a dozen leads.
func (o OutcomeCurve) Table() Table {
	points, band := o.drawable()
	t := Table{Columns: []string{"lead", "outcome, hours"}}
	if len(band) > 0 {
		t.Columns = append(t.Columns, "forecast", "from", "to")
	}
	for _, i := range evenly(len(points), 12) {
		row := []string{hours(points[i].Lead), decimal(points[i].Outcome)}
		if len(band) > 0 {
			b := bandAt(band, points[i].Lead)
			row = append(row, decimal(b.Middle), decimal(b.Lo), decimal(b.Hi))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// bandAt returns the band of the lead nearest to the given one.
func bandAt(band []LeadBand, lead float64) LeadBand {
	nearest := band[0]
	for _, b := range band {
		if abs(b.Lead-lead) < abs(nearest.Lead-lead) {
			nearest = b
		}
	}
	return nearest
}

func abs(v float64) float64 { return max(v, -v) }
