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

// firstFor is how long a first token is valid. One that has expired is replaced when
// a server starts.
const firstFor = 365 * 24 * time.Hour

// First is the token by which a server's operator begins.
type First struct {
	Path string // of the file with its secret, for its owner's eyes only
	Host string // of the machine
	User string // for whom it speaks
}

func (f First) note() string { return "first token, in " + f.Path + " on " + f.Host }

// FirstToken makes sure that the file holds the secret of an operator's token that is
// valid for up to a year, and reports whether it made it. A file that is there stays
// until its token expires, and is introduced to a store that does not know it. Where
// a token is made, those that the same machine had in the same file before are
// revoked, and their IDs returned: whoever has a copy is out.
func FirstToken(ctx context.Context, s *store.Store, f First, now segue.Time) (made bool, revoked []string, err error) {
	text, err := os.ReadFile(f.Path)
	secret := strings.TrimSpace(string(text))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		made = true
	case err != nil:
		return false, nil, fmt.Errorf("read the first token: %w", err)
	case !strings.HasPrefix(secret, secretPrefix) || len(secret) < 50:
		return false, nil, segue.Errorf(segue.Invalid, "%s holds no token: remove it, and a new one is made", f.Path)
	}
	if !made {
		known, err := s.TokenByHash(ctx, api.HashOf(secret))
		switch {
		case err != nil && segue.KindOf(err) != segue.NotFound:
			return false, nil, err
		case err == nil && (!known.Expires.Known() || known.Expires > now):
			return false, nil, nil
		case err == nil: // it has expired
			made = true
			if err := os.Remove(f.Path); err != nil {
				return false, nil, fmt.Errorf("replace the first token: %w", err)
			}
		}
	}
	if made {
		secret = NewSecret()
		if err := writeSecret(f.Path, secret); err != nil {
			return false, nil, err
		}
		if revoked, err = revokeEarlier(ctx, s, f, now); err != nil {
			return true, revoked, err
		}
	}
	t := store.Token{
		ID: strings.ToLower(rand.Text()[:8]), Hash: api.HashOf(secret), User: f.User, Scopes: []string{string(api.ScopeOperator)},
		Note: f.note(), Created: now, Expires: now.Add(firstFor), Revoked: segue.NoTime,
	}
	return made, revoked, Audited(ctx, s, Deed{f.User, byItself, "create-token", t.ID}, now, func() error { return s.CreateToken(ctx, t) })
}

// revokeEarlier ends the first tokens that were in the same file before.
func revokeEarlier(ctx context.Context, s *store.Store, f First, now segue.Time) (ids []string, err error) {
	all, err := s.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Note != f.note() || t.Revoked.Known() || t.Expires.Known() && t.Expires <= now {
			continue
		}
		err := Audited(ctx, s, Deed{f.User, byItself, "revoke-token", t.ID}, now, func() error { return s.RevokeToken(ctx, t.ID, now) })
		if err != nil {
			return ids, err
		}
		ids = append(ids, t.ID)
	}
	return ids, nil
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
