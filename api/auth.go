package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/segue-project/segue"
)

// tokenFresh is how long what is known of a token serves the next requests: so
// long a token that was revoked still works.
const tokenFresh = 5 * time.Second

// scrapeRemembered is how long a token that was known goes on to open GET /metrics
// while the store does not answer: it is there that this is told.
const scrapeRemembered = 15 * time.Minute

// storePatience is how long the store may take to say who it is that scrapes, or
// that follows events: neither waits for long.
const storePatience = 2 * time.Second

// maxTokens bounds how many tokens are remembered.
const maxTokens = 10_000

// HashOf returns what is kept of a secret: its SHA-256 in hexadecimal. A secret of
// 256 random bits needs no slower one.
func HashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// gate tells who asks.
type gate struct {
	tokens Tokens
	now    func() segue.Time

	mu    sync.Mutex
	known map[string]seenToken // by hash
}

type seenToken struct {
	token Token
	at    segue.Time
}

// authenticate lets a request through with its caller, or answers 401.
func (g *gate) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, problem := g.caller(r)
		if problem != nil {
			problem.write(w)
			return
		}
		ctx := WithCaller(r.Context(), caller)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, gateKey{}, passage{g, r})))
	})
}

type gateKey struct{}

// passage is a request that a gate let through.
type passage struct {
	gate    *gate
	request *http.Request
}

// stillMay asks again whether the caller of a request that lasts has a scope. Only a
// refusal ends it: a store that does not answer says nothing of a token.
func stillMay(ctx context.Context, scope Scope) bool {
	through, ok := ctx.Value(gateKey{}).(passage)
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	caller, problem := through.gate.caller(through.request.WithContext(ctx))
	if problem != nil {
		return problem.Status != http.StatusUnauthorized
	}
	return caller.May(scope)
}

func (g *gate) caller(r *http.Request) (Caller, *Problem) {
	header := r.Header.Get("Authorization")
	if header == "" {
		peer, err := peerOf(r.Context())
		if segue.KindOf(err) == segue.Unavailable {
			return Caller{}, problemOf(err)
		}
		if err != nil {
			return Caller{}, unauthorized("send a token: Authorization: Bearer ...")
		}
		return peer, nil
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return Caller{}, unauthorized("want Authorization: Bearer ...")
	}
	find := g.token
	if r.URL.Path == metricsPath {
		find = g.scraper
	}
	token, err := find(r.Context(), HashOf(strings.TrimSpace(secret)))
	switch {
	case segue.KindOf(err) == segue.NotFound:
		return Caller{}, unauthorized("nobody knows this token")
	case err != nil:
		return Caller{}, problemOf(err)
	case token.Revoked:
		return Caller{}, unauthorized("the token was revoked")
	case token.Expires.Known() && token.Expires <= g.now():
		return Caller{}, unauthorized("the token expired at " + token.Expires.String())
	}
	return Caller{User: token.User, Scopes: token.Scopes, Via: "token " + token.ID}, nil
}

// token looks a token up, at most once in tokenFresh.
func (g *gate) token(ctx context.Context, hash string) (Token, error) {
	now := g.now()
	g.mu.Lock()
	seen, ok := g.known[hash]
	g.mu.Unlock()
	if ok && now.Sub(seen.at).Abs() < tokenFresh {
		return seen.token, nil
	}
	token, err := g.tokens.Token(ctx, hash)
	g.mu.Lock()
	defer g.mu.Unlock()
	if segue.KindOf(err) == segue.NotFound {
		delete(g.known, hash)
	}
	if err != nil {
		return Token{}, err
	}
	if len(g.known) >= maxTokens || g.known == nil {
		g.known = map[string]seenToken{}
	}
	g.known[hash] = seenToken{token, now}
	return token, nil
}

// scraper is token for GET /metrics: while the store does not answer, what was known
// of a token for some time still counts.
func (g *gate) scraper(ctx context.Context, hash string) (Token, error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	token, err := g.token(ctx, hash)
	if err == nil || segue.KindOf(err) == segue.NotFound {
		return token, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if seen, ok := g.known[hash]; ok && g.now().Sub(seen.at).Abs() < scrapeRemembered {
		return seen.token, nil
	}
	return Token{}, err
}
