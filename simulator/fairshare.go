package simulator

import (
	"strconv"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/budgets"
)

// usage is the decayed use of the cluster behind the fair-share factor. It is
// empty where that factor has no weight.
type usage struct {
	used      *budgets.Usage
	factors   []float64 // per user, as of the last calculation
	chargedTo int64     // running jobs have been charged until then
}

// equalShares returns a tree in which every user has one share.
func equalShares(users int) (*budgets.Tree, error) {
	list := make([]budgets.User, users)
	for i := range list {
		list[i] = budgets.User{Name: strconv.Itoa(i), Shares: 1}
	}
	return budgets.NewTree(nil, list)
}

func newUsage(c *conf, users int, now int64) (usage, error) {
	m := c.multifactor
	if m == nil || m.FairShare == 0 {
		return usage{}, nil
	}
	if m.Shares == nil {
		tree, err := equalShares(users)
		if err != nil {
			return usage{}, err
		}
		m.Shares = tree
	}
	if n := m.Shares.Users(); n < users {
		return usage{}, segue.Errorf(segue.Invalid, "simulator config: Order.Multifactor.Shares has %d users, the jobs name %d", n, users)
	}
	used, err := m.Shares.NewUsage(segue.Time(now), m.HalfLife)
	if err != nil {
		return usage{}, err
	}
	u := usage{used: used, factors: make([]float64, m.Shares.Users()), chargedTo: now}
	m.Shares.Factors(used, u.factors)
	return u, nil
}

// charge adds what a job used since the last calculation to its user's usage:
// nodes x seconds, weighed by nothing else.
func (s *Sim) charge(j *job, start int64) {
	if u := &s.usage; u.used != nil && int(j.user) < len(u.factors) {
		u.used.Charge(int(j.user), segue.Time(max(start, u.chargedTo)), segue.Time(s.now), float64(j.nodes))
	}
}

// updateFairShare charges the running jobs up to now and ranks the users.
func (s *Sim) updateFairShare() {
	u := &s.usage
	if u.used == nil {
		return
	}
	for i := range s.pools {
		for r := range s.pools[i].running.all() {
			s.charge(s.job(r.ref), s.startOf(r))
		}
	}
	u.chargedTo = s.now
	u.used.Decay(segue.Time(s.now))
	s.conf.multifactor.Shares.Factors(u.used, u.factors)
}

// fairShare returns the user's factor as of the last calculation; a user that
// the shares do not know has none.
func (s *Sim) fairShare(user int32) float64 {
	if int(user) >= len(s.usage.factors) {
		return 0
	}
	return s.usage.factors[user]
}

func (u *usage) copyInto(d *usage) {
	d.chargedTo = u.chargedTo
	if u.used == nil {
		d.used, d.factors = nil, nil
		return
	}
	if d.used == nil {
		d.used = &budgets.Usage{}
	}
	u.used.CopyInto(d.used)
	d.factors = append(d.factors[:0], u.factors...)
}
