//go:build !linux

package passthrough

import "syscall"

// dup makes one file descriptor another name of an open one.
func dup(from, to int) error { return syscall.Dup2(from, to) }
