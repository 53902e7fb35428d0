package traces

import (
	"bytes"
	"strings"

	"github.com/segue-project/segue"
)

// sniffed is the number of bytes by which a format is recognised.
const sniffed = 1 << 16

const wanted = "a history in the Standard Workload Format (comments after ';', then 18 numbers a line), the Lonestar6 log, " +
	"sacct -P with its header line, or Parquet; any of them but Parquet may be gzip"

// sniff recognises the format of the text that begins with head, and refuses
// what no text format can be even if the format is given.
func sniff(name string, head []byte, given Format) (Format, error) {
	if err := refuseText(name, head); err != nil {
		return Auto, err
	}
	if given != Auto {
		return given, nil
	}
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return Auto, segue.Errorf(segue.Invalid, "%s: Parquet has its table of contents at the end: "+
			"give a file, neither a pipe nor gzip", name)
	}
	text := bytes.TrimPrefix(head, []byte("\ufeff"))
	lines := 0
	for rest := text; len(rest) > 0 && lines < mostBanner; lines++ {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if format, ok := sniffLine(line); ok {
			if format == LS6 && fixedWidth(more) {
				return Auto, segue.Errorf(segue.Invalid, "%s is sacct's table for the eye, with names cut short and no "+
					"separators.\nExport again with: %s", name, sacctCommand)
			}
			return format, nil
		}
		rest = more
	}
	saw := "saw \"" + printable(firstText(text), 80) + "\""
	if binaryShare(head) > 0.1 {
		saw = "saw binary data"
	}
	return Auto, segue.Errorf(segue.Invalid, "%s is no job history that is known here.\nWant %s;\n%s", name, wanted, saw)
}

func sniffLine(line []byte) (Format, bool) {
	if trimmed := bytes.TrimLeft(line, " \t"); len(trimmed) > 0 && trimmed[0] == ';' {
		return SWF, true
	}
	if _, _, ok := sacctHeader(line); ok {
		return Sacct, true
	}
	if _, _, ok := ls6Header(line); ok || looksLikeLS6Row(line) {
		return LS6, true
	}
	fields := bytes.Fields(line)
	for _, f := range fields {
		if _, ok := parseSWFNumber(f); !ok {
			return Auto, false
		}
	}
	return SWF, len(fields) == swfFields
}

// refuseText refuses what no text format can be.
func refuseText(name string, head []byte) error {
	switch {
	case len(head) == 0:
		return segue.Errorf(segue.Invalid, "%s is empty; want %s", name, wanted)
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")), alternateNULs(head):
		return segue.Errorf(segue.Invalid, "%s is UTF-16, want UTF-8; convert it with iconv -f UTF-16 -t UTF-8", name)
	}
	return nil
}

// alternateNULs recognises UTF-16 without a byte order mark: ASCII text has a
// NUL in every other place and none between.
func alternateNULs(head []byte) bool {
	head = head[:min(len(head), 200)]
	even, odd := 0, 0
	for i, c := range head {
		if c == 0 && i%2 == 0 {
			even++
		} else if c == 0 {
			odd++
		}
	}
	half := len(head) / 2
	return half >= 4 && (even >= half-1 && odd == 0 || odd >= half-1 && even == 0)
}

// fixedWidth reports whether the lines after a header are columns of fixed
// width under dashes instead of rows with tabs.
func fixedWidth(rest []byte) bool {
	rule, rows, _ := bytes.Cut(rest, []byte("\n"))
	row, _, _ := bytes.Cut(rows, []byte("\n"))
	return isRule(bytes.TrimSuffix(rule, []byte("\r"))) && len(row) > 0 && bytes.IndexByte(row, '\t') < 0
}

func firstText(text []byte) []byte {
	text = bytes.TrimLeft(text, " \t\r\n")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.TrimSpace(line)
}

// binaryShare returns the share of bytes that no text has.
func binaryShare(head []byte) float64 {
	odd := 0
	for _, c := range head {
		if c < ' ' && strings.IndexByte("\t\n\r\f\x1b\x1e\x1f", c) < 0 {
			odd++
		}
	}
	return float64(odd) / float64(len(head))
}
