package models_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/predictor"
)

// noon of 1 March 2023.
const noon = segue.Time(1677672000e6)

// example is a small model: the manifest as its trainer would give it, and the
// files.
func example(id string) (models.Manifest, map[string][]byte) {
	pair := models.Pair{Nodes: 8, LimitSeconds: 172800}
	m := models.Manifest{
		ID: id, Created: models.Instant(noon), Version: "v0.2.0", Notes: []string{"trained by hand <&>"},
		Trace:      models.Trace{SHA256: strings.Repeat("0a", 32), Name: "a month", Jobs: 1234},
		Window:     models.Window{From: models.Instant(segue.Seconds(1675209600)), Until: models.Instant(segue.Seconds(1677628800))},
		Cluster:    models.Cluster{Nodes: 88},
		Pairs:      []models.Pair{{Nodes: 1, LimitSeconds: 172800}, pair},
		Seeds:      []uint64{1, 1<<63 + 7},
		Settings:   map[string]string{"every": "4h0m0s", "pairs": "1,8"},
		Features:   models.Features{Names: []string{"pending_jobs", "free_nodes", "hour"}},
		Forecaster: models.Forecaster{Name: "trees", What: "gradient boosted", Files: []string{models.TreesFile("wait")}},
		Policies: []models.Policy{{
			Name: "moe-dqn", Kind: "moe", File: models.WeightsFile("moe-dqn"),
			Settings: []models.Setting{{
				Pair: pair, Prefer: 4, Parameter: 0.25, Cost: &models.Estimate{Mean: 2.5, Lo: 2, Hi: 3},
				GapClosed: &models.Estimate{Mean: 0.8, Lo: 0.7, Hi: 0.9},
			}},
		}},
		Metrics: map[string]float64{"pinball_hours": 0.71, "coverage_0.9": 0.905},
	}
	return m, map[string][]byte{
		models.TreesFile("wait"):      {0, 1, 2, 254, 255},
		models.WeightsFile("moe-dqn"): []byte("weights"),
		models.CalibrationFile:        []byte("{}\n"),
		"empty":                       {},
	}
}

