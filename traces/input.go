package traces

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/segue-project/segue"
)

// OpenFile opens the file at path for reading and says what went wrong in words that a
// user can act on: of kind NotFound where it is not there, Invalid where it is a folder.
// The size is in bytes, 0 where it is not known.
func OpenFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, segue.Errorf(segue.NotFound, "%s: no such file", path)
	case err != nil:
		return nil, 0, fmt.Errorf("open history: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = segue.Errorf(segue.Invalid, "%s is a folder, want a file", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return f, 0, nil
	}
	return f, info.Size(), nil
}

// countingReader counts the bytes that pass.
type countingReader struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// compressions are the formats of compressed files that are recognised; only
// gzip is read.
var compressions = []struct{ magic, name, advice string }{
	{"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"},
	{"\xfd7zXZ\x00", "xz", "xz -dc"},
	{"BZh", "bzip2", "bzip2 -dc"},
	{"PK\x03\x04", "zip", "unzip -p"},
}

// decompress returns the text in r, unpacked if r is gzip.
func decompress(name string, r io.Reader) (*lineScanner, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	magic, _ := br.Peek(6)
	if bytes.HasPrefix(magic, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, segue.Errorf(segue.Corrupt, "%s begins like gzip, but is damaged: %w", name, err)
		}
		return newLineScanner(z), nil
	}
	for _, c := range compressions {
		if bytes.HasPrefix(magic, []byte(c.magic)) {
			return nil, segue.Errorf(segue.Invalid, "%s is compressed with %s, want plain text, gzip or Parquet; unpack it with %s",
				name, c.name, c.advice)
		}
	}
	return newLineScanner(br), nil
}

// streamError says what a failed read means: damaged gzip data are Corrupt,
// anything else may go better another time.
func streamError(name string, line int64, err error) error {
	var flawed flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return segue.Errorf(segue.Corrupt, "%s: the compressed data end early, after line %d", name, line)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &flawed):
		return segue.Errorf(segue.Corrupt, "%s: the compressed data are damaged after line %d: %w", name, line, err)
	}
	return segue.Errorf(segue.Unavailable, "%s: read after line %d: %w", name, line, err)
}
