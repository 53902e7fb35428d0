package traces

import (
	"bytes"
	"errors"
	"io"
	"time"

	"github.com/segue-project/segue"
)

// textSource reads a history of lines; what a line means is its parser's.
type textSource struct {
	lines  *lineScanner
	parser lineParser
	name   string
	report *Report
	line   []byte
}

// lineParser is one format of lines.
type lineParser interface {
	// parse fills rec from the line. It returns usable, noRecord, or why the
	// line cannot be used; an error if the file is no history of the format.
	parse(line []byte, rec *record) (Reason, error)
	// end is called at the end of the file. It may note what only shows there
	// and refuse the file.
	end(report *Report) error
}

func newTextSource(format Format, lines *lineScanner, header *Header, report *Report, opt Options) (*textSource, error) {
	s := &textSource{lines: lines, name: opt.Name, report: report}
	header.UnixStart = segue.NoTime
	zone := opt.Zone
	if zone == nil {
		zone = time.UTC
	}
	switch format {
	case SWF:
		s.parser = newSWFParser(header)
	case LS6:
		if opt.Zone == nil {
			zone = lonestar6()
		}
		s.parser = newTableParser(ls6Dialect, opt.Name, header, zone)
	case Sacct:
		s.parser = newTableParser(sacctDialect, opt.Name, header, zone)
	default:
		return nil, segue.Errorf(segue.Invalid, "%s: format %s cannot be read, want swf, ls6, sacct or parquet", opt.Name, format)
	}
	return s, nil
}

// lonestar6 returns the time zone of Lonestar6, in Austin, Texas.
func lonestar6() *time.Location {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		panic("traces: the zone data linked into this program lack America/Chicago: " + err.Error())
	}
	return zone
}

// read implements source.
func (s *textSource) read(rec *record) (Reason, error) {
	line, err := s.lines.next()
	switch {
	case errors.Is(err, io.EOF):
		if refused := s.parser.end(s.report); refused != nil {
			return noRecord, refused
		}
		return noRecord, io.EOF
	case err != nil:
		return noRecord, streamError(s.name, s.lines.number, err)
	}
	if s.lines.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	s.line = line
	switch {
	case s.lines.tooLong:
		return LineTooLong, nil
	case bytes.IndexByte(line, 0) >= 0:
		return NULByte, nil
	}
	reason, refused := s.parser.parse(line, rec)
	if s.lines.cutBy == nil || reason == noRecord {
		return reason, refused
	}
	if !errors.Is(s.lines.cutBy, io.EOF) || (reason != usable && reason.Class() == Rejected) {
		return CutOff, refused
	}
	rec.notes.add(NoFinalNewline)
	return reason, refused
}

// place implements source.
func (s *textSource) place() int64 { return s.lines.number }

// text implements source.
func (s *textSource) text() []byte { return s.line }

// progress implements source.
func (s *textSource) progress() (done, total int64) { return 0, 0 }

// close implements source.
func (s *textSource) close() error { return nil }
