package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/store"
)

// tokens are the tokens of a store.
type tokens struct{ store *store.Store }

func (t tokens) Token(ctx context.Context, hash string) (api.Token, error) {
	found, err := t.store.TokenByHash(ctx, hash)
	if err != nil {
		return api.Token{}, err
	}
	out := api.Token{ID: found.ID, User: found.User, Expires: found.Expires, Revoked: found.Revoked.Known()}
	for _, name := range found.Scopes {
		if scope, err := api.ParseScope(name); err == nil { // one of a newer program allows nothing here
			out.Scopes = append(out.Scopes, scope)
		}
	}
	return out, nil
}

// secretPrefix is how the secrets of Segue begin, so that who searches for leaked
// ones finds them.
const secretPrefix = "segue_"

// NewSecret returns a secret of at least 256 random bits.
func NewSecret() string { return secretPrefix + rand.Text() + rand.Text() }

// Grant says what a token is to allow.
type Grant struct {
	User   string
	Scopes []api.Scope
	// For is how long it is valid; 0 is for ever.
	For  time.Duration
	Note string
}

// CreateToken makes a token, whose secret is told once, and notes that in the audit
// log.
func CreateToken(ctx context.Context, s *store.Store, g Grant, by string, now segue.Time) (id, secret string, err error) {
	if len(g.Scopes) == 0 {
		return "", "", segue.Errorf(segue.Invalid, "a token without a scope allows nothing: want read, chains or operator")
	}
	secret = NewSecret()
	t := store.Token{
		ID: strings.ToLower(rand.Text()[:8]), Hash: api.HashOf(secret), User: g.User, Note: g.Note, Created: now,
		Expires: segue.NoTime, Revoked: segue.NoTime,
	}
	if g.For != 0 {
		t.Expires = now.Add(g.For)
	}
	for _, scope := range g.Scopes {
		t.Scopes = append(t.Scopes, string(scope))
	}
	err = Audited(ctx, s, Deed{by, ByCommand, "create-token", t.ID}, now, func() error { return s.CreateToken(ctx, t) })
	return t.ID, secret, err
}

// RevokeToken ends a token, and notes that in the audit log. Servers let it in for
// five seconds more.
func RevokeToken(ctx context.Context, s *store.Store, id, by string, now segue.Time) error {
	return Audited(ctx, s, Deed{by, ByCommand, "revoke-token", id}, now, func() error { return s.RevokeToken(ctx, id, now) })
}

// FirstToken makes sure that the file at path, for its owner's eyes only, holds the
// secret of an operator's token, and reports whether it made it. A file that is
// there stays, and is introduced to a store that does not know it.
func FirstToken(ctx context.Context, s *store.Store, path, user string, now segue.Time) (made bool, err error) {
	text, err := os.ReadFile(path)
	secret := strings.TrimSpace(string(text))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		secret, made = NewSecret(), true
	case err != nil:
		return false, fmt.Errorf("read the first token: %w", err)
	case !strings.HasPrefix(secret, secretPrefix) || len(secret) < 50:
		return false, segue.Errorf(segue.Invalid, "%s holds no token: remove it, and a new one is made", path)
	}
	if _, err := s.TokenByHash(ctx, api.HashOf(secret)); segue.KindOf(err) != segue.NotFound {
		return false, err
	}
	t := store.Token{
		ID: strings.ToLower(rand.Text()[:8]), Hash: api.HashOf(secret), User: user, Scopes: []string{string(api.ScopeOperator)},
		Note: "first token, in " + path, Created: now, Expires: segue.NoTime, Revoked: segue.NoTime,
	}
	if made {
		if err := writeSecret(path, secret); err != nil {
			return false, err
		}
	}
	return made, Audited(ctx, s, Deed{user, ByCommand, "create-token", t.ID}, now, func() error { return s.CreateToken(ctx, t) })
}

// writeSecret makes a file that was not there, all of it or none.
func writeSecret(path, secret string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".token-") // of mode 600
	if err != nil {
		return fmt.Errorf("write the first token: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(secret + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), path) // unlike Rename, never over another file
	}
	if err != nil {
		return fmt.Errorf("write the first token: %w", err)
	}
	return nil
}
