package models

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is one thing in which two models differ, in words; a side that has
// no such thing is empty.
type Difference struct {
	Section string // "training", "settings", "features", "policies", "metrics" or "files"
	Name    string
	A, B    string
}

// Diff returns in what b differs from a: what they were trained on and when, the
// settings, their features, policies, metrics and files.
func Diff(a, b Manifest) []Difference {
	var d differences
	d.training(a, b)
	d.tables("settings", a.Settings, b.Settings)
	d.add("features", "count", strconv.Itoa(len(a.Features.Names)), strconv.Itoa(len(b.Features.Names)))
	d.add("features", "sha256", a.Features.SHA256, b.Features.SHA256)
	d.add("features", "names", quoted(without(a.Features.Names, b.Features.Names)), quoted(without(b.Features.Names, a.Features.Names)))
	d.tables("policies", scored(a), scored(b))
	d.tables("metrics", metrics(a), metrics(b))
	d.tables("files", checksums(a), checksums(b))
	return d.all
}

type differences struct{ all []Difference }

// add notes the two texts if they differ.
func (d *differences) add(section, name, a, b string) {
	if a != b {
		d.all = append(d.all, Difference{section, name, a, b})
	}
}

// tables notes every name whose texts differ, by name.
func (d *differences) tables(section string, a, b map[string]string) {
	names := map[string]string{}
	maps.Copy(names, a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.add(section, name, a[name], b[name])
	}
}

func (d *differences) training(a, b Manifest) {
	for _, row := range []struct {
		name string
		of   func(m Manifest) string
	}{
		{"created", func(m Manifest) string { return m.Created.String() }},
		{"segue version", func(m Manifest) string { return m.Version }},
		{"parent", func(m Manifest) string { return m.Parent }},
		{"trace", func(m Manifest) string { return m.Trace.SHA256 }},
		{"from", func(m Manifest) string { return m.Window.From.String() }},
		{"until", func(m Manifest) string { return m.Window.Until.String() }},
		{"cluster nodes", func(m Manifest) string { return strconv.Itoa(m.Cluster.Nodes) }},
		{"pairs", func(m Manifest) string { return joined(m.Pairs) }},
		{"seeds", func(m Manifest) string { return joined(m.Seeds) }},
		{"forecaster", func(m Manifest) string { return m.Forecaster.Name }},
	} {
		d.add("training", row.name, row.of(a), row.of(b))
	}
}

func joined[T any](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// scored returns the policies' settings by policy, pair and preference.
func scored(m Manifest) map[string]string {
	all := make(map[string]string)
	for _, p := range m.Policies {
		all[p.Name] = p.Kind
		for _, s := range p.Settings {
			name := fmt.Sprintf("%s, %s, prefer %g", p.Name, s.Pair, s.Prefer)
			all[name] = s.String()
		}
	}
	return all
}

// String returns for example "parameter 0.5, cost 2.31 h (2.02 to 2.64), gap
// closed 0.71 (0.6 to 0.8)".
func (s Setting) String() string {
	text := fmt.Sprintf("parameter %g", s.Parameter)
	if e := s.Cost; e != nil {
		text += fmt.Sprintf(", cost %.3g h (%.3g to %.3g)", e.Mean, e.Lo, e.Hi)
	}
	if e := s.GapClosed; e != nil {
		text += fmt.Sprintf(", gap closed %.3g (%.3g to %.3g)", e.Mean, e.Lo, e.Hi)
	}
	return text
}

func metrics(m Manifest) map[string]string {
	all := make(map[string]string, len(m.Metrics))
	for name, v := range m.Metrics {
		all[name] = fmt.Sprintf("%.6g", v)
	}
	return all
}

func checksums(m Manifest) map[string]string {
	all := make(map[string]string, len(m.Files))
	for _, f := range m.Files {
		all[f.Name] = fmt.Sprintf("%d bytes, %.12s", f.Size, f.SHA256)
	}
	return all
}
