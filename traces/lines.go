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
	s.tooLong, s.cutBy = false, nil
	if err != nil {
		if line, err = s.finish(line, err); len(line) == 0 {
			return nil, err
		}
	}
	s.number++
	if n := len(line) - 1; line[n] == '\n' {
		line = line[:n]
	}
	if n := len(line) - 1; n >= 0 && line[n] == '\r' {
		line = line[:n]
	}
	return line, nil
}

// finish says of a line whose end was not found whether it is too long, of
// which it keeps the beginning, or what cut it off.
func (s *lineScanner) finish(line []byte, err error) ([]byte, error) {
	s.tooLong = errors.Is(err, bufio.ErrBufferFull)
	if s.tooLong {
		line = bytes.Clone(line[:200])
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = s.r.ReadSlice('\n')
		}
	}
	s.cutBy = err
	return line, err
}
