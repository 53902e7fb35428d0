package server

import (
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// ExistsAs returns whether a user sees a file, as that user and not as root: who may
// not look into a folder is not told by what becomes of a chain, and on a disk of
// another machine root may see less. as is SubmitAs. It is false where nobody can say.
func ExistsAs(as func(user string) (*syscall.Credential, error)) func(user, path string) bool {
	return (&looks{as: as, stat: os.Stat, late: map[string]int{}, slow: map[string]int{}}).sees
}

// lookPatience is how long a file system may take to say whether a file is there: one
// user's whose server is away holds up nobody else's chains for longer.
const lookPatience = 2 * time.Second

// A user has so many looks in a minute that take longer than quickLook: many chains of one
// whose file system takes its time hold up nobody else's either.
const (
	quickLook = 100 * time.Millisecond
	mostSlow  = 3
)

// looks look for files as users do.
type looks struct {
	as   func(user string) (*syscall.Credential, error)
	stat func(path string) (os.FileInfo, error)

	mu   sync.Mutex
	late map[string]int // looks of a user that have not come back; until they do there are no others
	slow map[string]int // looks of a user in the last minute that took long
}

func (l *looks) sees(user, path string) bool {
	who, err := l.as(user)
	if err != nil || l.waits(user) {
		return false
	}
	slow := time.AfterFunc(quickLook, func() {
		l.add(l.slow, user, 1)
		time.AfterFunc(time.Minute, func() { l.add(l.slow, user, -1) })
	})
	defer slow.Stop()
	seen := make(chan bool, 1)
	go func() {
		if who != nil {
			// The thread is not used again: it ends with this goroutine.
			runtime.LockOSThread()
			if become(who) != nil {
				seen <- false
				return
			}
		}
		_, err := l.stat(path)
		seen <- err == nil
	}()
	patience := time.NewTimer(lookPatience)
	defer patience.Stop()
	select {
	case there := <-seen:
		return there
	case <-patience.C:
	}
	l.add(l.late, user, 1)
	go func() {
		<-seen
		l.add(l.late, user, -1)
	}()
	return false
}

func (l *looks) waits(user string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.late[user] > 0 || l.slow[user] >= mostSlow
}

func (l *looks) add(to map[string]int, user string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to[user] += n; to[user] == 0 {
		delete(to, user)
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
