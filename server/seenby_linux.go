package server

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// ExistsAs returns whether a user sees a file, as that user and not as root: who may
// not look into a folder is not told by what becomes of a chain, and on a disk of
// another machine root may see less. as is SubmitAs. It is false where nobody can say.
func ExistsAs(as func(user string) (*syscall.Credential, error)) func(user, path string) bool {
	return func(user, path string) bool {
		who, err := as(user)
		if err != nil {
			return false
		}
		if who == nil { // root's own
			_, err := os.Stat(path)
			return err == nil
		}
		seen := make(chan bool)
		go func() {
			// The thread is not used again: it ends with this goroutine.
			runtime.LockOSThread()
			seen <- become(who) == nil && exists(path)
		}()
		return <-seen
	}
}

// become lets the calling thread, and no other of the process, look at files as a user
// does. Package syscall's own Setgroups is for all threads.
func become(who *syscall.Credential) error {
	var groups unsafe.Pointer
	if len(who.Groups) > 0 {
		groups = unsafe.Pointer(&who.Groups[0])
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETGROUPS, uintptr(len(who.Groups)), uintptr(groups), 0); e != 0 {
		return e
	}
	// Both return what was before, and no error: what they did is told by asking again.
	for _, c := range []struct{ call, id uintptr }{{syscall.SYS_SETFSGID, uintptr(who.Gid)}, {syscall.SYS_SETFSUID, uintptr(who.Uid)}} {
		_, _, _ = syscall.RawSyscall(c.call, c.id, 0, 0)
		if now, _, _ := syscall.RawSyscall(c.call, c.id, 0, 0); now != c.id {
			return syscall.EPERM
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
