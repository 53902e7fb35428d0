package api

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
)

// fingerprint tells requests apart by what they ask for, without their bodies.
func fingerprint(r *http.Request) string {
	sum := sha256.Sum256([]byte(r.Method + " " + r.URL.RequestURI()))
	return hex.EncodeToString(sum[:])
}

// withBody is a fingerprint with the hash of a body.
func withBody(fingerprint, sum string) string { return fingerprint + " " + sum }

// hashed is a body that is hashed as it is read: it may be a history of gigabytes.
type hashed struct {
	io.ReadCloser
	hash hash.Hash
	err  error // that ended it, nil at its end
	over bool
}

// readThrough makes the body of a request one that is hashed as it is read.
func readThrough(r *http.Request) *hashed {
	h := &hashed{ReadCloser: r.Body, hash: sha256.New()}
	r.Body = h
	return h
}

// Read implements io.Reader.
func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.hash.Write(p[:n])
	switch {
	case err == io.EOF:
		h.over = true
	case err != nil:
		h.err = err
	}
	return n, err
}

// Close leaves the body open: what was not read of it counts too.
func (*hashed) Close() error { return nil }

// sum reads the rest of the body, as far as the limits let it come, and returns its
// hash. A body that did not come to its end has none.
func (h *hashed) sum() (sum string, whole bool) {
	if !h.over && h.err == nil {
		_, _ = io.Copy(io.Discard, h) // Read keeps how it ended
	}
	if !h.over {
		return "", false
	}
	return hex.EncodeToString(h.hash.Sum(nil)), true
}
