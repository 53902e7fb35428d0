package predictor

import (
	"time"

	"github.com/segue-project/segue"
)

// RecentUser forecasts the waits of the user's own jobs that started last.
type RecentUser struct{ jobs int }

// leastOwn is how many waits of a user's own say more than those of all.
const leastOwn = 5

// NewRecentUser returns a forecaster by the last jobs starts of the same user,
// or of all users while there are fewer than five of the user's.
func NewRecentUser(jobs int) *RecentUser { return &RecentUser{jobs} }

// Name returns "recent-user".
func (r *RecentUser) Name() string { return "recent-user" }

// Forecast returns the waits of the last starts.
func (r *RecentUser) Forecast(now *Present, req segue.Request) (segue.Forecast, error) {
	h := now.History
	var own, all []time.Duration
	user, known := h.users[req.User]
	for i, seen := h.starts.len()-1, 0; i >= 0 && seen < recentScan && len(own) < r.jobs; i, seen = i-1, seen+1 {
		s := h.starts.at(i)
		if len(all) < r.jobs {
			all = append(all, s.Wait)
		}
		if known && s.User == user {
			own = append(own, s.Wait)
		}
	}
	if len(own) < leastOwn {
		own = all
	}
	return segue.NewForecast(now.Snapshot.At, r.Name(), own), nil
}
