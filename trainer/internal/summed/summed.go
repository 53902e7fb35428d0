// Package summed keeps what a training has finished: a file with the SHA-256 of its
// content after it, which is whole or not there. Most of what is kept are floats, of
// which a wrong one looks like any other.
package summed

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
)

var errSum = errors.New("its SHA-256 is not the one at its end")

// Write writes a file of what write writes and the sum of it, so that after a crash
// either the old one is there or the new one.
func Write(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // which is gone once the file has its own
	sum := sha256.New()
	err = write(io.MultiWriter(f, sum))
	if err == nil {
		_, err = f.Write(sum.Sum(nil))
	}
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Content returns what a file that Write wrote has before the sum, which agrees.
func Content(f *os.File) (io.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size() - sha256.Size
	if size < 0 {
		return nil, errSum
	}
	sum, want := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return nil, err
	}
	if _, err := f.ReadAt(want, size); err != nil {
		return nil, err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return nil, errSum
	}
	return bufio.NewReader(io.NewSectionReader(f, 0, size)), nil
}
