package predictor

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

// spans are those over which the past is summed up, ascending.
var spans = []struct {
	name   string
	length time.Duration
}{{"6h", 6 * time.Hour}, {"24h", 24 * time.Hour}, {"72h", 72 * time.Hour}}

// past describes what happened lately: how long those who started had waited,
// how much work was brought, and how long jobs ran for their limits.
func (d *Describer) past(now *Present) {
	d.waits(now)
	d.arrivals(now)
	ratio, n := 0.0, 0
	for i := now.History.ends.len() - 1; i >= 0 && n < 100; i-- {
		if e := now.History.ends.at(i); e.Limit > 0 {
			ratio, n = ratio+min(float64(e.Run)/float64(planned(e.Limit)), 1), n+1
		}
	}
	d.sheet.put("past.run_of_limit", ratio/float64(n))
}

// waits puts the mean and the longest wait of the jobs that started in each
// span, one after the other, from the latest back.
func (d *Describer) waits(now *Present) {
	h, i := now.History, now.History.starts.len()-1
	sum, longest, n := 0.0, math.NaN(), 0
	for _, span := range spans {
		from := now.Snapshot.At.Add(-span.length)
		for ; i >= 0 && h.starts.at(i).At >= from; i-- {
			wait := h.starts.at(i).Wait.Hours()
			sum, n = sum+wait, n+1
			if !(longest >= wait) {
				longest = wait
			}
		}
		d.sheet.put("past.wait_mean."+span.name, sum/float64(n))
		d.sheet.put("past.wait_max."+span.name, longest)
		d.sheet.put("past.starts_log."+span.name, math.Log1p(float64(n)))
	}
}

// arrivals puts the work that was submitted in each span, as a share of what
// the cluster can do in it: with the run times of the jobs that have ended, and
// with what is expected of the others.
func (d *Describer) arrivals(now *Present) {
	snap, h := &now.Snapshot, now.History
	for _, span := range spans {
		from, work := snap.At.Add(-span.length), 0.0
		for _, i := range h.submittedFrom(from) {
			e := h.ends.at(int(i))
			work += float64(e.Nodes) * e.Run.Hours()
		}
		for k, list := range [2][]segue.QueuedJob{snap.Running, snap.Pending} {
			for i := range list {
				if q := &list[i]; q.Submit >= from && !now.owns(q.User) {
					work += float64(q.Nodes) * min(d.runs[k*len(snap.Running)+i], waitHorizon).Hours()
				}
			}
		}
		d.sheet.put("past.load."+span.name, share(work, now)/span.length.Hours())
	}
}
