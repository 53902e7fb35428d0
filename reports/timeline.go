package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/segue-project/segue"
)

// Timeline draws a chain to scale: each link hatched while it waits in the
// queue and solid while it runs, gaps in red and overlaps in amber.
type Timeline struct {
	Title string
	Links []Link
	// Until is how far the drawing goes for links that still wait or run.
	// Default the last known instant.
	Until segue.Time
}

// Link is one job of a chain. Instants that are not known, or have not come,
// are segue.NoTime.
type Link struct {
	Name               string
	Submit, Start, End segue.Time
}

// Handover is what happened between two neighbouring links: an interruption
// when Hours is above 0, an overlap when it is below.
type Handover struct {
	From, To segue.Time
	Hours    float64
}

// Handovers returns what happened between the links, by start, in order.
// Links that never started take no part.
func (t Timeline) Handovers() []Handover {
	links := t.started()
	if len(links) == 0 {
		return nil
	}
	var handovers []Handover
	covered := t.endOf(links[0])
	for _, link := range links[1:] {
		if link.Start > covered {
			handovers = append(handovers, Handover{From: covered, To: link.Start, Hours: link.Start.Sub(covered).Hours()})
		} else {
			end := min(covered, t.endOf(link))
			handovers = append(handovers, Handover{From: link.Start, To: end, Hours: -end.Sub(link.Start).Hours()})
		}
		covered = max(covered, t.endOf(link))
	}
	return handovers
}

func (t Timeline) started() []Link {
	links := slices.DeleteFunc(slices.Clone(t.Links), func(l Link) bool { return !known(l.Start) })
	slices.SortStableFunc(links, func(a, b Link) int { return cmp.Compare(a.Start, b.Start) })
	return links
}

// known reports whether t is an instant that a drawing can show.
func known(t segue.Time) bool { return t.Known() && t != segue.Never }

func (t Timeline) endOf(l Link) segue.Time {
	if known(l.End) {
		return max(l.End, l.Start)
	}
	return max(t.until(), l.Start)
}

func (t Timeline) until() segue.Time {
	if t.Until != 0 && known(t.Until) {
		return t.Until
	}
	last := segue.NoTime
	for _, l := range t.Links {
		for _, instant := range []segue.Time{l.Submit, l.Start, l.End} {
			if known(instant) {
				last = max(last, instant)
			}
		}
	}
	return last
}

func (t Timeline) from() segue.Time {
	first := segue.Never
	for _, l := range t.Links {
		for _, instant := range []segue.Time{l.Submit, l.Start} {
			if known(instant) {
				first = min(first, instant)
			}
		}
	}
	return first
}

// wholeName labels the bar of the chain as a whole.
const wholeName = "chain"

// Draw implements Figure.
func (t Timeline) Draw(width int) Drawing {
	w := widthOf(width)
	from, until := t.from(), t.until()
	if !known(from) || !known(until) {
		return empty(w, t.Title)
	}
	names := make([]string, len(t.Links))
	for i, l := range t.Links {
		names[i] = l.Name
	}
	row := min(max(420/float64(len(t.Links)), 3), 24)
	left := max(min(widest(names), 0.24*w), boldWidth(wholeName)) + 10
	if row < lineRoom-6 {
		left = min(left, 76)
	}
	const strip, labels = 22, 22 // of the chain as a whole
	c := &chart{left: left, right: w - 8, top: strip + labels + 14}
	c.bottom = c.top + row*float64(len(t.Links)) + 8
	count := int((c.right - c.left) / 64)
	c.x = timeAxis(from, until, count)
	legend := timelineLegend()
	c.drawing = newDrawing(w, c.bottom+footRoom+legendHeight(legend, w)+4, t.Title, t.description())
	hour := func(instant segue.Time) float64 { return c.px(instant.Sub(from).Hours()) }
	for _, tick := range c.x.ticks {
		c.line("rule", c.px(tick.value), c.top-8, c.px(tick.value), c.bottom)
	}
	c.wholeChain(t, hour, labels, strip)
	for i, l := range t.Links {
		y := c.top + row*float64(i)
		if row >= lineRoom-6 {
			c.name("label", toEnd, left-10, y+row/2+5, left-10, l.Name)
		}
		c.link(t, l, hour, y, row)
	}
	c.foot()
	c.legendRows(legend, c.bottom+footRoom+8, w)
	return c.finish()
}

