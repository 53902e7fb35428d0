package summed_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/segue-project/segue/trainer/internal/summed"
)

func content(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := summed.Content(f)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestFileIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kept")
	if err := summed.Write(path, put("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	err := summed.Write(path, func(w io.Writer) error { return errors.Join(put("new")(w), full) })
	if got, readErr := content(path); !errors.Is(err, full) || got != "old" || readErr != nil {
		t.Errorf("error %v, after which %q is there (%v), want the disk's, and the old content", err, got, readErr)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%d files are left (%v), want one", len(left), err)
	}
}

func TestDamageIsSeen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kept")
	if err := summed.Write(path, put("somebody's thesis")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{{}, whole[:20], whole[:len(whole)-1], slices.Concat(whole, []byte{0})}
	for i := range whole {
		flipped := slices.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		damaged = append(damaged, flipped)
	}
	for i, b := range damaged {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := content(path); err == nil || !strings.Contains(err.Error(), "SHA-256") {
			t.Errorf("damage %d: error %v, want one of the SHA-256", i, err)
		}
	}
}
