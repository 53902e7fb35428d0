package web

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/reports"
)

// functions are what templates call.
var functions = template.FuncMap{
	"span":    span,
	"stamp":   stamp,
	"day":     day,
	"percent": percent,
	"count":   count,
	"grouped": grouped,
	"chance":  chance,
	"shape":   shapeWords,
	"short":   short,
	"glue":    glue,
}

// unit is a number and its unit, which no line break may part.
var unit = regexp.MustCompile(`([0-9]) (%|(?:h|min|d|s)\b)`)

// glue puts no-break spaces between numbers and units.
func glue(text string) string { return unit.ReplaceAllString(text, "$1\u00a0$2") }

// unknown stands for what is not known.
const unknown = "–"

// span returns a duration in words: "40 min", "6 h 10 min", "3 d 4 h".
func span(d time.Duration) string {
	switch {
	case d == segue.Unlimited:
		return "unlimited"
	case d < 0:
		return "−" + span(-d)
	case d < 90*time.Second && d >= time.Second && d%time.Minute != 0:
		return strconv.Itoa(int(d.Round(time.Second).Seconds())) + " s"
	}
	minutes := int64(d.Round(time.Minute).Minutes())
	days, hours, rest := minutes/(24*60), minutes/60, minutes%60
	switch {
	case hours == 0:
		return fmt.Sprintf("%d min", rest)
	case hours >= 72 && hours%24 == 0:
		return fmt.Sprintf("%d d", days)
	case hours >= 72:
		return fmt.Sprintf("%d d %d h", days, hours%24)
	case rest == 0:
		return fmt.Sprintf("%d h", hours)
	}
	return fmt.Sprintf("%d h %d min", hours, rest)
}

// known reports whether t is an instant that a person can read.
func known(t segue.Time) bool { return t.Known() && t != segue.Never }

// moment returns an instant in words, in UTC: "1 Mar 2026 14:20".
func moment(t segue.Time) string {
	if !known(t) {
		return unknown
	}
	return t.Std().Format("2 Jan 2006 15:04")
}

// clock returns the time of day of an instant, with its date where that is not the
// date of ref.
func clock(t, ref segue.Time) string {
	if known(t) && known(ref) && t.Std().Format(time.DateOnly) == ref.Std().Format(time.DateOnly) {
		return t.Std().Format("15:04")
	}
	return moment(t)
}

// stamp returns an instant for people and programs.
func stamp(t segue.Time) template.HTML {
	if !known(t) {
		return unknown
	}
	return template.HTML(`<time datetime="` + t.Std().Format(time.RFC3339) + `">` + t.Std().Format("2 Jan 2006 15:04") + `</time>`)
}

// day returns the date of an instant, in UTC.
func day(t segue.Time) string {
	if !known(t) {
		return unknown
	}
	return t.Std().Format("2 Jan 2006")
}

func percent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return unknown
	}
	return strconv.Itoa(int(math.Round(share*100))) + " %"
}

// count returns for example "1 node" or "8 nodes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(int64(n)) + " " + noun + "s"
}

// grouped writes a number with a narrow space every three digits.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteRune('\u202f')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// chance returns a probability as a frequency, which people read better (Gigerenzer
// and Hoffrage, 1995): "3 of 10 cases".
func chance(p float64) string {
	switch {
	case math.IsNaN(p):
		return unknown
	case p < 0.025:
		return "fewer than 1 of 40 cases"
	case p < 0.075:
		return "1 of 20 cases"
	case p > 0.975:
		return "more than 39 of 40 cases"
	case p > 0.925:
		return "19 of 20 cases"
	}
	return strconv.Itoa(int(math.Round(p*10))) + " of 10 cases"
}

// shapeWords returns for example "4 nodes (8 GPUs each) for 48 h".
func shapeWords(s segue.Shape) string {
	text := count(s.Nodes, "node")
	if s.GPUsPerNode > 0 {
		text += " (" + count(s.GPUsPerNode, "GPU")
		if s.Nodes > 1 {
			text += " each"
		}
		text += ")"
	}
	switch s.Limit {
	case 0:
		return text
	case segue.Unlimited:
		return text + " without a limit"
	}
	return text + " for " + span(s.Limit)
}

// sentence makes a message one: with a capital letter and a full stop.
func sentence(message string) string {
	r := []rune(strings.TrimSpace(message))
	if len(r) == 0 {
		return ""
	}
	r[0] = unicode.ToUpper(r[0])
	if last := r[len(r)-1]; last != '.' && last != '?' && last != '!' {
		r = append(r, '.')
	}
	return string(r)
}

// maxText is how much of a text that somebody else wrote a table shows.
const maxText = 120

// short cuts a text that somebody else wrote.
func short(text string) string {
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText-1]) + "…"
	}
	return text
}

// table is numbers with a caption, for the template of that name.
type table struct {
	Caption string
	reports.Table
}

func tableOf(caption string, t reports.Table) table { return table{caption, t} }