// write writes the example into a new folder, which it returns.
func write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	m, files := example("example")
	if err := models.Write(dir, m, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWrittenModelIsReadAsItWas(t *testing.T) {
	t.Parallel()
	m, err := models.Open(write(t))
	if err != nil {
		t.Fatal(err)
	}
	want, files := example("example")
	got := m.Manifest
	if names := namesOf(got.Files); !slices.Equal(names, []string{"calibration.json", "empty", "moe-dqn.safetensors", "trees-wait.bin"}) {
		t.Errorf("the manifest lists %q", names)
	}
	if got.Format != models.FormatVersion || got.Features.SHA256 != predictor.FeatureHash(want.Features.Names) {
		t.Errorf("format is %d and the features have the hash %s", got.Format, got.Features.SHA256)
	}
	want.Format, want.Files, want.Features.SHA256 = got.Format, got.Files, got.Features.SHA256
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	for name, data := range files {
		if diff := cmp.Diff(data, m.File(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if m.File("other") != nil {
		t.Error("a file that the model lacks has content")
	}
}

func namesOf(files []models.File) []string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

func TestSameModelIsTheSameBytes(t *testing.T) {
	t.Parallel()
	m, files := example("example")
	m.Forecaster.Files = []string{"empty", models.CalibrationFile}
	turned := m
	turned.Forecaster.Files = []string{models.CalibrationFile, "empty"}
	dir := t.TempDir()
	for name, m := range map[string]models.Manifest{"a": m, "b": turned} {
		if err := models.Write(filepath.Join(dir, name), m, files); err != nil {
			t.Fatal(err)
		}
	}
	a, b := contents(t, filepath.Join(dir, "a")), contents(t, filepath.Join(dir, "b"))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two models of the same input differ:\n%s", diff)
	}
}

// contents returns the names and bytes of a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string, len(entries))
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[entry.Name()] = string(data)
	}
	return all
}

func TestOnlyWhatAModelCanBeIsWritten(t *testing.T) {
	t.Parallel()
	const day = 86400e6
	for name, tc := range map[string]struct {
		change func(m *models.Manifest, files map[string][]byte)
		want   string
	}{
		"path traversal":       {func(_ *models.Manifest, f map[string][]byte) { f["../evil"] = nil }, `file name "../evil"`},
		"subfolder":            {func(_ *models.Manifest, f map[string][]byte) { f["a/b"] = nil }, `file name "a/b"`},
		"hidden file":          {func(_ *models.Manifest, f map[string][]byte) { f[".a"] = nil }, `file name ".a"`},
		"differs by case":      {func(_ *models.Manifest, f map[string][]byte) { f["A"] = nil }, `file name "A"`},
		"the manifest itself":  {func(_ *models.Manifest, f map[string][]byte) { f["manifest.json"] = nil }, `file name "manifest.json"`},
		"no files":             {func(_ *models.Manifest, f map[string][]byte) { clear(f) }, "files has 0 entries"},
		"ID of the champion":   {func(m *models.Manifest, _ map[string][]byte) { m.ID = "champion" }, `model ID "champion"`},
		"ID that is a path":    {func(m *models.Manifest, _ map[string][]byte) { m.ID = "../x" }, `model ID "../x"`},
		"no features":          {func(m *models.Manifest, _ map[string][]byte) { m.Features.Names = nil }, "features.names is empty"},
		"feature twice":        {func(m *models.Manifest, _ map[string][]byte) { m.Features.Names[1] = "hour" }, `features.names[2] "hour"`},
		"no window":            {func(m *models.Manifest, _ map[string][]byte) { m.Window.Until = m.Window.From }, "want from before until"},
		"time after year 9999": {func(m *models.Manifest, _ map[string][]byte) { m.Created = models.Instant(3e6 * day) }, "created is"},
		"time never":           {func(m *models.Manifest, _ map[string][]byte) { m.Created = models.Instant(segue.Never) }, "created is never"},
		"no trace":             {func(m *models.Manifest, _ map[string][]byte) { m.Trace.SHA256 = "" }, "trace.sha256"},
		"no nodes":             {func(m *models.Manifest, _ map[string][]byte) { m.Cluster.Nodes = 0 }, "cluster.nodes is 0"},
		"pair twice":           {func(m *models.Manifest, _ map[string][]byte) { m.Pairs[1] = m.Pairs[0] }, "1 node x 48h0m0s is there twice"},
		"weights not there":    {func(m *models.Manifest, _ map[string][]byte) { m.Policies[0].File = "dqn.bin" }, `"dqn.bin", which is not among`},
		"policy of no kind":    {func(m *models.Manifest, _ map[string][]byte) { m.Policies[0].Kind = "" }, "moe-dqn has no kind"},
		"trees not there":      {func(m *models.Manifest, _ map[string][]byte) { m.Forecaster.Files[0] = "forest" }, `forecaster.files names "forest"`},
		"metric not a number":  {func(m *models.Manifest, _ map[string][]byte) { m.Metrics["x"] = nan() }, `"x" is NaN`},
		"cost not a number":    {func(m *models.Manifest, _ map[string][]byte) { m.Policies[0].Settings[0].Cost.Hi = nan() }, "a number is NaN"},
		"note not UTF-8":       {func(m *models.Manifest, _ map[string][]byte) { m.Notes[0] = "\xff" }, "printable UTF-8"},
		"note with an escape":  {func(m *models.Manifest, _ map[string][]byte) { m.Notes[0] = "\x1b[2J" }, "printable UTF-8"},
		"setting of two lines": {func(m *models.Manifest, _ map[string][]byte) { m.Settings["every"] = "4h\n5h" }, "printable UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			m, files := example("example")
			tc.change(&m, files)
			err := models.Write(filepath.Join(parent, "model"), m, files)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v (%s), want invalid with %q", err, segue.KindOf(err), tc.want)
			}
			if got := contents(t, parent); len(got) > 0 {
				t.Errorf("left %v behind", got)
			}
		})
	}
}

func TestFeaturesThatDifferAreNamed(t *testing.T) {
	t.Parallel()
	m, err := models.Open(write(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		program []string
		want    string
	}{
		"the same":   {[]string{"pending_jobs", "free_nodes", "hour"}, ""},
		"one more":   {[]string{"pending_jobs", "free_nodes", "hour", "weekday"}, `only the program has "weekday"`},
		"one less":   {[]string{"pending_jobs", "hour"}, `only the model has "free_nodes"`},
		"renamed":    {[]string{"queued", "free_nodes", "hour"}, `only the model has "pending_jobs"; only the program has "queued"`},
		"exchanged":  {[]string{"pending_jobs", "hour", "free_nodes"}, `from feature 2 on: "free_nodes" in the model, "hour" in the program`},
		"none":       {nil, `only the model has "pending_jobs", "free_nodes", "hour"`},
		"once again": {[]string{"pending_jobs", "free_nodes", "hour", "hour"}, "the model has 3, the program 4, of the same names"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := m.CheckFeatures(tc.program)
			if tc.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want invalid with %q", err, tc.want)
			}
		})
	}
}

func TestEstimateWithoutAnIntervalIsNotKnown(t *testing.T) {
	t.Parallel()
	if got := models.EstimateOf(evaluation.Estimate{Mean: 1, Lo: evaluation.Number(nan()), Hi: 2}); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
	want := models.Estimate{Mean: 1, Lo: -1, Hi: 2}
	if got := models.EstimateOf(evaluation.Estimate{Mean: 1, Lo: -1, Hi: 2}); got == nil || *got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
