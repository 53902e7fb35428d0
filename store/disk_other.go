//go:build !linux

package store

// networkDisk cannot tell here.
func networkDisk(string) string { return "" }
