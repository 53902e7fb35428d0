package trainer

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
)

// defaultLimit stands for the limit of a job that has none and has not ended.
const defaultLimit = 24 * time.Hour

// KnownBefore returns the history as it stood at the instant until, ready to be
// replayed: without the jobs submitted later, and with what had not ended then
// running to its limit. Whoever trains on it has seen nothing later.
func KnownBefore(history []segue.Job, until segue.Time) []segue.Job {
	known := predictor.Known(history, until)
	for i := range known {
		j := &known[i]
		if j.End.Known() {
			continue
		}
		limit := j.Limit
		if limit <= 0 || limit == segue.Unlimited {
			limit = defaultLimit
		}
		if !j.Start.Known() {
			j.Start = until
		}
		j.End = max(j.Start.Add(limit), until)
		j.State = segue.Completed
	}
	return known
}
