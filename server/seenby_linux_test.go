package server

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestRootSeesOfAUsersFilesWhatTheUserSees(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Log("only root looks as others do: run as root to see more than the refusal")
	}
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // which is root's only
		t.Fatal(err)
	}
	open, closed := filepath.Join(dir, "open"), filepath.Join(dir, "closed")
	for path, mode := range map[string]os.FileMode{open: 0o755, closed: 0o700} {
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "done"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sees := ExistsAs(SubmitAs("root", realNow))
	var all sync.WaitGroup
	for range 20 { // side by side: no thread may keep what another one was
		all.Go(func() {
			for _, c := range []struct {
				user, path string
				want       bool
			}{
				{"nobody", filepath.Join(open, "done"), os.Getuid() == 0},
				{"nobody", filepath.Join(closed, "done"), false},
				{"nobody", filepath.Join(open, "not-there"), false},
				{"no-such-user-here", filepath.Join(open, "done"), false},
				{"root", filepath.Join(closed, "done"), true},
			} {
				if got := sees(c.user, c.path); got != c.want {
					t.Errorf("%s sees %s: %v, want %v", c.user, c.path, got, c.want)
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(filepath.Join(closed, "done")); err != nil {
		t.Errorf("afterwards this process is somebody else: %v", err)
	}
}

// The file server of one user is away, and whoever asks it for a file hears nothing.
func TestADiskThatDoesNotAnswerHoldsUpItsUserOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		back := make(chan struct{})
		asked := map[string]int{}
		var mu sync.Mutex
		l := &looks{
			as: func(string) (*syscall.Credential, error) { return nil, nil },
			stat: func(path string) (os.FileInfo, error) {
				mu.Lock()
				asked[path]++
				mu.Unlock()
				if path == "/away/done" {
					<-back
				}
				return nil, nil
			},
			late: map[string]int{}, slow: map[string]int{},
		}
		began := time.Now()
		for range 100 { // chains of ada's
			if l.sees("ada", "/away/done") {
				t.Fatal("a file is there of which nobody has said so")
			}
		}
		mu.Lock()
		times := asked["/away/done"]
		mu.Unlock()
		if took := time.Since(began); took != lookPatience || times != 1 {
			t.Errorf("a hundred looks took %s and asked %d times, want %s and once", took, times, lookPatience)
		}
		if !l.sees("ben", "/home/ben/done") {
			t.Error("ben does not see his file meanwhile")
		}
		close(back)
		synctest.Wait()
		if !l.sees("ada", "/away/done") {
			t.Error("ada does not see the file when the disk is back")
		}
	})
}

// A disk that takes a little less than our patience for each file holds up nobody else
// for long either, however many chains its user has.
func TestADiskThatTakesItsTimeIsAskedSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &looks{
			as: func(string) (*syscall.Credential, error) { return nil, nil },
			stat: func(path string) (os.FileInfo, error) {
				if path == "/slow/done" {
					<-time.After(lookPatience - time.Millisecond)
				}
				return nil, nil
			},
			late: map[string]int{}, slow: map[string]int{},
		}
		began := time.Now()
		for range 100 {
			l.sees("ada", "/slow/done")
			l.sees("ben", "/home/ben/done")
		}
		if took := time.Since(began); took > mostSlow*lookPatience {
			t.Errorf("a hundred looks took %s, want %d of them at most", took, mostSlow)
		}
		if !l.sees("ben", "/home/ben/done") {
			t.Error("ben does not see his file")
		}
		<-time.After(time.Minute)
		if !l.sees("ada", "/slow/done") {
			t.Error("ada's disk is not asked again after a minute")
		}
		<-time.After(2 * time.Minute) // what counts looks has ended
	})
}
