package models

import (
	"embed"
	"fmt"
	"io/fs"
)

// DefaultName is what commands call the model that is part of the program.
const DefaultName = "default"

// builtin holds the model that scripts/default-model trains.
//
//go:embed default
var builtin embed.FS

// Default returns the model that is part of the program, which was trained on
// histories that were made up. It is for clusters that have no model of their own
// yet.
func Default() (*Model, error) {
	folder, err := fs.Sub(builtin, DefaultName)
	if err != nil {
		return nil, fmt.Errorf("the built-in model: %w", err)
	}
	m, err := Read(folder)
	if err != nil {
		return nil, fmt.Errorf("the built-in model: %w", err)
	}
	return m, nil
}
