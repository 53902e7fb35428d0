package infer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// ordered returns a history of one-node jobs on one node that a scheduler starts
// in the order of priority and age, an hour of which is worth perHour.
func ordered(seed uint64, perHour float64) []segue.Job {
	rng := rand.New(rand.NewPCG(seed, 0))
	var jobs []segue.Job
	at := 0.0
	for i := range 600 {
		at += rng.ExpFloat64() * 0.98
		user := rng.IntN(30)
		jobs = append(jobs, segue.Job{
			ID: segue.JobID{Number: int64(i)}, User: fmt.Sprint(user), Nodes: 1, Limit: 2 * time.Hour, Submit: hours(at),
			Priority: int64(1000 + 20*user), State: segue.Completed, Start: segue.NoTime, End: segue.NoTime,
		})
	}
	now := jobs[0].Submit
	for range jobs {
		best, most := -1, 0.0
		for ; best < 0; now = now.Add(time.Minute) {
			for k := range jobs {
				if j := &jobs[k]; !j.Start.Known() && j.Submit <= now {
					if p := float64(j.Priority) + perHour*now.Sub(j.Submit).Hours(); best < 0 || p > most {
						best, most = k, p
					}
				}
			}
		}
		jobs[best].Start, jobs[best].End = now, now.Add(time.Hour)
		now = jobs[best].End
	}
	return jobs
}

func TestTheWorthOfAgeIsFoundFromTheOrderOfStarts(t *testing.T) {
	t.Parallel()
	for _, perHour := range []float64{3, 20, 60} {
		t.Run(fmt.Sprint(perHour), func(t *testing.T) {
			t.Parallel()
			o := newHistory(ordered(1, perHour)).orderAlone()
			if !o.Found || o.AgePerHour < 0.8*perHour || o.AgePerHour > 1.25*perHour || o.Explained < 0.98 {
				t.Errorf("found %+v, want about %g an hour", o, perHour)
			}
		})
	}
}

func TestNoOrderIsFoundWhereThereIsNone(t *testing.T) {
	t.Parallel()
	tests := map[string]func(j *segue.Job){
		"priorities that mean nothing": func(j *segue.Job) { j.Priority = 1000 + (j.ID.Number*7919)%600 },
		"one priority for all":         func(j *segue.Job) { j.Priority = 1000 },
		"no priorities":                func(j *segue.Job) { j.Priority = 0 },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs := ordered(2, 1e6) // first come, first served
			for i := range jobs {
				change(&jobs[i])
			}
			if o := newHistory(jobs).orderAlone(); o.Found {
				t.Errorf("found %+v", o)
			}
		})
	}
}

// orderAlone infers the order of a history in which nobody is held back.
func (h *history) orderAlone() Order {
	r := &Result{SelfBlocked: make([]bool, len(h.jobs)), Eligible: make([]segue.Time, len(h.jobs))}
	for i := range h.jobs {
		r.Eligible[i] = h.jobs[i].Submit
	}
	return h.inferOrder(r)
}
