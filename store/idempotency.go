package store

import (
	"context"

	"github.com/segue-project/segue"
)

// Answer is what a server answered to a write, or is about to, kept for the
// client that asks again because it never heard.
type Answer struct {
	Owner       string // who asked
	Key         string // that the client gave the request
	Fingerprint string // of the request: the same key with another one is a mistake
	At          segue.Time
	Status      int    // of HTTP; 0 is not answered yet
	Kind        string // Content-Type
	Body        []byte
}

// ClaimAnswer keeps a place for the answer to a request, and reports whether the
// caller is the one to work it out. Otherwise known is what there is. An answer
// that was kept before forget, or that nobody has given since given up, is as none.
func (s *Store) ClaimAnswer(ctx context.Context, a Answer, forget, givenUp segue.Time) (known Answer, mine bool, err error) {
	defer s.wrap(&err, "claim the answer to %s", a.Key)
	err = s.change(ctx, func(t tx) error {
		if _, err := t.exec(`DELETE FROM idempotency WHERE owner = $1 AND key = $2 AND (at < $3 OR status = 0 AND at < $4)`,
			text(a.Owner), text(a.Key), int64(forget), int64(givenUp)); err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO idempotency (owner, key, fingerprint, at, status, kind, body) VALUES ($1, $2, $3, $4, 0, '', $5)
			ON CONFLICT DO NOTHING`, text(a.Owner), text(a.Key), a.Fingerprint, int64(a.At), []byte{})
		if err != nil || n == 1 {
			mine = n == 1
			return err
		}
		known = Answer{Owner: a.Owner, Key: a.Key}
		found, err := t.row([]any{&known.Fingerprint, toInstant{&known.At}, &known.Status, &known.Kind, &known.Body},
			`SELECT fingerprint, at, status, kind, body FROM idempotency WHERE owner = $1 AND key = $2`, text(a.Owner), text(a.Key))
		if err == nil && !found {
			err = segue.Errorf(segue.Conflict, "it was given up this moment")
		}
		return err
	})
	if err != nil {
		return Answer{}, false, err
	}
	return known, mine, nil
}

// KeepAnswer keeps the answer to a request that was claimed, and the fingerprint that
// the request has by now.
func (s *Store) KeepAnswer(ctx context.Context, a Answer) (err error) {
	defer s.wrap(&err, "keep the answer to %s", a.Key)
	if a.Body == nil {
		a.Body = []byte{}
	}
	return s.change(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE idempotency SET status = $3, kind = $4, body = $5, fingerprint = $6 WHERE owner = $1 AND key = $2`,
			text(a.Owner), text(a.Key), a.Status, text(a.Kind), a.Body, a.Fingerprint)
		return err
	})
}

// DropAnswer gives a claim up, so that the request can be tried again.
func (s *Store) DropAnswer(ctx context.Context, owner, key string) (err error) {
	defer s.wrap(&err, "give up the answer to %s", key)
	return s.change(ctx, func(t tx) error {
		_, err := t.exec(`DELETE FROM idempotency WHERE owner = $1 AND key = $2 AND status = 0`, text(owner), text(key))
		return err
	})
}

// ForgetAnswers drops the answers from before an instant.
func (s *Store) ForgetAnswers(ctx context.Context, before segue.Time) (err error) {
	defer s.wrap(&err, "forget old answers")
	return s.change(ctx, func(t tx) error {
		_, err := t.exec(`DELETE FROM idempotency WHERE at < $1`, int64(before))
		return err
	})
}
