//go:build !linux

package store

// networkDisk cannot tell here.
func networkDisk(string) (system, advice string) { return "", "" }
