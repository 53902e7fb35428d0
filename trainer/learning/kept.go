//go:build native

package learning

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/internal/summed"
)

// keptValue is what a file of finished work holds.
type keptValue[T any] struct {
	Key   string // says from what the value was made
	Value T
}

// kept returns what produce makes, or what it made for an earlier training in
// the same folder with the same key, when that is resumed. What is kept is whole
// or not there.
func kept[T any](cfg Config, name, key string, produce func() (T, error)) (T, error) {
	path := filepath.Join(cfg.Dir, name+".gob")
	if cfg.Dir != "" && cfg.Resume {
		value, err := readKept[T](path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return value.Value, err
		case value.Key != key:
			return value.Value, segue.Errorf(segue.Conflict, "%s is of a training with other settings (%s): use those, or another folder", path, difference(value.Key, key))
		default:
			return value.Value, nil
		}
	}
	value, err := produce()
	if err != nil || cfg.Dir == "" {
		return value, err
	}
	return value, keep(path, keptValue[T]{key, value})
}

// difference says in what the key of something that was kept is not the one that
// is wanted. Keys are lines.
func difference(was, wanted string) string {
	a, b := strings.Split(was, "\n"), strings.Split(wanted, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%s, and not %s", a[i], b[i])
		}
	}
	return fmt.Sprintf("it says %d things of them, and not %d", len(a), len(b))
}

// readKept reads a file that keep wrote. One that is not as it was written is
// Corrupt: of floats, which most of it is, a wrong one looks like any other.
func readKept[T any](path string) (keptValue[T], error) {
	var value keptValue[T]
	f, err := os.Open(path)
	if err != nil {
		return value, err
	}
	defer f.Close()
	content, err := summed.Content(f)
	if err == nil {
		err = gob.NewDecoder(content).Decode(&value)
	}
	if err != nil {
		return value, segue.Errorf(segue.Corrupt, "%s is damaged, or of another version of the program (%w): remove it, and make anew what it held", path, err)
	}
	return value, nil
}

// keep writes the value to its place when it is whole.
func keep(path string, value any) error {
	if err := summed.Write(path, func(w io.Writer) error { return gob.NewEncoder(w).Encode(value) }); err != nil {
		return fmt.Errorf("keep %s: %w", path, err)
	}
	return nil
}

// slim drops what training does not need again from streams that are to be
// kept: forecasts that features were made from, and all copies but one of each
// replay's timeline. joined undoes the latter.
func slim(streams []trainer.Stream) []trainer.Stream {
	for _, s := range streams {
		for i := range s.Episodes {
			s.Episodes[i].Forecasts = nil
			if i > 0 {
				s.Episodes[i].Timeline = nil
			}
		}
	}
	return streams
}

// joined lets the episodes of a stream share one timeline again.
func joined(streams []trainer.Stream) {
	for _, s := range streams {
		for i := range s.Episodes {
			s.Episodes[i].Timeline = s.Episodes[0].Timeline
			s.Episodes[i].Forecasts = map[string][]segue.Forecast{}
		}
	}
}
