package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// Deed is who changes what, for the audit log.
type Deed struct {
	User   string
	Via    string // how the user is known: a token's ID, the socket, ByCommand
	Action string // such as pause-chain
	Object string // such as the chain's ID
}

// ByCommand is how a user is known who types a command: the system says who it is.
const ByCommand = "command line"

// byItself is how a server is known that does something unasked.
const byItself = "the server itself"

// Audited does something between two lines in the audit log: without the first it is
// not done, the second says how it ended.
func Audited(ctx context.Context, s *store.Store, d Deed, now segue.Time, do func() error) error {
	line := store.Audit{ID: newID(now), At: now, User: d.User, Via: d.Via, Action: d.Action, Object: d.Object}
	if err := s.BeginAudit(ctx, line); err != nil {
		return err
	}
	err := do()
	status, detail := http.StatusOK, ""
	if err != nil {
		status, detail = statusOf(err), err.Error()
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(err, s.EndAudit(ending, line.ID, status, detail))
}

// statusOf returns the status by which the interface would tell an error.
func statusOf(err error) int {
	switch segue.KindOf(err) {
	case segue.Invalid:
		return http.StatusUnprocessableEntity
	case segue.NotFound:
		return http.StatusNotFound
	case segue.Conflict:
		return http.StatusConflict
	case segue.Unavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
