package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// Model is a model all of whose bytes agree with its manifest.
type Model struct {
	Manifest Manifest
	files    map[string][]byte
}

// File returns the content of a file of the model, nil when it has no such
// file. The caller must not change it.
func (m *Model) File(name string) []byte { return m.files[name] }

// Open reads the model in the folder dir and refuses it unless the folder holds
// what the manifest lists, byte for byte, and nothing else. The message names
// every file that is damaged, missing, not listed, of another size, or no plain
// file. Nothing outside dir is read, whatever links it holds.
//
// The errors are of kind NotFound when there is no such folder, and Corrupt.
func Open(dir string) (*Model, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", dir, openError(err))
	}
	defer root.Close()
	m, err := Read(root.FS())
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", dir, err)
	}
	return m, nil
}

// openError gives the error of opening a folder its kind.
func openError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return segue.Errorf(segue.NotFound, "no such folder")
	}
	return segue.Errorf(segue.Unavailable, "%w", err)
}

// Read is [Open] for a model at the root of fsys, such as an embedded one.
func Read(fsys fs.FS) (*Model, error) {
	m, err := readManifest(fsys)
	if err != nil {
		return nil, err
	}
	model := &Model{Manifest: m, files: make(map[string][]byte, len(m.Files))}
	var wrong []string
	for _, f := range m.Files {
		data, err := readPlain(fsys, f.Name, f.Size)
		switch {
		case err != nil:
			wrong = append(wrong, err.Error())
		case sum(data) != f.SHA256:
			wrong = append(wrong, f.Name+" is damaged: it does not agree with its SHA-256 in "+ManifestFile)
		}
		model.files[f.Name] = data
	}
	if err := corrupt(wrong); err != nil {
		return nil, err
	}
	return model, nil
}

// readManifest reads the manifest of the model at the root of fsys, and
// compares the names and the sizes of its files with it.
func readManifest(fsys fs.FS) (Manifest, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return Manifest{}, segue.Errorf(segue.Unavailable, "%w", err)
	}
	sizes, wrong := sizesOf(entries)
	for _, name := range []string{ManifestFile, ManifestSumFile} {
		if size, ok := sizes[name]; !ok && len(wrong) == 0 {
			wrong = append(wrong, name+" is missing")
		} else if size > maxManifest {
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes, want at most %d", name, size, maxManifest))
		}
	}
	if len(wrong) > 0 {
		return Manifest{}, corrupt(wrong)
	}
	m, err := readAgreeing(fsys, sizes)
	if err != nil {
		return Manifest{}, err
	}
	return m, corrupt(compare(m.Files, sizes))
}

// sizesOf returns the sizes of the plain files of a folder, and what is wrong
// with the others.
func sizesOf(entries []fs.DirEntry) (sizes map[string]int64, wrong []string) {
	sizes = make(map[string]int64, len(entries))
	for _, entry := range entries {
		name := fmt.Sprintf("%.120q", entry.Name())
		if plainName.MatchString(entry.Name()) {
			name = entry.Name()
		}
		info, err := entry.Info()
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			wrong = append(wrong, name+" is a symbolic link, want a plain file")
		case !entry.Type().IsRegular():
			wrong = append(wrong, name+" is no plain file")
		case err != nil:
			wrong = append(wrong, err.Error())
		case name != entry.Name():
			wrong = append(wrong, name+" is not listed in "+ManifestFile)
		default:
			sizes[name] = info.Size()
		}
	}
	return sizes, wrong
}

// readAgreeing reads manifest.json and refuses it unless it agrees with
// manifest.sha256.
func readAgreeing(fsys fs.FS, sizes map[string]int64) (Manifest, error) {
	text, err := readPlain(fsys, ManifestFile, sizes[ManifestFile])
	if err != nil {
		return Manifest{}, segue.Errorf(segue.Corrupt, "%w", err)
	}
	line, err := readPlain(fsys, ManifestSumFile, sizes[ManifestSumFile])
	if err != nil {
		return Manifest{}, segue.Errorf(segue.Corrupt, "%w", err)
	}
	digits, rest, _ := bytes.Cut(line, []byte("  "))
	switch {
	case !isSHA256(string(digits)) || string(rest) != ManifestFile+"\n":
		return Manifest{}, segue.Errorf(segue.Corrupt, "%s is damaged: want one line, a SHA-256 and the name %s", ManifestSumFile, ManifestFile)
	case !bytes.Equal(line, sumLine(text)):
		return Manifest{}, segue.Errorf(segue.Corrupt, "%s is damaged: it does not agree with %s", ManifestFile, ManifestSumFile)
	}
	m, err := decode(text)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", ManifestFile, err)
	}
	return m, nil
}

// compare returns how the files that are there differ from those listed.
func compare(listed []File, sizes map[string]int64) []string {
	var wrong []string
	for _, f := range listed {
		switch size, ok := sizes[f.Name]; {
		case !ok:
			wrong = append(wrong, f.Name+" is missing")
		case size != f.Size:
			wrong = append(wrong, fmt.Sprintf("%s has %d bytes, want %d", f.Name, size, f.Size))
		}
	}
	for name := range sizes {
		known := name == ManifestFile || name == ManifestSumFile ||
			slices.ContainsFunc(listed, func(f File) bool { return f.Name == name })
		if !known {
			wrong = append(wrong, name+" is not listed in "+ManifestFile)
		}
	}
	return wrong
}

// readPlain reads a file that must have so many bytes.
func readPlain(fsys fs.FS, name string, size int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != size {
		return nil, fmt.Errorf("%s changed while it was read", name)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// corrupt returns an error of everything that is wrong, nil when nothing is.
func corrupt(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	return segue.Errorf(segue.Corrupt, "%s", strings.Join(wrong, "; "))
}
