package api

import (
	"context"
	"slices"

	"github.com/segue-project/segue"
)

// Scope is something that a caller may do.
type Scope string

// The scopes, from the least to the most. One who has a later one has those
// before it.
const (
	ScopeRead     Scope = "read"     // ask for advice; see one's own chains, histories, models
	ScopeChains   Scope = "chains"   // pause, resume and stop one's own chains
	ScopeSubmit   Scope = "submit"   // hand chains over, whose jobs are submitted as this user
	ScopeOperator Scope = "operator" // all of it, for everybody's chains; import histories; promote models; the audit log
)

// Scopes are all of them, the least first.
var Scopes = []Scope{ScopeRead, ScopeChains, ScopeSubmit, ScopeOperator}

// ParseScope returns the scope of that name.
func ParseScope(name string) (Scope, error) {
	if s := Scope(name); slices.Contains(Scopes, s) {
		return s, nil
	}
	return "", segue.Errorf(segue.Invalid, "scope %q: want read, chains, submit or operator", name)
}

// Caller is who asks.
type Caller struct {
	User   string
	Scopes []Scope
	Via    string // how it is known: "token 4f7c2a", "socket"
}

// May reports whether the caller has a scope.
func (c Caller) May(s Scope) bool {
	return slices.ContainsFunc(c.Scopes, func(have Scope) bool { return slices.Index(Scopes, have) >= slices.Index(Scopes, s) })
}

// Operator reports whether the caller may see and touch what is others'.
func (c Caller) Operator() bool { return c.May(ScopeOperator) }

type callerKey struct{}

// WithCaller returns a context whose caller is known. A token in a request counts
// before it.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// WithPeer returns a context of a connection whose other end the system knows: that
// of a Unix socket. who is called by each request without a token, and may wait; its
// error says that nobody is there whom the system knows, or (kind Unavailable) that
// the system cannot tell now.
func WithPeer(ctx context.Context, who func() (Caller, error)) context.Context {
	return context.WithValue(ctx, peerKey{}, who)
}

type peerKey struct{}

// peerOf returns who asks where no token says it.
func peerOf(ctx context.Context) (Caller, error) {
	if who, ok := ctx.Value(peerKey{}).(func() (Caller, error)); ok {
		return who()
	}
	if c, ok := callerOf(ctx); ok {
		return c, nil
	}
	return Caller{}, segue.Errorf(segue.NotFound, "the system does not say who asks")
}

func callerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// Token is what a server knows of a secret.
type Token struct {
	ID     string
	User   string
	Scopes []Scope
	// Expires is NoTime for one that never does.
	Expires segue.Time
	Revoked bool
}
