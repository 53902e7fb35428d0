package infer

import (
	"time"

	"github.com/segue-project/segue"
)

// suspects finds the jobs that waited long enough to be asked why, with what
// speaks for an own job as the reason.
type suspects struct {
	h         *history
	cfg       Config
	blocks    []segue.Time
	endings   *endings
	overtaken []bool
	hadRoom   func(at segue.Time, nodes int) bool
}

func newSuspects(h *history, cfg Config, blocks []segue.Time) *suspects {
	return &suspects{
		h: h, cfg: cfg, blocks: blocks,
		endings:   h.newEndings(cfg.Window),
		overtaken: h.overtaken(cfg.Window),
		hadRoom:   h.newOccupancy(nil).hadRoom(),
	}
}

// of returns the suspects of a user.
func (s *suspects) of(u int) []waited {
	var all []waited
	longest := segue.NoTime // until when an earlier submitted job pends
	for _, i := range s.h.users[u] {
		first := longest <= s.h.leaves[i]
		longest = max(longest, s.h.leaves[i])
		if s.h.started[i] && s.h.wait(i) > s.cfg.MinWait {
			all = append(all, s.suspect(u, i, first))
		}
	}
	return all
}

func (s *suspects) suspect(u, i int, first bool) waited {
	j := &s.h.jobs[i]
	before := j.Start.Add(-s.cfg.Window) - 1
	w := waited{
		job:      i,
		heldBack: s.overtaken[i] && s.hadRoom(before, int(j.Nodes)),
		first:    first,
		anytime:  s.endings.anytime(u, j.Submit, j.Start),
	}
	w.chance = w.anytime
	if !w.heldBack {
		w.chance = s.endings.afterSomeEnd(u, j, w.anytime)
	}
	w.after, w.coincides = s.lastEndBefore(u, i)
	w.named = w.after >= 0 && continues(s.h.jobs[w.after].Name, j.Name)
	// A limit explains the start, unless the limit would have let an earlier own
	// job start first and the name says why it did not.
	w.byLimit = s.blocks[i].Known() && j.Start.Sub(s.blocks[i]) <= s.cfg.Window && (first || !w.named)
	return w
}

// lastEndBefore returns the own job whose end came last before job i's start
// while i waited, and whether that was within the window; within it, one whose
// name i continues is preferred. It returns -1 if no own job ended in the wait.
func (s *suspects) lastEndBefore(u, i int) (int, bool) {
	j := &s.h.jobs[i]
	own := s.endings.own[u]
	k := lastEnding(own, j.Start)
	if k < 0 || own[k].at < j.Submit {
		return -1, false
	}
	last := own[k].job
	if j.Start.Sub(own[k].at) > s.cfg.Window {
		return last, false
	}
	for ; k >= 0 && own[k].at >= j.Submit && j.Start.Sub(own[k].at) <= s.cfg.Window; k-- {
		if continues(s.h.jobs[own[k].job].Name, j.Name) {
			return own[k].job, true
		}
	}
	return last, true
}

// microseconds returns d in the unit of segue.Time.
func microseconds(d time.Duration) segue.Time { return segue.Time(d / time.Microsecond) }
