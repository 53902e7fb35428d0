package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/config"
)

// ListenTCP opens an address, with TLS where there is a certificate. Without one,
// nil, it has to be of this machine: a token is not for the network to read.
func ListenTCP(ctx context.Context, address string, certificate *Certificate) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "listen on %q: want HOST:PORT: %w", address, err)
	}
	if certificate == nil && !config.Loopback(host) {
		return nil, segue.Errorf(segue.Invalid, "listen on %s: beyond this machine there must be TLS: give a certificate and its key, or say that a proxy sees to it (tls.elsewhere)", address)
	}
	l, err := ListenBehind(ctx, address)
	if err != nil {
		return nil, err
	}
	if certificate != nil {
		l = tls.NewListener(l, certificate.config())
	}
	return l, nil
}

// ListenBehind opens an address without TLS, wherever it is: a proxy before it sees
// to that.
func ListenBehind(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, segue.Errorf(segue.Unavailable, "listen: %w", err)
	}
	return l, nil
}

// ListenUnix opens a Unix socket that all users of this machine may use: who they
// are, the system says. A socket that a server left behind is replaced, one on
// which somebody answers is not.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, segue.Errorf(segue.Conflict, "listen on %s: it is there, and no socket", path)
		}
		if c, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return nil, segue.Errorf(segue.Conflict, "listen on %s: a server answers there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen on %s: %w", path, err)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, segue.Errorf(segue.Unavailable, "listen: %w", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), l.Close())
	}
	return l, nil
}

// peers knows who is at the other end of a Unix socket.
type peers struct {
	user string // whose process this is
	// of returns the name and the number of the user at the other end.
	of func(*net.UnixConn) (name string, uid uint32, err error)

	mu        sync.Mutex
	operators []string
}

func newPeers(cfg Config) *peers {
	return &peers{user: cfg.User, of: newAccounts(cfg.Now).peerOf, operators: slices.Clone(cfg.Operators)}
}

func (p *peers) setOperators(names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.operators = slices.Clone(names)
}

// connContext is for http.Server: it lets the requests of a Unix socket find out who
// asks. It waits for nothing itself, since no other connection is taken meanwhile.
func (p *peers) connContext(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	return api.WithPeer(ctx, func() (api.Caller, error) { return p.callerOf(u) })
}

func (p *peers) callerOf(c *net.UnixConn) (api.Caller, error) {
	name, uid, err := p.of(c)
	if err != nil {
		return api.Caller{}, err
	}
	caller := api.Caller{User: name, Scopes: []api.Scope{api.ScopeRead, api.ScopeChains, api.ScopeSubmit}, Via: "socket"}
	p.mu.Lock()
	defer p.mu.Unlock()
	if uid == 0 || name == p.user || slices.Contains(p.operators, name) {
		caller.Scopes = append(caller.Scopes, api.ScopeOperator)
	}
	return caller, nil
}
