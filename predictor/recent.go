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
	h := now.History
	waits := make([]time.Duration, 0, r.jobs)
	if r.sameShape {
		waits = r.collect(h, req, waits, r.jobs/2, true)
	}
	waits = r.collect(h, req, waits, r.jobs-len(waits), false)
	return segue.NewForecast(now.Snapshot.At, r.name, waits), nil
}

func (r *Recent) collect(h *History, req segue.Request, waits []time.Duration, want int, own bool) []time.Duration {
	user, known := h.users[req.User]
	if own && !known {
		return waits
	}
	for i, seen := h.starts.len()-1, 0; i >= 0 && seen < r.scan && want > 0; i, seen = i-1, seen+1 {
		s := h.starts.at(i)
		if r.sameShape && (int(s.Nodes) != req.Nodes || s.Limit > 2*req.Limit || 2*s.Limit < req.Limit) {
			continue
		}
		if own && s.User != user {
			continue
		}
		waits = append(waits, s.Wait)
		want--
	}
	return waits
}
