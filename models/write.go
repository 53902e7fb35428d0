package models

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// Write writes a model into the folder dir, which must not exist or be empty.
// It fills in the manifest's Format, Files and hash of the features, and sorts
// the forecaster's files. Either the whole model is there, on the disk, or
// nothing is: it is written to a temporary folder beside dir, which is then
// renamed.
//
// Several processes may write beside each other. What a killed one left is
// removed by the next.
//
// The errors are of kind Invalid for a manifest that no model could have,
// Conflict when dir holds something, and Unavailable when the disk fails.
func Write(dir string, m Manifest, files map[string][]byte) error {
	return write(dir, m, files, writeFile)
}

// write is Write over the given way to put one file on the disk.
func write(dir string, m Manifest, files map[string][]byte, put func(path string, data []byte) error) error {
	text, err := m.seal(files)
	if err != nil {
		return fmt.Errorf("write model %s: %w", dir, err)
	}
	dir = filepath.Clean(dir)
	parent := filepath.Dir(dir)
	unlock, err := lock(parent)
	if err != nil {
		return fmt.Errorf("write model %s: %w", dir, err)
	}
	defer unlock()
	temp := filepath.Join(parent, tempName)
	err = fill(temp, text, files, put)
	if err == nil {
		err = place(temp, dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write model %s: %w", dir, err), os.RemoveAll(temp))
	}
	return nil
}

// tempName is the folder that a model is written to. One is enough: whoever
// finds it while holding the lock knows that its writer is dead.
const tempName = ".segue-writing"

// seal completes and checks the manifest and returns the text of manifest.json.
func (m *Manifest) seal(files map[string][]byte) ([]byte, error) {
	m.Format = FormatVersion
	m.Features.SHA256 = predictor.FeatureHash(m.Features.Names)
	m.Forecaster.Files = slices.Sorted(slices.Values(m.Forecaster.Files))
	m.Files = nil
	for _, name := range slices.Sorted(maps.Keys(files)) {
		m.Files = append(m.Files, File{Name: name, Size: int64(len(files[name])), SHA256: sum(files[name])})
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	text, err := m.encode()
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "%w", err)
	}
	if len(text) > maxManifest {
		return nil, segue.Errorf(segue.Invalid, "the manifest has %d bytes, want at most %d", len(text), maxManifest)
	}
	return text, nil
}

// fill writes all files of a model into the new folder temp.
func fill(temp string, manifest []byte, files map[string][]byte, put func(path string, data []byte) error) error {
	if err := os.RemoveAll(temp); err != nil {
		return segue.Errorf(segue.Unavailable, "remove what a killed writer left: %w", err)
	}
	if err := os.Mkdir(temp, 0o777); err != nil {
		return segue.Errorf(segue.Unavailable, "%w", err)
	}
	all := maps.Clone(files)
	all[ManifestFile], all[ManifestSumFile] = manifest, sumLine(manifest)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := put(filepath.Join(temp, name), all[name]); err != nil {
			return segue.Errorf(segue.Unavailable, "%w", err)
		}
	}
	return syncFolder(temp)
}

// place renames the folder temp to dir, unless dir holds something.
func place(temp, dir string) error {
	switch entries, err := os.ReadDir(dir); {
	case len(entries) > 0:
		return segue.Errorf(segue.Conflict, "the folder exists already, and models are never changed")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return segue.Errorf(segue.Conflict, "%w", err)
	}
	// No one else can have made dir meanwhile but by ignoring the lock, and
	// even then rename replaces nothing but an empty folder.
	if err := os.Rename(temp, dir); err != nil {
		return segue.Errorf(segue.Unavailable, "%w", err)
	}
	return syncFolder(filepath.Dir(dir))
}

// writeFile creates a file and returns when it is on the disk.
func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return finish(f, data)
}

// finish writes data to the end of f, waits until it is on the disk, and closes
// f.
func finish(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncFolder returns when the names in a folder are on the disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "%w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return segue.Errorf(segue.Unavailable, "%w", err)
	}
	return nil
}
