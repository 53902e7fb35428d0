package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// Registry is a folder of models, each in a folder that bears its ID, with a
// file that names the champion and a log of what became of the others. It keeps
// nothing in memory: several processes may use one folder.
type Registry struct {
	dir string
	now func() segue.Time
}

// NewRegistry returns the registry in the folder dir, which need not exist. The
// clock now dates what is logged.
func NewRegistry(dir string, now func() segue.Time) *Registry {
	return &Registry{dir: filepath.Clean(dir), now: now}
}

// Entry is one model of a registry.
type Entry struct {
	ID       string
	Manifest Manifest // the zero Manifest when Err is not nil
	Err      error    // why the model cannot be used
	Champion bool
	Last     *Event // what was last decided of it, nil when nothing was
}

// List returns the models, the newest first and those that cannot be used last.
// It reads the manifests and compares the files' names and sizes with them;
// their content is left to [Registry.Verify].
func (r *Registry) List() ([]Entry, error) {
	return r.list(func(fsys fs.FS) (*Model, error) {
		m, err := readManifest(fsys)
		return &Model{Manifest: m}, err
	})
}

// Verify is List after every byte of every model has been compared with its
// checksum.
func (r *Registry) Verify() ([]Entry, error) { return r.list(Read) }

func (r *Registry) list(read func(fs.FS) (*Model, error)) ([]Entry, error) {
	folders, err := os.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, segue.Errorf(segue.Unavailable, "list models: %w", err)
	}
	champion, err := r.Champion()
	if err != nil && segue.KindOf(err) != segue.NotFound {
		return nil, err
	}
	events, err := r.Log()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, folder := range folders {
		if name := folder.Name(); isModelFolder(folder) {
			e := Entry{ID: name, Champion: name == champion, Last: lastOf(events, name)}
			if m, err := r.read(name, read); err != nil {
				e.Err = err
			} else {
				e.Manifest = m.Manifest
			}
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Manifest.Created, a.Manifest.Created), cmp.Compare(a.ID, b.ID))
	})
	usable := slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Err != nil })
	broken := slices.DeleteFunc(entries, func(e Entry) bool { return e.Err == nil })
	return append(usable, broken...), nil
}

// isModelFolder reports whether an entry of the registry's folder is a model,
// sound or not. Hidden names and plain files are none; a link is, a broken one.
func isModelFolder(entry fs.DirEntry) bool {
	return !strings.HasPrefix(entry.Name(), ".") && (entry.IsDir() || entry.Type()&fs.ModeSymlink != 0)
}

// read reads a model of the registry in the given way.
func (r *Registry) read(id string, read func(fs.FS) (*Model, error)) (*Model, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	root, err := r.root(id)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m, err := read(root.FS())
	if err != nil {
		return nil, err
	}
	if m.Manifest.ID != id {
		return nil, segue.Errorf(segue.Corrupt, "it is a copy: the manifest says that this is model %s", m.Manifest.ID)
	}
	return m, nil
}

// root opens the folder of a model, which must be no link.
func (r *Registry) root(id string) (*os.Root, error) {
	path := filepath.Join(r.dir, id)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, segue.Errorf(segue.NotFound, "there is none in %s", r.dir)
	case err != nil:
		return nil, openError(err)
	case !info.IsDir():
		return nil, segue.Errorf(segue.Corrupt, "it is no folder")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, openError(err)
	}
	return root, nil
}

func lastOf(events []Event, id string) *Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Model == id {
			return &events[i]
		}
	}
	return nil
}

// Write writes a new model into the registry, as the function [Write] does.
func (r *Registry) Write(m Manifest, files map[string][]byte) error {
	if err := CheckID(m.ID); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return Write(filepath.Join(r.dir, m.ID), m, files)
}

// Open reads the model with the given ID, as the function [Open] does. The
// errors are of kind Invalid for what cannot be an ID, NotFound and Corrupt.
func (r *Registry) Open(id string) (*Model, error) {
	m, err := r.read(id, Read)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", id, err)
	}
	return m, nil
}

// Log returns all events of the registry, the oldest first.
func (r *Registry) Log() ([]Event, error) {
	events, _, err := readLog(r.path(logFile))
	if err != nil {
		return nil, fmt.Errorf("read the log of models: %w", err)
	}
	return events, nil
}

func (r *Registry) path(name string) string { return filepath.Join(r.dir, name) }
