package models

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// The most that a model may hold. A real one has a dozen files of some
// megabytes; a manifest that claims more is damaged or hostile.
const (
	maxManifest = 4 << 20
	maxFiles    = 256
	maxFile     = 512 << 20
	maxModel    = 1 << 30
)

// validate refuses a manifest that no model could have; the message names the
// field and the rule.
func (m *Manifest) validate() error {
	if err := CheckID(m.ID); err != nil {
		return err
	}
	if m.Parent != "" {
		if err := CheckID(m.Parent); err != nil {
			return fmt.Errorf("parent: %w", err)
		}
	}
	for _, check := range []func() error{m.validateOrigin, m.validateFeatures, m.validateFiles, m.validatePolicies, m.validateTexts} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) validateOrigin() error {
	from, until := m.Window.From.Time(), m.Window.Until.Time()
	switch {
	case m.Format != FormatVersion:
		return segue.Errorf(segue.Invalid, "format is %d, want %d", m.Format, FormatVersion)
	case !usable(m.Created):
		return segue.Errorf(segue.Invalid, "created is %s, want an instant", m.Created)
	case !usable(m.Window.From) || !usable(m.Window.Until) || from >= until:
		return segue.Errorf(segue.Invalid, "training_window is from %s until %s, want from before until", from, until)
	case !isSHA256(m.Trace.SHA256):
		return segue.Errorf(segue.Invalid, "trace.sha256 is %q, want 64 lower-case hexadecimal digits", m.Trace.SHA256)
	case m.Trace.Jobs < 0:
		return segue.Errorf(segue.Invalid, "trace.jobs is %d, want 0 (not known) or more", m.Trace.Jobs)
	case m.Cluster.Nodes < 1:
		return segue.Errorf(segue.Invalid, "cluster.nodes is %d, want at least 1", m.Cluster.Nodes)
	}
	for i, p := range m.Pairs {
		if err := p.validate(); err != nil {
			return fmt.Errorf("pairs[%d]: %w", i, err)
		}
		if slices.Contains(m.Pairs[:i], p) {
			return segue.Errorf(segue.Invalid, "pairs[%d]: %s is there twice", i, p)
		}
	}
	return nil
}

// usable reports whether the instant has a year of four digits, as its text
// needs.
func usable(i Instant) bool {
	t := i.Time()
	if !t.Known() || t == segue.Never {
		return false
	}
	year := t.Std().Year()
	return year >= 0 && year <= 9999
}

func (p Pair) validate() error {
	if p.Nodes < 1 || p.GPUsPerNode < 0 || p.LimitSeconds < 1 || p.LimitSeconds > int64(segue.Unlimited.Seconds()) {
		return segue.Errorf(segue.Invalid, "%d nodes, %d GPUs a node, %d s: want at least 1 node, 0 GPUs and 1 s",
			p.Nodes, p.GPUsPerNode, p.LimitSeconds)
	}
	return nil
}

func (m *Manifest) validateFeatures() error {
	if len(m.Features.Names) == 0 {
		return segue.Errorf(segue.Invalid, "features.names is empty")
	}
	seen := make(map[string]bool, len(m.Features.Names))
	for i, name := range m.Features.Names {
		if name == "" || seen[name] {
			return segue.Errorf(segue.Invalid, "features.names[%d] %q is empty or there twice", i, name)
		}
		seen[name] = true
	}
	if want := predictor.FeatureHash(m.Features.Names); m.Features.SHA256 != want {
		return segue.Errorf(segue.Invalid, "features.sha256 is %q, but the names have %s", m.Features.SHA256, want)
	}
	return nil
}

