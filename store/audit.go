package store

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
)

// Audit is a line of the audit log: who did what.
type Audit struct {
	ID     string // unique
	At     segue.Time
	User   string
	Via    string // "token ID", "socket", "command line"
	Action string // "pause chain"
	Object string // "k3v9q2"
	// Status is how it ended, as a status of HTTP; 0 is begun, and nobody knows.
	Status int
	Detail string
}

// BeginAudit notes that somebody is about to change something.
func (s *Store) BeginAudit(ctx context.Context, a Audit) (err error) {
	defer s.wrap(&err, "write the audit log")
	return s.change(ctx, func(t tx) error {
		_, err := t.exec(`INSERT INTO audit (id, at, username, via, action, object, status, detail) VALUES (`+placeholders(8)+`)`,
			a.ID, int64(a.At), text(a.User), text(a.Via), text(a.Action), text(a.Object), a.Status, text(a.Detail))
		return err
	})
}

// EndAudit notes how it ended.
func (s *Store) EndAudit(ctx context.Context, id string, status int, detail string) (err error) {
	defer s.wrap(&err, "write the audit log")
	return s.change(ctx, func(t tx) error {
		n, err := t.exec(`UPDATE audit SET status = $2, detail = $3 WHERE id = $1`, id, status, text(detail))
		if err == nil && n == 0 {
			err = segue.Errorf(segue.NotFound, "there is no line %s", id)
		}
		return err
	})
}

// AuditQuery says which lines of the audit log: the latest before an instant.
type AuditQuery struct {
	// Before, with the ID of a line, is where the page before ended; zero is the
	// latest line.
	Before   segue.Time
	BeforeID string
	Limit    int // how many at most
}

// AuditLog returns lines of the audit log, the latest first.
func (s *Store) AuditLog(ctx context.Context, q AuditQuery) (lines []Audit, err error) {
	defer s.wrap(&err, "read the audit log")
	var w where
	if q.BeforeID != "" {
		w.args = append(w.args, int64(q.Before), q.BeforeID)
		w.conditions = append(w.conditions, `(at < $1 OR at = $1 AND id < $2)`)
	}
	return collect(ctx, s.read, func(row scanner) (a Audit, err error) {
		err = row.Scan(&a.ID, toInstant{&a.At}, &a.User, &a.Via, &a.Action, &a.Object, &a.Status, &a.Detail)
		return a, err
	}, `SELECT id, at, username, via, action, object, status, detail FROM audit`+w.clause()+
		fmt.Sprintf(` ORDER BY at DESC, id DESC LIMIT %d`, q.Limit), w.args...)
}
