package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxForm is how many bytes a form may have: a token and a line of text.
const maxForm = 16 << 10

// settling is how much longer than a page a client may take to read it.
const settling = 5 * time.Second

// policy is what a browser may do with a page: styles, script and pictures are this
// server's own files, nothing is inline, and nobody shows a page in a frame.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard sets what a browser may do with a page, refuses forms that another site
// sent, and bounds how many pages are made at once and how long each may take. A
// form is read before its page takes a place: who sends it slowly holds none.
func (w *Web) guard(next http.Handler) http.Handler {
	places := make(chan struct{}, w.cfg.Concurrent)
	limited := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), w.cfg.Time)
		defer cancel()
		until, _ := ctx.Deadline()
		connection := http.NewResponseController(rw)
		_ = connection.SetWriteDeadline(until.Add(settling)) // a test's recorder has none
		defer func() { _ = connection.SetWriteDeadline(time.Time{}) }()
		if !readForm(rw, r, until) {
			return
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			rw.Header().Set("Retry-After", "2")
			http.Error(rw, "too many pages are asked for at once; try again in a moment", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
	same := http.NewCrossOriginProtection()
	same.SetDenyHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.fail(rw, r, nil, forbiddenError("this form was sent by another site"))
	}))
	checked := same.Handler(limited)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		checked.ServeHTTP(rw, r)
	})
}

// readForm reads the body of a request, or answers why it cannot. After a failure
// the deadline stays, so that nobody waits for the rest of the body either.
func readForm(rw http.ResponseWriter, r *http.Request, until time.Time) bool {
	connection := http.NewResponseController(rw)
	_ = connection.SetReadDeadline(until) // a test's recorder has none
	form, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxForm))
	if err != nil {
		status, why := http.StatusRequestTimeout, "the form did not come in time"
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			status, why = http.StatusRequestEntityTooLarge, "the form is too large"
		}
		http.Error(rw, why, status)
		return false
	}
	_ = connection.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(form))
	return true
}
