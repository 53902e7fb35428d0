package predictor

import (
	"time"

	"github.com/segue-project/segue"
)

// RecordedWindow returns the summaries of the last SummarySteps full hours up to
// the instant at, the oldest first, as a recorded history shows them on a
// cluster with nodes in service. Hours before the first submission are zero, as
// they were in training.
func RecordedWindow(jobs []segue.Job, at segue.Time, nodes int, owner string) []float32 {
	first := segue.Never
	for i := range jobs {
		if submit := jobs[i].Submit; submit.Known() {
			first = min(first, submit)
		}
	}
	past := at % segue.Time(SummaryStep/time.Microsecond)
	if past < 0 {
		past += segue.Time(SummaryStep / time.Microsecond)
	}
	width := len(SummaryNames())
	window := make([]float32, 0, SummarySteps*width)
	for k := SummarySteps - 1; k >= 0; k-- {
		hour := (at - past).Add(-time.Duration(k) * SummaryStep)
		if hour < first {
			window = append(window, make([]float32, width)...)
			continue
		}
		now := RecordedAt(jobs, hour, nodes)
		window = Summarise(&now.Snapshot, owner, window)
	}
	return window
}
