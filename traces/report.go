package traces

import (
	"fmt"
	"strings"
	"unicode"
)

// maxExamples is how many places a finding shows.
const maxExamples = 3

// Report says what was found in a history. Every line is accounted for:
//
//	Lines + Expanded = Other + Records + Rejected() + Skipped()
//
// once the history is read to its end. The zero Report is empty.
type Report struct {
	Lines    int64 // lines of text, or rows of Parquet
	Other    int64 // headers, comments, banners and empty lines among them
	Records  int64 // jobs delivered
	Expanded int64 // jobs made from pending arrays, beyond one a line
	findings [numReasons]finding
}

type finding struct {
	count    int64
	examples []Example
}

// Finding is one reason with how often it was met and where at first.
type Finding struct {
	Reason   Reason
	Count    int64
	Examples []Example // at most three
}

// Example is one place where a finding was met.
type Example struct {
	Line int64  // counted from 1; rows of Parquet likewise
	Text string // what stands there, shortened, safe to print
}

// String returns for example "line 1843: 4711|train|...".
func (e Example) String() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Count returns how many records r was met on.
func (r *Report) Count(reason Reason) int64 { return r.findings[reason].count }

// Rejected returns the number of records that could not be used.
func (r *Report) Rejected() int64 { return r.sum(Rejected) }

// Skipped returns the number of records that are no jobs of their own.
func (r *Report) Skipped() int64 { return r.sum(Skipped) }

func (r *Report) sum(c Class) (n int64) {
	for reason := range r.findings {
		if Reason(reason).Class() == c {
			n += r.findings[reason].count
		}
	}
	return n
}

// Findings returns what was met at least once, rejected first, noted last.
func (r *Report) Findings() []Finding {
	var found []Finding
	for _, reason := range Reasons() {
		if f := r.findings[reason]; f.count > 0 {
			found = append(found, Finding{Reason: reason, Count: f.count, Examples: f.examples})
		}
	}
	return found
}

// String returns the findings in one line, for an error or a log.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d jobs from %d lines", r.Records, r.Lines)
	for _, f := range r.Findings() {
		fmt.Fprintf(&b, "; %d %s (%s)", f.Count, f.Reason, f.Examples[0])
	}
	return b.String()
}

// place is where something was found: the number of a line or a row, and what
// stands there.
type place struct {
	line int64
	text func() []byte
}

// add counts reason once, and keeps the place while there are few.
func (r *Report) add(reason Reason, at place) {
	f := &r.findings[reason]
	f.count++
	if len(f.examples) < maxExamples {
		f.examples = append(f.examples, Example{Line: at.line, Text: printable(at.text(), 160)})
	}
}

// printable returns at most limit bytes of text with everything that is no
// printable character replaced, so that a terminal takes none of it for a
// command.
func printable(text []byte, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:limit]
	}
	s := strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '\u00b7'
		}
		return r
	}, strings.ToValidUTF8(string(text), "\u00b7"))
	if cut {
		s += "..."
	}
	return s
}
