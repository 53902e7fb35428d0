package infer

import (
	"math"
	"slices"
	"sort"

	"github.com/segue-project/segue"
)

// PendingRow is the waits of the jobs that found From to To own jobs pending
// when they were submitted.
type PendingRow struct {
	From int `json:"from"`
	To   int `json:"to"` // -1: and more
	Jobs int `json:"jobs"`
	// Mean, Median and P90 are hours, until the job started or was cancelled.
	Mean   float64 `json:"mean_hours"`
	Median float64 `json:"median_hours"`
	P90    float64 `json:"p90_hours"`
}

// ownPending groups the jobs that left the queue by the number of jobs that
// their user had pending when they came.
func (h *history) ownPending() []PendingRow {
	rows := []PendingRow{{From: 0, To: 0}, {From: 1, To: 2}, {From: 3, To: 10}, {From: 11, To: -1}}
	waits := make([][]float64, len(rows))
	for _, own := range h.users {
		var leaving []segue.Time // of the jobs that pend, in ascending order
		for _, i := range own {
			at := h.jobs[i].Submit
			gone := sort.Search(len(leaving), func(k int) bool { return leaving[k] > at })
			leaving = leaving[gone:]
			if h.leaves[i] != segue.Never {
				r := slices.IndexFunc(rows, func(r PendingRow) bool { return r.To < 0 || len(leaving) <= r.To })
				waits[r] = append(waits[r], h.wait(i).Hours())
			}
			if h.leaves[i] > at {
				k := sort.Search(len(leaving), func(k int) bool { return leaving[k] > h.leaves[i] })
				leaving = slices.Insert(leaving, k, h.leaves[i])
			}
		}
	}
	for r := range rows {
		rows[r].summarise(waits[r])
	}
	return rows
}

func (r *PendingRow) summarise(hours []float64) {
	if r.Jobs = len(hours); r.Jobs == 0 {
		return
	}
	sort.Float64s(hours)
	sum := 0.0
	for _, v := range hours {
		sum += v
	}
	quantile := func(p float64) float64 { return hours[int(math.Round(p*float64(len(hours)-1)))] }
	r.Mean, r.Median, r.P90 = sum/float64(len(hours)), quantile(0.5), quantile(0.9)
}
