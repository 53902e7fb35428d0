package traces

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the longest line that is read, in bytes; the memory of a
// lineScanner.
const maxLine = 1 << 20

// lineScanner cuts a stream into lines. It keeps one line in memory and steps
// over the rest of a longer one.
type lineScanner struct {
	r      *bufio.Reader
	number int64 // of the line that next returned last, from 1
	// tooLong says of that line that it was longer than maxLine; cutBy is why
	// it has no line end, nil if it has one.
	tooLong bool
	cutBy   error
}

func newLineScanner(r io.Reader) *lineScanner {
	return &lineScanner{r: bufio.NewReaderSize(r, maxLine)}
}

// peek returns up to n bytes from the start of the stream without consuming
// them. It fails if the stream fails before the first byte; a later error
// shows up when the lines are read.
func (s *lineScanner) peek(n int) ([]byte, error) {
	head, err := s.r.Peek(n)
	if len(head) > 0 || errors.Is(err, io.EOF) {
		return head, nil
	}
	return nil, err
}

// next returns the next line without its line end, valid until the next call.
// A piece of a line before the end of the stream, or before an error, is a line
// too. After the last line it returns the stream's error, io.EOF at its end.
func (s *lineScanner) next() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	s.tooLong = errors.Is(err, bufio.ErrBufferFull)
	if s.tooLong {
		line = bytes.Clone(line[:200])
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = s.r.ReadSlice('\n')
		}
	}
	if len(line) == 0 {
		return nil, err
	}
	s.number++
	s.cutBy = err
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}
