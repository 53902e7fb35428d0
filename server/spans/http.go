package spans

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"
)

// quiet are paths that somebody asks for every few seconds.
var quiet = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// Handler records a span for each request. route returns the path of a request
// without what differs from one to the next: /v1/chains/{id}.
func (r *Recorder) Handler(next http.Handler, route func(path string) string) http.Handler {
	if r == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if quiet[req.URL.Path] {
			next.ServeHTTP(w, req)
			return
		}
		path := route(req.URL.Path)
		ctx, span := r.Start(fromCaller(req.Context(), req.Header.Get("traceparent")), req.Method+" "+path, Server)
		defer span.End()
		span.Set("http.request.method", req.Method)
		span.Set("http.route", path)
		span.Set("url.path", req.URL.Path)
		seen := &watched{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, req.WithContext(ctx))
		span.Set("http.response.status_code", seen.status)
		if seen.status >= http.StatusInternalServerError {
			span.Fail(http.StatusText(seen.status))
		}
	})
}

// fromCaller returns a context of the caller's trace, by the header of W3C Trace
// Context: 00-TRACE-SPAN-FLAGS in hexadecimal. One that makes no sense is as none.
func fromCaller(ctx context.Context, header string) context.Context {
	fields := strings.Split(header, "-")
	if len(fields) < 4 || len(fields[0]) != 2 || fields[0] == "ff" || fields[0] == "00" && len(fields) != 4 {
		return ctx
	}
	var p parent
	var flags [1]byte
	for _, f := range []struct {
		into []byte
		text string
	}{{p.trace[:], fields[1]}, {p.id[:], fields[2]}, {flags[:], fields[3]}} {
		if len(f.text) != 2*len(f.into) || strings.ToLower(f.text) != f.text {
			return ctx
		}
		if _, err := hex.Decode(f.into, []byte(f.text)); err != nil {
			return ctx
		}
	}
	if p.trace == [16]byte{} || p.id == [8]byte{} {
		return ctx
	}
	p.sampled = flags[0]&1 == 1
	return context.WithValue(ctx, contextKey{}, p)
}

// watched notes the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher, for streams.
func (w *watched) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }
