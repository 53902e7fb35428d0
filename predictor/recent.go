package predictor

import (
	"time"

	"github.com/segue-project/segue"
)

// Recent forecasts the waits of the jobs that started last.
type Recent struct {
	name      string
	jobs      int
	sameShape bool
	scan      int
}

// recentScan bounds how far back a search for jobs of one shape goes.
const recentScan = 5000

// NewRecent returns a forecaster by the last jobs starts of all jobs.
func NewRecent(jobs int) *Recent { return &Recent{name: "recent", jobs: jobs, scan: jobs} }

// NewRecentShape returns a forecaster by the last jobs starts of the same shape
// (as many nodes, a limit within a factor of two), of which the request's own
// user's come first: they fill up to half.
func NewRecentShape(jobs int) *Recent {
	return &Recent{name: "recent-shape", jobs: jobs, sameShape: true, scan: recentScan}
}

// Name returns "recent" or "recent-shape".
func (r *Recent) Name() string { return r.name }

// Forecast returns the waits of the last starts.
func (r *Recent) Forecast(now *Present, req segue.Request) (segue.Forecast, error) {
	waits := make([]time.Duration, 0, r.jobs)
	owner, known := now.History.users[req.User]
	ownFirst := r.sameShape && known
	if ownFirst {
		waits = r.collect(now.History, req, waits, r.jobs/2, func(user int32) bool { return user == owner })
	}
	taken := len(waits) // of the user's own latest, not to be taken twice
	waits = r.collect(now.History, req, waits, r.jobs-taken, func(user int32) bool {
		if ownFirst && user == owner && taken > 0 {
			taken--
			return false
		}
		return true
	})
	return segue.NewForecast(now.Snapshot.At, r.name, waits), nil
}

// collect appends the waits of up to want of the last starts, the latest first.
func (r *Recent) collect(h *History, req segue.Request, waits []time.Duration, want int, of func(user int32) bool) []time.Duration {
	for i, seen := h.starts.len()-1, 0; i >= 0 && seen < r.scan && want > 0; i, seen = i-1, seen+1 {
		s := h.starts.at(i)
		if r.sameShape && (int(s.Nodes) != req.Nodes || s.Limit-req.Limit > req.Limit || req.Limit-s.Limit > s.Limit) {
			continue
		}
		if of(s.User) {
			waits = append(waits, s.Wait)
			want--
		}
	}
	return waits
}
