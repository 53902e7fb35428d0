package models

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/segue-project/segue"
)

// dyingEnv makes the test program write a model into the folder that it names
// and kill itself in the middle: see TestMain.
const (
	dyingEnv      = "SEGUE_TEST_WRITE_MODEL"
	dyingAfterEnv = "SEGUE_TEST_DIE_AFTER_FILES"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dyingEnv); dir != "" {
		left, err := strconv.Atoi(os.Getenv(dyingAfterEnv))
		if err != nil {
			panic(err)
		}
		manifest, files := small("dying")
		panic(write(dir, manifest, files, func(path string, data []byte) error {
			if left == 0 {
				_ = os.WriteFile(path, data[:len(data)/2], 0o600)
				return syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			left--
			return writeFile(path, data)
		}))
	}
	os.Exit(m.Run())
}

// small is a model of two files; with the manifest and its checksum a folder of
// it has four.
func small(id string) (Manifest, map[string][]byte) {
	return Manifest{
		ID: id, Created: Instant(segue.Seconds(1)), Version: "test",
		Trace:    Trace{SHA256: strings.Repeat("00", 32)},
		Window:   Window{From: 0, Until: 1},
		Cluster:  Cluster{Nodes: 1},
		Features: Features{Names: []string{"a"}},
	}, map[string][]byte{"one": []byte("first file of " + id), "two": []byte("second")}
}

const smallFiles = 4

// names returns what a folder holds, without the lock.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		if entry.Name() != lockName {
			all = append(all, entry.Name())
		}
	}
	return all
}

func TestKilledWriterLeavesNoHalfModel(t *testing.T) {
	t.Parallel()
	for written := range smallFiles {
		parent := t.TempDir()
		dir := filepath.Join(parent, "dying")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), dyingEnv+"="+dir, dyingAfterEnv+"="+strconv.Itoa(written))
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the writer ended with %v, want it killed", err)
		}
		if got := names(t, parent); !slices.Equal(got, []string{tempName}) {
			t.Fatalf("killed after %d files it left %q, want %s", written, got, tempName)
		}
		r := NewRegistry(parent, func() segue.Time { return 0 })
		if entries, err := r.List(); err != nil || len(entries) > 0 {
			t.Fatalf("the registry lists %v (%v), want nothing", entries, err)
		}
		m, files := small("next")
		if err := r.Write(m, files); err != nil {
			t.Fatal(err)
		}
		if got := names(t, parent); !slices.Equal(got, []string{"next"}) {
			t.Fatalf("after the next model there are %q, want it alone", got)
		}
		if _, err := r.Open("next"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFullDiskIsAnErrorThatLeavesNothing(t *testing.T) {
	t.Parallel()
	for written := range smallFiles {
		parent := t.TempDir()
		left := written
		m, files := small("full")
		err := write(filepath.Join(parent, "full"), m, files, func(path string, data []byte) error {
			if left == 0 {
				return errors.Join(os.WriteFile(path, data[:1], 0o600), syscall.ENOSPC)
			}
			left--
			return writeFile(path, data)
		})
		if segue.KindOf(err) != segue.Unavailable || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v (%s), want no space, unavailable", err, segue.KindOf(err))
		}
		if got := names(t, parent); len(got) > 0 {
			t.Errorf("after %d files the full disk has %q, want nothing", written, got)
		}
	}
}

func TestModelIsNeverReplaced(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "model")
	m, files := small("first")
	if err := Write(dir, m, files); err != nil {
		t.Fatal(err)
	}
	other, files := small("second")
	if err := Write(dir, other, files); segue.KindOf(err) != segue.Conflict {
		t.Errorf("got %v, want a conflict", err)
	}
	got, err := Open(dir)
	if err != nil || got.Manifest.ID != "first" {
		t.Errorf("now there is %v (%v), want the first model", got, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, m, files); segue.KindOf(err) != segue.Conflict {
		t.Errorf("in place of a file: got %v, want a conflict", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
}

func TestOfManyWritersAtOnceOneWins(t *testing.T) {
	t.Parallel()
	const writers = 8
	dir := filepath.Join(t.TempDir(), "registry", "model")
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			m, files := small("writer-" + strconv.Itoa(w))
			files["two"] = bytes.Repeat([]byte{byte(w)}, 100_000)
			errs[w] = Write(dir, m, files)
		})
	}
	wg.Wait()
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for w, err := range errs {
		won := m.Manifest.ID == "writer-"+strconv.Itoa(w)
		if won != (err == nil) || !won && segue.KindOf(err) != segue.Conflict {
			t.Errorf("%s is there, and writer %d got %v", m.Manifest.ID, w, err)
		}
	}
	if got := names(t, filepath.Dir(dir)); !slices.Equal(got, []string{"model"}) {
		t.Errorf("the folder holds %q, want the model alone", got)
	}
}
