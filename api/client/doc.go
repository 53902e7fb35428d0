// Package client talks to a server of package api, for programs in Go and for the
// commands themselves.
//
// It tries nothing twice: whoever calls knows what may be. Start reading at Client.
package client
