package store

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// forsake lets the kernel give a TCP connection up on which the other machine has
// acknowledged nothing for so long: one that vanished closes none.
func forsake(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var err error
	if outer := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(vanished.Milliseconds()))
	}); outer != nil {
		return outer
	}
	return err
}
