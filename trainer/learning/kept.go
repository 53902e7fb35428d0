//go:build native

package learning

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer"
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
			return value.Value, segue.Errorf(segue.Conflict, "%s is of a training with other settings: use those, or another folder", path)
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

func readKept[T any](path string) (keptValue[T], error) {
	var value keptValue[T]
	f, err := os.Open(path)
	if err != nil {
		return value, err
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&value); err != nil {
		return value, segue.Errorf(segue.Corrupt, "read %s: %w", path, err)
	}
	return value, nil
}

// keep writes the value beside its place and moves it there when it is whole.
func keep(path string, value any) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = errors.Join(gob.NewEncoder(f).Encode(value), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
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