func (m *Manifest) validateFiles() error {
	if n := len(m.Files); n == 0 || n > maxFiles {
		return segue.Errorf(segue.Invalid, "files has %d entries, want 1 to %d", n, maxFiles)
	}
	total, last := int64(0), ""
	for i, f := range m.Files {
		if err := checkFileName(f.Name); err != nil {
			return fmt.Errorf("files[%d]: %w", i, err)
		}
		switch {
		case f.Name == last:
			return segue.Errorf(segue.Invalid, "files[%d]: %s is there twice", i, f.Name)
		case f.Name < last:
			return segue.Errorf(segue.Invalid, "files[%d]: %s comes after %s, want them sorted by name", i, f.Name, last)
		case f.Size < 0 || f.Size > maxFile:
			return segue.Errorf(segue.Invalid, "files[%d]: %s has %d bytes, want 0 to %d", i, f.Name, f.Size, maxFile)
		case !isSHA256(f.SHA256):
			return segue.Errorf(segue.Invalid, "files[%d]: %s: sha256 is %q, want 64 lower-case hexadecimal digits", i, f.Name, f.SHA256)
		}
		total, last = total+f.Size, f.Name
	}
	if total > maxModel {
		return segue.Errorf(segue.Invalid, "the files have %d bytes together, want at most %d", total, maxModel)
	}
	return nil
}

func (m *Manifest) validatePolicies() error {
	for _, name := range m.Forecaster.Files {
		if !m.lists(name) {
			return segue.Errorf(segue.Invalid, "forecaster.files names %q, which is not among the files", name)
		}
	}
	seen := make(map[string]bool, len(m.Policies))
	for i, p := range m.Policies {
		switch {
		case p.Name == "" || seen[p.Name]:
			return segue.Errorf(segue.Invalid, "policies[%d]: name %q is empty or there twice", i, p.Name)
		case p.Kind == "":
			return segue.Errorf(segue.Invalid, "policies[%d]: %s has no kind", i, p.Name)
		case p.File != "" && !m.lists(p.File):
			return segue.Errorf(segue.Invalid, "policies[%d]: %s names the file %q, which is not among the files", i, p.Name, p.File)
		}
		seen[p.Name] = true
		for j, s := range p.Settings {
			if err := s.validate(); err != nil {
				return fmt.Errorf("policies[%d]: %s, settings[%d]: %w", i, p.Name, j, err)
			}
		}
	}
	for name, v := range m.Metrics {
		if name == "" || !finite(v) {
			return segue.Errorf(segue.Invalid, "metrics: %q is %v, want a name and a finite number", name, v)
		}
	}
	return nil
}

func (m *Manifest) lists(name string) bool {
	return slices.ContainsFunc(m.Files, func(f File) bool { return f.Name == name })
}

func (s Setting) validate() error {
	if err := s.Pair.validate(); err != nil {
		return err
	}
	numbers := []float64{s.Prefer, s.Parameter}
	for _, e := range []*Estimate{s.Cost, s.GapClosed} {
		if e != nil {
			numbers = append(numbers, e.Mean, e.Lo, e.Hi)
		}
	}
	for _, v := range numbers {
		if !finite(v) {
			return segue.Errorf(segue.Invalid, "a number is %v, want it finite", v)
		}
	}
	if s.Prefer <= 0 {
		return segue.Errorf(segue.Invalid, "prefer is %v, want more than 0", s.Prefer)
	}
	return nil
}

// validateTexts refuses texts that would not come back from JSON as they were,
// or that a terminal would take for commands.
func (m *Manifest) validateTexts() error {
	texts := []string{m.Version, m.Trace.Name, m.Cluster.Name, m.Forecaster.Name, m.Forecaster.What}
	texts = append(texts, m.Notes...)
	texts = append(texts, m.Features.Names...)
	for _, p := range m.Policies {
		texts = append(texts, p.Name, p.Kind)
	}
	for name := range m.Metrics {
		texts = append(texts, name)
	}
	for name, value := range m.Settings {
		texts = append(texts, name, value)
	}
	for _, text := range texts {
		if !isLine(text) {
			return segue.Errorf(segue.Invalid, "%q is not one line of printable UTF-8", text)
		}
	}
	return nil
}

// isLine reports whether text is valid UTF-8 that can be printed on one line.
func isLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

var hexadecimal = regexp.MustCompile(`^[0-9a-f]{64}$`)

func isSHA256(s string) bool { return hexadecimal.MatchString(s) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
