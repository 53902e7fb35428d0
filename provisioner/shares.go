package provisioner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// LeaseOf returns the name of the lease under which the chains of a user are kept
// going: by the user's own agent, or by a server that does so for everybody.
func LeaseOf(user string) string { return "agent of " + user }

// SharesConfig is for whoever keeps the chains of several users going. All of it is
// required.
type SharesConfig struct {
	Store  *store.Store
	Now    func() segue.Time
	Holder string        // as of AgentConfig
	Span   time.Duration // how long a lease lasts that is not renewed
}

// Shares holds the leases of users, so that nobody else keeps their chains going,
// and leaves those alone whose agent works. Several goroutines may use it.
type Shares struct {
	cfg SharesConfig

	mu   sync.Mutex
	held map[string]store.Lease
}

// NewShares returns one that holds nothing.
func NewShares(cfg SharesConfig) *Shares { return &Shares{cfg: cfg, held: map[string]store.Lease{}} }

// Of returns the store under the lease of a user, which it takes or keeps. Conflict
// says that somebody else has it.
func (s *Shares) Of(ctx context.Context, user string) (*store.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, held := s.held[user]
	var err error
	if held {
		lease, err = s.cfg.Store.Renew(ctx, lease, s.cfg.Now(), s.cfg.Span)
	}
	if !held || segue.KindOf(err) == segue.Conflict {
		delete(s.held, user)
		lease, err = s.cfg.Store.Acquire(ctx, LeaseOf(user), s.cfg.Holder, s.cfg.Now(), s.cfg.Span)
	}
	if err != nil {
		return nil, err
	}
	s.held[user] = lease
	return s.cfg.Store.Under(lease), nil
}

// Keep renews what is held, while a round takes its time.
func (s *Shares) Keep(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for user, lease := range s.held {
		if _, err := s.cfg.Store.Renew(ctx, lease, s.cfg.Now(), s.cfg.Span); segue.KindOf(err) == segue.Conflict {
			delete(s.held, user)
		}
	}
}

// Release gives back all that is held, but for the users named.
func (s *Shares) Release(ctx context.Context, but ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []error
	for _, user := range slices.Sorted(maps.Keys(s.held)) {
		if !slices.Contains(but, user) {
			all = append(all, s.cfg.Store.Release(ctx, s.held[user]))
			delete(s.held, user)
		}
	}
	return errors.Join(all...)
}
