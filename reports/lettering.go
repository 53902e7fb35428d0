package reports

import (
	"math"
	"strconv"
	"strings"
)

// textSize is the size of all lettering in drawings, in CSS pixels.
const textSize = 13

// textWidth estimates the width of s in pixels, rather too wide than too
// narrow: drawings are laid out without knowing the reader's font. The widths
// are about those of DejaVu Sans, the widest of the usual ones.
func textWidth(s string) float64 {
	width := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijltfrI.,:;|'!()[] ", r):
			width += 0.37
		case strings.ContainsRune("mwMW%@", r):
			width += 0.95
		case r >= 'A' && r <= 'Z':
			width += 0.72
		case r < 0x2e80:
			width += 0.63
		default: // CJK, emoji
			width += 1.1
		}
	}
	return width * textSize
}

// boldWidth estimates the width of s in bold letters.
func boldWidth(s string) float64 { return 1.13 * textWidth(s) }

// fit returns s, or as much of its beginning as fits into width with "…".
func fit(s string, width float64) string {
	if textWidth(s) <= width {
		return s
	}
	used := textWidth("…")
	for i, r := range s {
		used += textWidth(string(r))
		if used > width {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// widest returns the width of the widest of the texts.
func widest(texts []string) float64 {
	width := 0.0
	for _, s := range texts {
		width = max(width, textWidth(s))
	}
	return width
}

// unknown stands where there is no number.
const unknown = "–"

// decimal writes v with two decimals, and fewer when it is large: 0.07, 1.33,
// 12.3, 124.
func decimal(v float64) string {
	if !finite(v) {
		return unknown
	}
	digits := 2
	switch {
	case math.Abs(v) >= 99.95:
		digits = 0
	case math.Abs(v) >= 9.995:
		digits = 1
	}
	return minus(strconv.FormatFloat(roundTo(v, digits), 'f', digits, 64))
}

// whole writes v without decimals.
func whole(v float64) string { return minus(strconv.FormatFloat(roundTo(v, 0), 'f', 0, 64)) }

// percent writes a share as "67 %".
func percent(v float64) string {
	if !finite(v) {
		return unknown
	}
	return whole(v*100) + " %"
}

// hours writes a duration in the unit that suits it: "40 min", "3.5 h",
// "2.1 d".
func hours(v float64) string {
	size := math.Abs(v)
	switch {
	case !finite(v):
		return unknown
	case size < 1.0/120:
		return "0 h"
	case size < 0.995:
		return whole(v*60) + " min"
	case size < 72:
		return minus(strconv.FormatFloat(roundTo(v, 1), 'f', -1, 64)) + " h"
	}
	return minus(strconv.FormatFloat(roundTo(v/24, 1), 'f', -1, 64)) + " d"
}

// roundTo rounds to the given number of decimals and never returns -0.
func roundTo(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale)/scale + 0
}

// minus writes the typographic minus sign.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }
