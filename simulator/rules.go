package simulator

import (
	"fmt"

	"github.com/segue-project/segue"
)

// Backfill is the rule by which a job may overtake.
type Backfill uint8

// The backfill rules.
const (
	// NoBackfill starts jobs strictly in order.
	NoBackfill Backfill = iota
	// EASY lets a job overtake that does not delay the first waiting job
	// (Lifka, 1995).
	EASY
	// Conservative gives every job a reservation at its submission, which no
	// later job delays; when a job ends early all are placed anew in order
	// (Mu'alem and Feitelson, 2001).
	Conservative
	// SlurmBackfill plans anew every BackfillInterval, as Slurm's sched/backfill.
	SlurmBackfill
)

var backfillNames = [...]string{"none", "easy", "conservative", "slurm"}

// String returns the name on the command line.
func (b Backfill) String() string {
	if int(b) < len(backfillNames) {
		return backfillNames[b]
	}
	return fmt.Sprintf("Backfill(%d)", b)
}

// ParseBackfill returns the rule of that name.
func ParseBackfill(name string) (Backfill, error) {
	for i, n := range backfillNames {
		if n == name {
			return Backfill(i), nil
		}
	}
	return 0, segue.Errorf(segue.Invalid, "backfill %q: want none, easy, conservative or slurm", name)
}

// Events says how much happens between two scheduling passes.
type Events uint8

// The granularities of events.
const (
	// PerInstant makes one pass after everything that happens at one instant.
	PerInstant Events = iota
	// PerEvent makes a pass after every single event, as the simulators do that
	// the reference schedules are from. Like them it knows neither SlurmBackfill,
	// nor outages, preemption and jobs on part of a node.
	PerEvent
)

// ParseEvents returns the granularity that the command line calls name.
func ParseEvents(name string) (Events, error) {
	switch name {
	case "per-instant":
		return PerInstant, nil
	case "per-event":
		return PerEvent, nil
	}
	return 0, segue.Errorf(segue.Invalid, "events %q: want per-instant or per-event", name)
}
