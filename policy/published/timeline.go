package published

import (
	"time"

	"github.com/segue-project/segue"
)

// The window of a state: Steps snapshots, one every Step.
const (
	Step       = 10 * time.Minute
	Steps      = 144
	StateWidth = Steps * StepWidth // 6,048 numbers, the oldest snapshot first
)

// step is Step in the clock's unit.
const step = segue.Time(Step / time.Microsecond)

// Timeline holds the queue's numbers of a cluster at every full ten minutes. The
// zero value is empty.
type Timeline struct {
	From   segue.Time // of the first snapshot
	Queues []float32  // QueueWidth numbers of one snapshot after the other

	describer Describer
}

// Next returns the instant of the snapshot to record: a step after the last one,
// and for an empty timeline the first full ten minutes that are not before from.
func (t *Timeline) Next(from segue.Time) segue.Time {
	if len(t.Queues) > 0 {
		return t.From.Add(time.Duration(len(t.Queues)/QueueWidth) * Step)
	}
	past := from % step
	switch {
	case past > 0:
		return from + step - past
	default:
		return from - past
	}
}

// Record appends a snapshot, which must be of the instant Next.
func (t *Timeline) Record(snap *segue.Snapshot) {
	if len(t.Queues) == 0 {
		t.From = snap.At
	}
	t.Queues = t.describer.Queue(snap, t.Queues)
}

// State writes the state of a pair at an instant into out, which holds
// StateWidth numbers: the last Steps snapshots up to then, each with the pair as
// it is at that instant. Between two snapshots the ones before it count. It
// reports false where there are not so many, as nothing is decided then.
func (t *Timeline) State(p Pair, at segue.Time, out []float32) bool {
	if at < t.From {
		return false
	}
	first := int((at-t.From)/step) - Steps + 1
	if first < 0 || (first+Steps)*QueueWidth > len(t.Queues) {
		return false
	}
	var pair [PairWidth]float32
	p.put(at, pair[:])
	for k := range Steps {
		row := out[k*StepWidth:][:StepWidth]
		copy(row, t.Queues[(first+k)*QueueWidth:][:QueueWidth])
		copy(row[QueueWidth:], pair[:])
	}
	return true
}
