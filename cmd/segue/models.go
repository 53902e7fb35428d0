package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
)

// modelsFlags are the flags of all commands of segue models.
type modelsFlags struct{ dir string }

func newModelsCommand() *cobra.Command {
	var f modelsFlags
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Look at trained models, and say which one decides",
		Long: `Models shows the trained models of a folder and changes which one is the
champion, the model that decides. A model is a folder with a manifest; a model of
which a single bit differs from its manifest is refused, and the message names
the file (docs/models.md). With --server, list, promote and rollback are about the
models of a server.`,
	}
	cmd.PersistentFlags().StringVar(&f.dir, "dir", "",
		"folder of the models (default $XDG_DATA_HOME/segue/models, or ~/.local/share/segue/models)")
	cmd.AddCommand(
		newModelsDiffCommand(&f),
		newModelsListCommand(&f),
		newModelsPromoteCommand(&f),
		newModelsRollbackCommand(&f),
		newModelsShowCommand(&f),
		newModelsVerifyCommand(&f),
	)
	return cmd
}

// asks reports whether a server is to be asked instead of the folder. A flag that is
// about what is here is refused beside it.
func (f *modelsFlags) asks(cmd *cobra.Command, ask *serverFlags) (bool, error) {
	return ask.asks(cmd, "this machine", "dir", "store")
}

// registry returns the models of the folder that was asked for. The user's own need not
// be there, nor has it models before the first training; one that is named must be.
func (f *modelsFlags) registry() (*models.Registry, error) {
	dir, err := f.folder()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); f.dir != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, segue.Errorf(segue.NotFound, "--dir %s: there is no such folder; the first training that writes a model there makes it", dir)
	} else if err == nil && !info.IsDir() {
		return nil, segue.Errorf(segue.Invalid, "the models are to be in a folder, and %s is none", dir)
	}
	return models.NewRegistry(dir, func() segue.Time { return segue.TimeOf(time.Now()) }), nil
}

// folder returns the folder that was asked for, or the user's own.
func (f *modelsFlags) folder() (string, error) {
	if f.dir != "" {
		return f.dir, nil
	}
	data := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) { // which the XDG specification wants ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", segue.Errorf(segue.Invalid, "the folder of the models is missing, and there is no home folder: %w", err)
		}
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "segue", "models"), nil
}

// open reads every byte of a model of the folder, or of the one that segue carries.
func (f *modelsFlags) open(id string) (*models.Model, error) {
	if id == models.DefaultName {
		return models.Default()
	}
	r, err := f.registry()
	if err != nil {
		return nil, err
	}
	return r.Open(id)
}

// stateOf says in a word or two what has become of a model.
func stateOf(e models.Entry) string {
	switch {
	case e.Err != nil:
		return "damaged"
	case e.Champion:
		return "champion"
	case e.Last == nil:
		return "new"
	case e.Last.Action == models.Kept:
		return "kept"
	}
	return "former champion"
}

// reasonOf returns why a model is what it is, empty when nothing was decided.
func reasonOf(e models.Entry) string {
	if e.Last == nil {
		return ""
	}
	return e.Last.Reason
}

// day returns the UTC date of an instant.
func day(i models.Instant) string { return i.Time().Std().Format(time.DateOnly) }

// orDash returns a dash for an empty text.
func orDash(text string) string { return cmp.Or(text, "-") }
