package server

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/web"
)

// dashboard fills what the pages of a server stand on.
type dashboard struct {
	server   *Server
	outlooks *outlooks
	pages    *web.Web

	mu   sync.Mutex
	seen map[string]seenVisitor // by the hash of their secret
	// histories are counted at most once in historiesFresh.
	histories   []store.History
	historiesAt segue.Time

	open openDecisions
}

// newDashboard returns the dashboard of a server, which has all but the dashboard.
func newDashboard(s *Server) (*dashboard, error) {
	d := &dashboard{server: s, outlooks: newOutlooks(s), seen: map[string]seenVisitor{}, historiesAt: segue.NoTime, open: openDecisions{at: segue.NoTime}}
	var err error
	d.pages, err = web.New(web.Services{
		Visitors: d, Cluster: d, Chains: webChains{d}, Models: webModels{d}, Histories: d, Trainings: webTrainings{d},
	}, web.Config{Now: s.cfg.Now, Key: s.cfg.SessionKey, Store: s.store.File(), Log: s.cfg.Log})
	return d, err
}

// forPrograms are the addresses of the REST interface; the others are pages.
var forPrograms = []string{"/v1/", "/metrics", "/healthz", "/readyz"}

// divide sends a request to the pages or to the REST interface.
func divide(pages, programs http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, p := range forPrograms {
			if strings.HasPrefix(r.URL.Path, p) || r.URL.Path == strings.TrimSuffix(p, "/") {
				programs.ServeHTTP(w, r)
				return
			}
		}
		pages.ServeHTTP(w, r)
	})
}

// How long what is known of a token serves the next pages: so long one that was
// revoked still works. Where the store does not answer it serves longer, so that
// the pages can say so.
const (
	visitorFresh = 5 * time.Second
	visitorStale = 10 * time.Minute
	mostVisitors = 10_000
)

type seenVisitor struct {
	viewer web.Viewer
	at     segue.Time
	until  segue.Time // NoTime for one whose token does not expire
}

// Viewer implements web.Visitors.
func (d *dashboard) Viewer(ctx context.Context, secret string) (web.Viewer, error) {
	hash, now := api.HashOf(secret), d.server.cfg.Now()
	d.mu.Lock()
	seen, ok := d.seen[hash]
	d.mu.Unlock()
	valid := ok && (!seen.until.Known() || now < seen.until)
	if valid && now.Sub(seen.at).Abs() < visitorFresh {
		return seen.viewer, nil
	}
	token, err := tokens{d.server.store}.Token(ctx, hash)
	if err != nil && segue.KindOf(err) != segue.NotFound && valid && now.Sub(seen.at).Abs() < visitorStale {
		return seen.viewer, nil
	}
	caller := api.Caller{User: token.User, Scopes: token.Scopes}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seen, hash)
	switch {
	case err != nil:
		return web.Viewer{}, err
	case token.Revoked, token.Expires.Known() && token.Expires <= now, !caller.May(api.ScopeRead):
		return web.Viewer{}, segue.Errorf(segue.NotFound, "this token allows nothing any more")
	}
	if len(d.seen) >= mostVisitors {
		clear(d.seen)
	}
	v := web.Viewer{
		User: token.User, Via: "dashboard, token " + token.ID, MayChange: caller.May(api.ScopeChains), Operator: caller.Operator(),
	}
	d.seen[hash] = seenVisitor{v, now, token.Expires}
	return v, nil
}

// audited does something for a viewer between two words in the audit log.
func (d *dashboard) audited(ctx context.Context, by web.Viewer, action, object string, do func() error) error {
	return Audited(ctx, d.server.store, Deed{by.User, by.Via, action, object}, d.server.cfg.Now(), do)
}
