package predictor

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

// OwnNames returns the names of the numbers of DescribeOwn, in order.
func OwnNames() []string {
	d := Describer{sheet: sheet{naming: true}}
	d.DescribeOwn(&Present{History: &History{}}, segue.Request{}, nil)
	return d.sheet.names
}

// DescribeOwn appends to out what a request's own user does, beyond what Describe
// says of it, and returns it: what waits and runs of theirs, and how their last
// jobs fared. Much of a recorded wait is of the user's own making; the next link
// of a chain that Segue submits has none of it, so that models for chains do
// without these numbers.
func (d *Describer) DescribeOwn(now *Present, req segue.Request, out []float32) []float32 {
	d.sheet.values = out
	d.ownQueue(now, req)
	d.ownPast(now, req)
	return d.sheet.values
}

// ownQueue describes the user's jobs that wait and run.
func (d *Describer) ownQueue(now *Present, req segue.Request) {
	snap := &now.Snapshot
	var alikeRunning, alikePending, justSubmitted float64
	work, oldest, youngest := 0.0, math.NaN(), math.NaN()
	for i := range snap.Pending {
		q := &snap.Pending[i]
		if q.User != req.User || req.User == "" {
			continue
		}
		age := max(0, snap.At.Sub(q.Submit)).Hours()
		oldest, youngest = larger(oldest, age), smaller(youngest, age)
		work += float64(q.Nodes) * planned(q.Limit).Hours()
		if sameShape(q, req) {
			alikePending++
		}
		if age <= 0.25 {
			justSubmitted++
		}
	}
	next, last := math.NaN(), math.NaN()
	for i := range snap.Running {
		q := &snap.Running[i]
		if q.User != req.User || req.User == "" {
			continue
		}
		remains := left(q, planned(q.Limit), snap.At).Hours()
		next, last = smaller(next, remains), larger(last, remains)
		if sameShape(q, req) {
			alikeRunning++
		}
	}
	d.sheet.put("own.alike_running", alikeRunning)
	d.sheet.put("own.alike_pending", alikePending)
	d.sheet.put("own.just_submitted", justSubmitted)
	d.sheet.put("own.pending_work", share(work, now))
	d.sheet.put("own.pending_oldest", oldest)
	d.sheet.put("own.pending_youngest", youngest)
	d.sheet.put("own.running_left_min", next)
	d.sheet.put("own.running_left_max", last)
}

func sameShape(q *segue.QueuedJob, req segue.Request) bool {
	return q.Nodes == req.Nodes && q.Limit == req.Limit
}

// larger and smaller are max and min for which NaN is nothing yet.
func larger(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

func smaller(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

const (
	ownStarts = 20              // a user's last starts are looked at
	followed  = 2 * time.Minute // a start so soon after an own end may follow from it
)

// ownPast describes the user's last starts and ends.
func (d *Describer) ownPast(now *Present, req segue.Request) {
	h := now.History
	last, alike, longest, since := math.NaN(), math.NaN(), math.NaN(), math.NaN()
	follows, n := 0.0, 0
	user, known := h.users[req.User]
	if req.User == "" {
		known = false
	}
	ended, ran := h.ownEnds(req.User), math.NaN()
	if len(ended) > 0 {
		ran = ended[0].Run.Hours()
	}
	k := 0
	for i, seen := h.starts.len()-1, 0; known && i >= 0 && seen < recentScan && n < ownStarts; i, seen = i-1, seen+1 {
		s := h.starts.at(i)
		if s.User != user {
			continue
		}
		wait := s.Wait.Hours()
		if n == 0 {
			last, since = wait, now.Snapshot.At.Sub(s.At).Hours()
		}
		if math.IsNaN(alike) && int(s.Nodes) == req.Nodes && s.Limit == req.Limit {
			alike = wait
		}
		longest = larger(longest, wait)
		for k < len(ended) && ended[k].End > s.At {
			k++
		}
		if k < len(ended) && s.At.Sub(ended[k].End) <= followed && s.Wait > 10*time.Minute {
			follows++
		}
		n++
	}
	d.sheet.put("own.wait_last", last)
	d.sheet.put("own.wait_alike", alike)
	d.sheet.put("own.wait_longest", longest)
	d.sheet.put("own.since_start", since)
	d.sheet.put("own.follows", follows/float64(n)) // NaN for none
	d.sheet.put("own.run_last", ran)
}

// ownEnds returns the user's last ended jobs, the latest first: enough to look
// for what their last starts followed.
func (h *History) ownEnds(user string) []*Ended {
	var list []*Ended
	if user == "" {
		return nil
	}
	h.lastRuns(user, func(e *Ended) bool {
		list = append(list, e)
		return len(list) < 3*ownStarts
	})
	return list
}
