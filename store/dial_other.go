//go:build !linux

package store

import "syscall"

// forsake is for systems that can.
func forsake(string, string, syscall.RawConn) error { return nil }
