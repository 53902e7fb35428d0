package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/segue-project/segue"
)

// Problem is an error as a client sees it: the problem details of RFC 9457.
type Problem struct { //nolint:errname // it is what the standard calls it
	Type   string   `json:"type" doc:"What sort of problem it is: stable, for programs." example:"urn:segue:problem:not-found"`
	Title  string   `json:"title" doc:"The sort of problem in words."`
	Status int      `json:"status" doc:"The status of the answer."`
	Detail string   `json:"detail,omitempty" doc:"What is wrong this time, and what is allowed."`
	Errors []Detail `json:"errors,omitempty" doc:"The places in the request that are wrong."`
	// retryAfter, in seconds, is when to try again.
	retryAfter int
}

// Detail is one place of a request that is wrong.
type Detail struct {
	Location string `json:"location,omitempty" example:"body.nodes"`
	Message  string `json:"message"`
}

// sort is a sort of problem.
type sort struct {
	name, title string
	status      int
}

// The sorts of problems. The first ones are the kinds of the root package.
var (
	sorts = map[segue.Kind]sort{
		segue.Invalid:     {"invalid", "The request makes no sense", http.StatusUnprocessableEntity},
		segue.NotFound:    {"not-found", "There is no such thing", http.StatusNotFound},
		segue.Conflict:    {"conflict", "It conflicts with what is there by now", http.StatusConflict},
		segue.Unavailable: {"unavailable", "It cannot be said now; try again", http.StatusServiceUnavailable},
		segue.Corrupt:     {"corrupt", "Stored data is damaged", http.StatusInternalServerError},
		segue.Other:       {"internal", "The server failed", http.StatusInternalServerError},
	}
	unreadable  = sort{"bad-request", "The request cannot be read", http.StatusBadRequest}
	tooSlow     = sort{"timeout", "The request did not come in time", http.StatusRequestTimeout}
	wrongType   = sort{"unsupported-media-type", "The body is of another type than this takes", http.StatusUnsupportedMediaType}
	noCaller    = sort{"unauthorized", "The caller is not known", http.StatusUnauthorized}
	notAllowed  = sort{"forbidden", "The caller may not do this", http.StatusForbidden}
	wrongMethod = sort{"method-not-allowed", "This is not asked for in this way", http.StatusMethodNotAllowed}
	overloaded  = sort{"overloaded", "The server has too much to do; try again", http.StatusServiceUnavailable}
)

func (s sort) problem(detail string) *Problem {
	return &Problem{Type: "urn:segue:problem:" + s.name, Title: s.title, Status: s.status, Detail: detail}
}

// Error returns what is wrong.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma's filter of content types.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="segue"`)
	}
	return h
}

// write answers a request with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // whoever asked has gone
}

// problemOf returns the problem that an error is to a client. What has no kind is
// not for its eyes.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	kind := segue.KindOf(err)
	if kind == segue.Other && errors.Is(err, context.DeadlineExceeded) {
		err = segue.Errorf(segue.Unavailable, "it was not done within the limit of time")
		kind = segue.Unavailable
	}
	p := sorts[kind].problem(err.Error())
	switch kind {
	case segue.Other:
		p.Detail = "see the server's log"
	case segue.Unavailable:
		p.retryAfter = 5
	}
	return p
}

// linkJob is the place of a first link's job in a chain that is handed over.
const linkJob = "body.link.job"

// LinkAlready is the problem of a chain whose first link's job is a link of another one
// of the caller's.
func LinkAlready(detail string) *Problem {
	p := sorts[segue.Conflict].problem(detail)
	p.Errors = []Detail{{Location: linkJob, Message: "it is a link already"}}
	return p
}

// LinkAlready reports whether an answer is that problem: then the job is kept going, and
// the chain that was handed over is one too many.
func (p *Problem) LinkAlready() bool {
	return p.Status == http.StatusConflict && slices.ContainsFunc(p.Errors, func(d Detail) bool { return d.Location == linkJob })
}

func unauthorized(detail string) *Problem { return noCaller.problem(detail) }
func forbidden(detail string) *Problem    { return notAllowed.problem(detail) }

// byStatus are the sorts of the errors that huma finds by itself.
var byStatus = map[int]sort{
	http.StatusBadRequest: unreadable, http.StatusRequestTimeout: tooSlow, http.StatusUnsupportedMediaType: wrongType,
	http.StatusUnprocessableEntity: sorts[segue.Invalid],
}

// huma asks for its errors here.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		s, ok := byStatus[status]
		if !ok {
			s = sort{sorts[segue.Other].name, http.StatusText(status), status}
		}
		p := s.problem(message)
		for _, err := range errs {
			if cut, ok := errors.AsType[*Problem](unread(err)); ok {
				return cut
			}
			if d, ok := err.(huma.ErrorDetailer); ok {
				p.Errors = append(p.Errors, Detail{d.ErrorDetail().Location, d.ErrorDetail().Message})
			} else if err != nil {
				p.Errors = append(p.Errors, Detail{Message: err.Error()})
			}
		}
		return p
	}
}

// unread returns the problem of a body that did not come to its end since it is too
// large, too slow or cut off, or the error as it is.
func unread(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tooSlow.problem("the body has not come to its end within the limit of time")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return unreadable.problem("the body ends before its end")
	}
	return tooLarge(err)
}

// Kind returns the kind of the root package that a problem is, Other for one that
// is none of them.
func (p *Problem) Kind() segue.Kind {
	for kind, s := range sorts {
		if p.Type == "urn:segue:problem:"+s.name {
			return kind
		}
	}
	switch strings.TrimPrefix(p.Type, "urn:segue:problem:") {
	case overloaded.name, tooSlow.name:
		return segue.Unavailable
	case unreadable.name, wrongType.name:
		return segue.Invalid
	}
	return segue.Other
}
