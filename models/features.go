package models

import (
	"fmt"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// Features is the input of a model: the names of the features in the order in
// which its trees and networks read them.
type Features struct {
	SHA256 string   `json:"sha256"` // predictor.FeatureHash of the names; Write sets it
	Names  []string `json:"names"`
}

// CheckFeatures refuses the model when it was trained on other features than
// those that the caller computes, or in another order; the message names them.
// The error is of kind Invalid.
func (m *Model) CheckFeatures(names []string) error {
	if diff := featureDifference(m.Manifest.Features.Names, names); diff != "" {
		return segue.Errorf(segue.Invalid, "model %s was trained on other features than this program computes: %s",
			m.Manifest.ID, diff)
	}
	return nil
}

// featureDifference says how the features of a program differ from those of a
// model, nothing when they do not.
func featureDifference(model, program []string) string {
	var parts []string
	if only := without(model, program); len(only) > 0 {
		parts = append(parts, "only the model has "+quoted(only))
	}
	if only := without(program, model); len(only) > 0 {
		parts = append(parts, "only the program has "+quoted(only))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	for i := range min(len(model), len(program)) {
		if model[i] != program[i] {
			return fmt.Sprintf("the order differs from feature %d on: %q in the model, %q in the program", i+1, model[i], program[i])
		}
	}
	if len(model) != len(program) {
		return fmt.Sprintf("the model has %d, the program %d, of the same names", len(model), len(program))
	}
	return ""
}

// without returns the names of a that b lacks.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
}

// mostQuoted is how many names a message shows.
const mostQuoted = 8

func quoted(names []string) string {
	shown := make([]string, 0, mostQuoted)
	for _, name := range names[:min(len(names), mostQuoted)] {
		shown = append(shown, fmt.Sprintf("%q", name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
