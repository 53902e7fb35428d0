//go:build !linux

package server

import "syscall"

// ExistsAs says of no file that a user sees it: a thread that looks as a user does is
// Linux's.
func ExistsAs(func(user string) (*syscall.Credential, error)) func(user, path string) bool {
	return func(string, string) bool { return false }
}
