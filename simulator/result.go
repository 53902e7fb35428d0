package simulator

import (
	"slices"

	"github.com/segue-project/segue"
)

// Attempt is one run of a job that did not count: it was preempted or its
// nodes failed.
type Attempt struct {
	Job        Ref
	Start, End segue.Time
	State      segue.JobState // Preempted or NodeFail
}

// Result is what became of the jobs given to New.
type Result struct {
	// Starts holds the last start per job, NoTime for a job that has not started
	// or whose attempts all failed.
	Starts []segue.Time
	// Ends holds the end per job; for a job that never started, when it was
	// given up (cancelled, or its dependency never satisfied); NoTime for a job
	// that still waits or runs.
	Ends []segue.Time
	// Attempts are the earlier runs of requeued jobs, and the only run of those
	// that preemption cancelled, in order of their ends.
	Attempts []Attempt
}

// record is what became of the table's jobs so far.
type record struct {
	outcomes []outcome
	attempts []Attempt
}

func newRecord(jobs int) *record {
	r := &record{outcomes: make([]outcome, jobs)}
	for i := range r.outcomes {
		r.outcomes[i] = untouched
	}
	return r
}

// Result returns what became of the jobs so far. A fork has none.
func (s *Sim) Result() Result {
	if s.record == nil {
		return Result{}
	}
	n := len(s.record.outcomes)
	r := Result{Starts: make([]segue.Time, n), Ends: make([]segue.Time, n), Attempts: slices.Clone(s.record.attempts)}
	for i, o := range s.record.outcomes {
		r.Starts[i], r.Ends[i] = segue.Time(o.start), segue.Time(o.end)
	}
	return r
}

// Replay runs jobs through the cluster cfg from the first to the last event.
// progress, when not nil, is told now and then how many jobs have arrived.
func Replay(cfg Config, jobs []Job, progress func(arrived int)) (Result, error) {
	s, err := New(cfg, jobs)
	if err != nil {
		return Result{}, err
	}
	if progress != nil {
		s.runTelling(progress)
	}
	s.Run()
	if progress != nil {
		progress(len(jobs))
	}
	return s.Result(), nil
}

// runTelling runs until the last submission and calls progress along the way.
func (s *Sim) runTelling(progress func(arrived int)) {
	const reports = 200
	if len(s.table.order) == 0 {
		return
	}
	first, last := s.now, s.table.jobs[s.table.order[len(s.table.order)-1]].submit
	for i := range int64(reports) {
		s.AdvanceTo(segue.Time(first + (last-first)/reports*(i+1)))
		progress(s.arrived)
	}
}
