package models

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/segue-project/segue"
)

// lockName is the file whose lock (flock) one writer in a folder holds. The
// system lets go of it when a process dies, however it dies.
const lockName = ".segue-lock"

// lock makes the folder dir if it must, waits until no one else writes in it,
// and returns what ends the turn.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, segue.Errorf(segue.Unavailable, "%w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, segue.Errorf(segue.Unavailable, "%w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, segue.Errorf(segue.Unavailable, "lock %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}
