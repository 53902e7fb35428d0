package models_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
)

func nan() float64 { return math.NaN() }

// refused wants dir to be refused as corrupt with these words.
func refused(t *testing.T, dir string, words ...string) {
	t.Helper()
	m, err := models.Open(dir)
	if m != nil || segue.KindOf(err) != segue.Corrupt {
		t.Fatalf("got %v (%s), want it refused as corrupt", err, segue.KindOf(err))
	}
	for _, want := range words {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to say %q", err, want)
		}
	}
}

// inMemory returns the files of a folder.
func inMemory(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range contents(t, dir) {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestEveryFlippedBitIsRefusedByTheNameOfItsFile(t *testing.T) {
	t.Parallel()
	everyDamage(t, func(data []byte, damaged func([]byte)) {
		for bit := range 8 * len(data) {
			flipped := slices.Clone(data)
			flipped[bit/8] ^= 1 << (bit % 8)
			damaged(flipped)
		}
	})
}

func TestEveryTruncatedFileIsRefusedByName(t *testing.T) {
	t.Parallel()
	everyDamage(t, func(data []byte, damaged func([]byte)) {
		for size := range data {
			damaged(data[:size])
		}
	})
}

// everyDamage wants a model to be refused by the name of each of its files in
// turn when that file is damaged in any of the ways of damage.
func everyDamage(t *testing.T, damage func(data []byte, damaged func([]byte))) {
	t.Helper()
	fsys := inMemory(t, write(t))
	for name, file := range fsys {
		whole := file.Data
		damage(whole, func(data []byte) {
			file.Data = data
			m, err := models.Read(fsys)
			if m != nil || segue.KindOf(err) != segue.Corrupt || !strings.Contains(err.Error(), name) {
				t.Errorf("%s is %q: got %v (%s), want it refused by name", name, data, err, segue.KindOf(err))
			}
		})
		file.Data = whole
	}
	if _, err := models.Read(fsys); err != nil {
		t.Errorf("the mended model is refused: %v", err)
	}
}

func TestFolderThatIsNotWhatTheManifestSaysIsRefused(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("weights"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(dir string) error
		want   string
	}{
		"file missing":      {func(dir string) error { return os.Remove(dir + "/empty") }, "empty is missing"},
		"manifest missing":  {func(dir string) error { return os.Remove(dir + "/manifest.json") }, "manifest.json is missing"},
		"checksum missing":  {func(dir string) error { return os.Remove(dir + "/manifest.sha256") }, "manifest.sha256 is missing"},
		"file not listed":   {func(dir string) error { return os.WriteFile(dir+"/extra", nil, 0o600) }, "extra is not listed"},
		"hidden file":       {func(dir string) error { return os.WriteFile(dir+"/.x", nil, 0o600) }, `".x" is not listed`},
		"name of an escape": {func(dir string) error { return os.WriteFile(dir+"/\x1b[2J", nil, 0o600) }, `"\x1b[2J" is not listed`},
		"folder in it":      {func(dir string) error { return os.Mkdir(dir+"/sub", 0o700) }, "sub is no plain file"},
		"longer":            {func(dir string) error { return os.WriteFile(dir+"/empty", []byte("x"), 0o600) }, "empty has 1 bytes, want 0"},
		"too long to read":  {func(dir string) error { return os.Truncate(dir+"/empty", 1<<40) }, "empty has 1099511627776 bytes, want 0"},
		"manifest too long": {func(dir string) error { return os.Truncate(dir+"/manifest.json", 1<<40) }, "manifest.json has 1099511627776 bytes, want at most"},
		"linked outside": {func(dir string) error {
			name := dir + "/moe-dqn.safetensors"
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Symlink(outside, name)
		}, "moe-dqn.safetensors is a symbolic link"},
		"linked manifest": {func(dir string) error {
			if err := os.Rename(dir+"/manifest.json", dir+"/empty"); err != nil {
				return err
			}
			return os.Symlink("empty", dir+"/manifest.json")
		}, "manifest.json is a symbolic link"},
		"damaged": {func(dir string) error {
			return os.WriteFile(dir+"/trees-wait.bin", []byte{0, 1, 2, 254, 0}, 0o600)
		}, "trees-wait.bin is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t)
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			refused(t, dir, tc.want)
		})
	}
}

func TestWhatIsNoModelIsRefused(t *testing.T) {
	t.Parallel()
	refused(t, t.TempDir(), "manifest.json is missing")
	if _, err := models.Open(filepath.Join(t.TempDir(), "none")); segue.KindOf(err) != segue.NotFound {
		t.Errorf("a folder that does not exist gives %v, want not found", err)
	}
}

// forged returns the example with another manifest, whose checksum agrees.
func forged(t *testing.T, manifest []byte) fstest.MapFS {
	t.Helper()
	fsys := inMemory(t, write(t))
	fsys[models.ManifestFile] = &fstest.MapFile{Data: manifest}
	fsys[models.ManifestSumFile] = &fstest.MapFile{Data: fmt.Appendf(nil, "%x  manifest.json\n", sha256.Sum256(manifest))}
	return fsys
}

func TestForgedManifestIsRefused(t *testing.T) {
	t.Parallel()
	manifest := contents(t, write(t))[models.ManifestFile]
	if _, err := models.Read(forged(t, []byte(manifest))); err != nil {
		t.Fatalf("the manifest as it was is refused: %v", err)
	}
	for name, tc := range map[string]struct{ old, replacement, want string }{
		"empty":                {manifest, "", "unexpected end"},
		"not JSON":             {manifest, "trees", "invalid character"},
		"null":                 {manifest, "null", "format is 0"},
		"not UTF-8":            {"by hand", "by \xff", "not UTF-8"},
		"a later version":      {`"format": 1`, `"format": 2`, "its format is 2, and this program reads 1"},
		"unknown key":          {`"notes"`, `"nodes"`, `unknown field "nodes"`},
		"unknown key within":   {`"jobs": 1234`, `"job": 1234`, `unknown field "job"`},
		"key twice":            {`"segue_version": "v0.2.0"`, `"segue_version": "v9", "segue_version": "v0.2.0"`, "is not as this program writes it"},
		"key in capitals":      {`"segue_version"`, `"Segue_Version"`, "is not as this program writes it"},
		"more after it":        {"]\n}\n", "]\n}\n{}", "after top-level value"},
		"file above the model": {`"empty"`, `"../empty"`, `file name "../empty"`},
		"absolute file":        {`"empty"`, `"/empty"`, `file name "/empty"`},
		"file twice":           {`"name": "empty"`, `"name": "calibration.json"`, "calibration.json is there twice"},
		"files out of order":   {`"name": "empty"`, `"name": "a"`, "a comes after calibration.json"},
		"lists itself":         {`"name": "empty"`, `"name": "manifest.json"`, `file name "manifest.json"`},
		"negative size":        {`"size": 0`, `"size": -1`, "empty has -1 bytes"},
		"huge size":            {`"size": 0`, `"size": 1099511627776`, "empty has 1099511627776 bytes, want 0 to"},
		"size beyond 64 bits":  {`"size": 0`, `"size": 99999999999999999999`, "cannot unmarshal number"},
		"hash of the features": {`"hour"`, `"day"`, "but the names have"},
		"number too large":     {"0.905", "1e999", "cannot unmarshal number"},
		"time in another zone": {`"2023-03-01T12:00:00Z"`, `"2023-03-01T13:00:00+01:00"`, "is not as this program writes it"},
		"no time":              {`"2023-03-01T12:00:00Z"`, `"noon"`, `"noon" is no instant`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(manifest, tc.old, tc.replacement, 1)
			if text == manifest {
				t.Fatalf("the manifest has no %s:\n%s", tc.old, manifest)
			}
			m, err := models.Read(forged(t, []byte(text)))
			if m != nil || segue.KindOf(err) != segue.Corrupt || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v (%s), want corrupt with %q", err, segue.KindOf(err), tc.want)
			}
		})
	}
}
