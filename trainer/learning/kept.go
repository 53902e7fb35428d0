//go:build native

package learning

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// kept returns what make makes, or what it made for an earlier training in the
// same folder, when that is resumed. What is kept is whole or not there.
func kept[T any](cfg Config, name string, make func() (T, error)) (T, error) {
	path := filepath.Join(cfg.Dir, name+".gob")
	if cfg.Dir != "" && cfg.Resume {
		value, err := readKept[T](path)
		if !errors.Is(err, fs.ErrNotExist) {
			return value, err
		}
	}
	value, err := make()
	if err != nil || cfg.Dir == "" {
		return value, err
	}
	return value, keep(path, value)
}

func readKept[T any](path string) (T, error) {
	var value T
	f, err := os.Open(path)
	if err != nil {
		return value, err
	}
	defer f.Close()
	if err := gob.NewDecoder(f).Decode(&value); err != nil {
		return value, fmt.Errorf("read %s: %w; train without resuming", path, err)
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
