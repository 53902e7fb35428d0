package store

import (
	"context"
	"strings"

	"github.com/segue-project/segue"
)

// Token lets whoever has its secret speak for a user. The store never sees the
// secret, only its hash.
type Token struct {
	ID   string // public: it names the token in lists and in the audit log
	Hash string // SHA-256 of the secret, in hexadecimal
	User string
	// Scopes are what the token allows, by names that the server gives them.
	Scopes  []string
	Note    string // what it is for, for people
	Created segue.Time
	// Expires is NoTime for one that never does, Revoked for one that was not.
	Expires, Revoked segue.Time
}

const tokenColumns = `id, hash, username, scopes, note, created, expires, revoked`

// CreateToken keeps a token. Conflict says that its ID or its hash is taken.
func (s *Store) CreateToken(ctx context.Context, t Token) (err error) {
	defer s.wrap(&err, "create token %s", t.ID)
	if t.ID == "" || len(t.Hash) != 64 || t.User == "" {
		return segue.Errorf(segue.Invalid, "want an ID, a SHA-256 in hexadecimal, and a user")
	}
	return s.change(ctx, func(c tx) error {
		_, err := c.exec(`INSERT INTO tokens (`+tokenColumns+`) VALUES (`+placeholders(8)+`)`,
			t.ID, t.Hash, text(t.User), strings.Join(t.Scopes, " "), text(t.Note), int64(t.Created), instant(t.Expires), instant(t.Revoked))
		return err
	})
}

// TokenByHash returns the token whose secret has the hash, whether it is valid or
// not.
func (s *Store) TokenByHash(ctx context.Context, hash string) (t Token, err error) {
	defer s.wrap(&err, "look for a token")
	found, err := collect(ctx, s.read, scanToken, `SELECT `+tokenColumns+` FROM tokens WHERE hash = $1`, hash)
	if err == nil && len(found) == 0 {
		err = segue.Errorf(segue.NotFound, "there is no such token")
	}
	if err != nil {
		return Token{}, err
	}
	return found[0], nil
}

// Tokens returns all tokens, the latest first, those that are no longer valid
// too.
func (s *Store) Tokens(ctx context.Context) (tokens []Token, err error) {
	defer s.wrap(&err, "list tokens")
	return collect(ctx, s.read, scanToken, `SELECT `+tokenColumns+` FROM tokens ORDER BY created DESC, id`)
}

// RevokeToken ends a token at the instant at. One that was revoked before stays
// so from then on.
func (s *Store) RevokeToken(ctx context.Context, id string, at segue.Time) (err error) {
	defer s.wrap(&err, "revoke token %s", id)
	return s.change(ctx, func(c tx) error {
		n, err := c.exec(`UPDATE tokens SET revoked = COALESCE(revoked, $2) WHERE id = $1`, id, int64(at))
		if err == nil && n == 0 {
			err = segue.Errorf(segue.NotFound, "there is no such token")
		}
		return err
	})
}

func scanToken(row scanner) (Token, error) {
	var t Token
	var scopes string
	err := row.Scan(&t.ID, &t.Hash, &t.User, &scopes, &t.Note, toInstant{&t.Created}, toInstant{&t.Expires}, toInstant{&t.Revoked})
	t.Scopes = strings.Fields(scopes)
	return t, err
}
