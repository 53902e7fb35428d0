package store

import (
	"context"
	"time"

	"github.com/segue-project/segue"
)

// Lease says who works: of several agents that were started, the one that holds
// the lease of a name. Its fence grows with every new holder, so that what an
// earlier one still has on its way is told apart (see [Store.Under]).
type Lease struct {
	Name    string
	Holder  string // unique to the process: host, process ID, a random word
	Fence   int64
	Expires segue.Time
}

// Acquire takes the lease of a name at the instant now, for the span ttl. Conflict
// says that somebody else holds it, and until when. Whoever holds it already takes
// it again with a higher fence.
func (s *Store) Acquire(ctx context.Context, name, holder string, now segue.Time, ttl time.Duration) (l Lease, err error) {
	defer s.wrap(&err, "acquire lease %s for %s", name, holder)
	if name == "" || holder == "" || ttl <= 0 {
		return Lease{}, segue.Errorf(segue.Invalid, "a lease %q of %q for %s: want names and more than 0", name, holder, ttl)
	}
	l = Lease{Name: name, Holder: holder, Expires: now.Add(ttl)}
	err = s.change(ctx, func(t tx) error {
		taken, err := t.row([]any{&l.Fence}, `INSERT INTO leases (name, holder, fence, expires) VALUES ($1, $2, 1, $3)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = leases.fence + 1, expires = excluded.expires
			WHERE leases.expires <= $4 OR leases.holder IN ('', excluded.holder) RETURNING fence`,
			name, holder, int64(l.Expires), int64(now))
		if err != nil || taken {
			return err
		}
		var other Lease
		if _, err := t.row([]any{&other.Holder, toInstant{&other.Expires}}, `SELECT holder, expires FROM leases WHERE name = $1`, name); err != nil {
			return err
		}
		return segue.Errorf(segue.Conflict, "%s holds it until %s", other.Holder, other.Expires)
	})
	if err != nil {
		return Lease{}, err
	}
	return l, nil
}

// Leases returns the leases that somebody holds at the instant now, by name.
func (s *Store) Leases(ctx context.Context, now segue.Time) (held []Lease, err error) {
	defer s.wrap(&err, "list leases")
	return collect(ctx, s.read, func(row scanner) (l Lease, err error) {
		err = row.Scan(&l.Name, &l.Holder, &l.Fence, toInstant{&l.Expires})
		return l, err
	}, `SELECT name, holder, fence, expires FROM leases WHERE holder <> '' AND expires > $1 ORDER BY name`, int64(now))
}

// Renew makes a lease last until now+ttl, and returns it. Conflict says that it
// was lost to somebody else. One that ran out and that nobody took is renewed.
func (s *Store) Renew(ctx context.Context, l Lease, now segue.Time, ttl time.Duration) (renewed Lease, err error) {
	defer s.wrap(&err, "renew lease %s of %s", l.Name, l.Holder)
	renewed = l
	renewed.Expires = now.Add(ttl)
	err = s.change(ctx, func(t tx) error { return t.setLease(l, l.Holder, renewed.Expires) })
	if err != nil {
		return Lease{}, err
	}
	return renewed, nil
}

// Release gives a lease back, so that the next one need not wait until it runs
// out. One that was lost already is no error.
func (s *Store) Release(ctx context.Context, l Lease) (err error) {
	defer s.wrap(&err, "release lease %s of %s", l.Name, l.Holder)
	err = s.change(ctx, func(t tx) error { return t.setLease(l, "", l.Expires) })
	if segue.KindOf(err) == segue.Conflict {
		err = nil
	}
	return err
}

func (t tx) setLease(l Lease, holder string, expires segue.Time) error {
	n, err := t.exec(`UPDATE leases SET holder = $1, expires = $2 WHERE name = $3 AND holder = $4 AND fence = $5`,
		holder, int64(expires), l.Name, l.Holder, l.Fence)
	if err == nil && n == 0 {
		err = l.lost()
	}
	return err
}

// Under returns the store for the holder of a lease: every change fails with
// Conflict as soon as somebody else has the lease, whatever the clocks say. It
// shares the store's connections and needs no Close.
func (s *Store) Under(l Lease) *Store {
	under := *s
	under.lease = &l
	return &under
}

// leaseHeld finds a row if the lease of that name, holder and fence holds.
const leaseHeld = `SELECT true FROM leases WHERE name = $1 AND holder = $2 AND fence = $3`

// holds fails unless the lease is its holder's, and keeps it so until the change
// ends.
func (t tx) holds(l Lease) error {
	var held bool
	ok, err := t.row([]any{&held}, leaseHeld+t.s.engine.forShare(), l.Name, l.Holder, l.Fence)
	if err == nil && !ok {
		err = l.lost()
	}
	return err
}

func (l Lease) lost() error { return segue.Errorf(segue.Conflict, "lease %s was lost", l.Name) }
