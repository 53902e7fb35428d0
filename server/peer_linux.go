package server

import (
	"fmt"
	"net"
	"syscall"
)

// peerOf returns the user at the other end of a Unix socket (SO_PEERCRED).
func (a *accounts) peerOf(c *net.UnixConn) (name string, uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return "", 0, fmt.Errorf("peer of a socket: %w", err)
	}
	var credentials *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		credentials, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return "", 0, fmt.Errorf("peer of a socket: %w", err)
	}
	known, err := a.peer(credentials.Uid)
	if err != nil {
		return "", 0, fmt.Errorf("peer of a socket: %w", err)
	}
	return known.name, credentials.Uid, nil
}
