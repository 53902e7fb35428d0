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
	ScopeOperator Scope = "operator" // all of it, for everybody's chains; import histories; the audit log
)

// Scopes are all of them, the least first.
var Scopes = []Scope{ScopeRead, ScopeChains, ScopeOperator}

// ParseScope returns the scope of that name.
func ParseScope(name string) (Scope, error) {
	if s := Scope(name); slices.Contains(Scopes, s) {
		return s, nil
	}
	return "", segue.Errorf(segue.Invalid, "scope %q: want read, chains or operator", name)
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

// WithCaller returns a context of a connection whose other end is known: that of a
// Unix socket. A token in a request counts before it.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
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