// wholeChain draws the chain as one bar with its gaps and overlaps and carries
// these down through the rows.
func (c *chart) wholeChain(t Timeline, hour func(segue.Time) float64, top, height float64) {
	links := t.started()
	if len(links) == 0 {
		return
	}
	c.text("strong", toEnd, c.left-10, top+height/2+5, wholeName)
	last := links[0].Start
	for _, l := range links {
		last = max(last, t.endOf(l))
	}
	c.rect("bar run", hour(links[0].Start), top, hour(last)-hour(links[0].Start), height, "")
	var labels []handoverLabel
	for _, h := range t.Handovers() {
		if h.Hours == 0 {
			continue
		}
		x1, x2 := hour(h.From), hour(h.To)
		if x2-x1 < 1.5 { // too short to be seen at this scale
			x1, x2 = x1-0.75, x1+0.75
		}
		class := "overlap"
		if h.Hours > 0 {
			class = "gap"
		}
		c.rect("paper", x1, top, x2-x1, height, "")
		c.rect("bar "+class, x1, top, x2-x1, height, outcomeInWords(h.Hours)+" from "+instant(h.From))
		c.rect("wash "+class, x1, c.top-8, x2-x1, c.bottom-c.top+8, "")
		size := max(h.Hours, -h.Hours)
		label := handoverLabel{class: class, text: hours(size), size: size}
		half := boldWidth(label.text) / 2
		label.x = min(max((x1+x2)/2, c.left+half), c.width-half)
		labels = append(labels, label)
	}
	c.handoverLabels(labels, top-7)
}

// handoverLabel says how long a gap or an overlap is; x is its middle.
type handoverLabel struct {
	class, text string
	x, size     float64
}

// handoverLabels writes as many labels as fit beside each other, the longest
// gaps and overlaps first.
func (c *chart) handoverLabels(labels []handoverLabel, y float64) {
	slices.SortStableFunc(labels, func(a, b handoverLabel) int { return cmp.Compare(b.size, a.size) })
	var written []handoverLabel
	for _, l := range labels {
		free := !slices.ContainsFunc(written, func(other handoverLabel) bool {
			return abs(l.x-other.x) < (boldWidth(l.text)+boldWidth(other.text))/2+6
		})
		if free {
			c.text("word "+l.class, centred, l.x, y, l.text)
			written = append(written, l)
		}
	}
}

func (c *chart) link(t Timeline, l Link, hour func(segue.Time) float64, y, row float64) {
	inset := min(3, row/6)
	top, height := y+inset, row-2*inset
	queued := t.until()
	if known(l.Start) {
		queued = l.Start
	} else if known(l.End) { // cancelled while it waited
		queued = l.End
	}
	if known(l.Submit) && l.Submit < queued {
		c.stripes("hatch queue", hour(l.Submit), top, hour(queued)-hour(l.Submit), height,
			l.Name+": in the queue for "+hours(queued.Sub(l.Submit).Hours()))
	}
	if known(l.Start) {
		end := t.endOf(l)
		c.rect("bar run", hour(l.Start), top, max(hour(end)-hour(l.Start), 1), height,
			l.Name+": ran for "+hours(end.Sub(l.Start).Hours())+" from "+instant(l.Start))
	}
}

func timelineLegend() []entry {
	return []entry{
		{"waits in the queue", func(d *drawing, x, y float64) { d.stripes("hatch queue", x, y-6, 24, 12, "") }},
		{"runs", filled("bar run")},
		{"gap: nothing runs", filled("bar gap")},
		{"overlap: two run at once", filled("bar overlap")},
	}
}

func instant(t segue.Time) string {
	if !known(t) {
		return unknown
	}
	return t.Std().Format("2 Jan 2006 15:04")
}

func (t Timeline) description() string {
	gaps, overlaps, interruption, overlap := 0, 0, 0.0, 0.0
	for _, h := range t.Handovers() {
		switch {
		case h.Hours > 0:
			gaps++
			interruption += h.Hours
		case h.Hours < 0:
			overlaps++
			overlap -= h.Hours
		}
	}
	return fmt.Sprintf("A chain of %d links with %s of gaps in %d places and %s of overlap in %d places.",
		len(t.Links), hours(interruption), gaps, hours(overlap), overlaps)
}

// Table implements Figure: one row for each link.
func (t Timeline) Table() Table {
	table := Table{Columns: []string{"link", "submitted (UTC)", "started", "ended", "to the link before"}}
	links := t.started()
	handovers := t.Handovers()
	for i, l := range links {
		before := unknown
		if i > 0 {
			before = outcomeInWords(handovers[i-1].Hours)
		}
		table.Rows = append(table.Rows, []string{linkName(l, i), instant(l.Submit), instant(l.Start), instant(l.End), before})
	}
	for i, l := range t.Links {
		if !known(l.Start) {
			table.Rows = append(table.Rows, []string{linkName(l, i), instant(l.Submit), unknown, instant(l.End), unknown})
		}
	}
	return table
}

func linkName(l Link, i int) string {
	if l.Name == "" {
		return "link " + strconv.Itoa(i+1)
	}
	return l.Name
}
