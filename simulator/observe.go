package simulator

import "github.com/segue-project/segue"

// Observer is told what anyone who watches the scheduler would see: that a job
// was submitted, started, or ended.
type Observer interface {
	Submitted(ref Ref, at segue.Time)
	Started(ref Ref, at segue.Time)
	// Ended is told the start too; a preempted or requeued job does not end.
	Ended(ref Ref, start, at segue.Time)
}

// Observe makes o see everything from here on; nil ends that. A fork has no
// observer until it is given its own.
func (s *Sim) Observe(o Observer) { s.observer = o }

// Job returns what is publicly known of a job: everything but its run time.
func (s *Sim) Job(ref Ref) segue.QueuedJob { return s.show(ref) }
