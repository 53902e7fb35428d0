package traces

import (
	"math"
	"time"

	"github.com/segue-project/segue"
)

const (
	// clockSkew is how much later than its start or end a job's submission
	// may be written without the record being thought wrong: two machines'
	// clocks, or one of them on the other side of a clock change.
	clockSkew = time.Hour
	// killGrace is by how much a job that its limit ended may run over it:
	// Slurm checks limits every half minute, then kills in two steps.
	killGrace = 10 * time.Minute
	// maxNodes bounds a node count; the statistics pack it into 25 bits.
	maxNodes = 1<<24 - 1
)

// settle makes rec.job a job that can be relied upon: Submit is known, Submit
// <= Start <= End where they are known, a job that never ran has no start, and
// a job that ran has nodes. It returns why the record cannot be used, or
// usable. What it changed or found odd is in rec.notes.
func (rec *record) settle() Reason {
	rec.chooseReadings()
	if reason := rec.settleState(); reason != usable {
		return reason
	}
	if reason := rec.settleOrder(); reason != usable {
		return reason
	}
	if reason := rec.settleCounts(); reason != usable {
		return reason
	}
	rec.settleLimit()
	return usable
}

// settleState decides whether the job started and ended.
func (rec *record) settleState() Reason {
	j := &rec.job
	j.Submit, j.Eligible, j.Start, j.End = rec.submit.at, rec.eligible.at, rec.start.at, rec.end.at
	if !j.Submit.Known() {
		return NoSubmit
	}
	if !j.End.Known() && j.Start.Known() && rec.elapsed > 0 && (j.State.Ended() || !rec.stateGiven) {
		j.End = j.Start.Add(rec.elapsed)
		if rec.endGiven {
			rec.notes.add(EndFromElapsed)
		}
	}
	if !rec.stateGiven {
		rec.inferState()
	}
	switch {
	case j.State == segue.Pending:
		j.Start = segue.NoTime
		rec.dropEnd()
	case j.State == segue.Running || j.State == segue.Suspended:
		rec.dropEnd()
	case (j.State == segue.Cancelled || j.State == segue.Deadline) && j.Start == j.End:
		j.Start = segue.NoTime
	}
	switch {
	case !j.Start.Known():
		rec.notes.add(NeverStarted)
	case j.Start == j.End:
		rec.notes.add(ZeroLength)
	}
	if !j.End.Known() {
		if j.State.Ended() {
			rec.notes.add(EndedWithoutEnd)
		} else {
			rec.notes.add(NotEnded)
		}
	}
	return usable
}

// dropEnd forgets the end of a job that has not ended: sacct --truncate writes
// the end of its window there.
func (rec *record) dropEnd() {
	if rec.job.End.Known() {
		rec.job.End = segue.NoTime
		rec.notes.add(EndOfUnended)
	}
}

// inferState sets the state of a job whose file has no column for it, from its
// times, its limit and its exit code.
func (rec *record) inferState() {
	j := &rec.job
	switch {
	case !j.End.Known() && !j.Start.Known():
		j.State = segue.Pending
	case !j.End.Known():
		j.State = segue.Running
	case !j.Start.Known() || j.Start == j.End:
		j.State = segue.Cancelled
	case j.Limit > 0 && j.Run() >= j.Limit:
		j.State = segue.Timeout
	case j.ExitCode != 0 || j.Signal != 0:
		j.State = segue.Failed
	default:
		j.State = segue.Completed
	}
}

// settleOrder checks that the times follow each other, and mends what clocks
// explain.
func (rec *record) settleOrder() Reason {
	j := &rec.job
	for _, t := range [...]segue.Time{j.Submit, j.Start, j.End} {
		if t.Known() && (t.Unix() < firstSecond || t.Unix() > lastSecond) {
			return rec.reject(OutOfRange, "time before the year -207 or after 4147", nil)
		}
	}
	if j.Ran() && j.End < j.Start {
		return EndBeforeStart
	}
	first := j.Start
	if !first.Known() {
		first = j.End
	}
	if first.Known() && first < j.Submit {
		if j.Submit.Sub(first) > clockSkew {
			return StartLongBeforeSubmit
		}
		j.Submit = first
		rec.notes.add(StartBeforeSubmit)
	}
	if j.Eligible.Known() && (j.Eligible < j.Submit || (j.Start.Known() && j.Eligible > j.Start)) {
		rec.notes.add(EligibleOutOfOrder)
		if j.Eligible < j.Submit {
			j.Eligible = j.Submit
		} else {
			j.Eligible = segue.NoTime
		}
	}
	return usable
}

// settleCounts chooses among the counts and checks that they fit.
func (rec *record) settleCounts() Reason {
	j := &rec.job
	started := j.Start.Known()
	nodes, cpus, gpus := rec.nodes.of(started), rec.cpus.of(started), rec.gpus.of(started)
	switch {
	case nodes > maxNodes:
		return rec.reject(OutOfRange, "over 16,777,215 nodes", nil)
	case cpus > math.MaxInt32:
		return rec.reject(OutOfRange, "over 2,147,483,647 processors", nil)
	case gpus > math.MaxInt32:
		return rec.reject(OutOfRange, "over 2,147,483,647 GPUs", nil)
	case started && nodes == 0:
		return NoNodes
	}
	j.Nodes, j.CPUs, j.GPUs = int32(nodes), int32(cpus), int32(gpus)
	return usable
}

func (rec *record) settleLimit() {
	j := &rec.job
	switch {
	case j.Limit == 0:
		rec.notes.add(LimitUnknown)
	case j.Run() > j.Limit:
		rec.notes.add(OverLimit)
	}
}

// chooseReadings picks one instant of every local time that occurs twice: the
// earlier one, unless the record is more consistent with the later one.
func (rec *record) chooseReadings() {
	if !rec.submit.alt.Known() && !rec.start.alt.Known() && !rec.end.alt.Known() {
		rec.chooseEligible()
		return
	}
	moments := [...]*moment{&rec.submit, &rec.start, &rec.end}
	best, fewest := 0, math.MaxInt
	for choice := range 1 << len(moments) {
		var t [len(moments)]segue.Time
		possible := true
		for i, m := range moments {
			t[i] = m.at
			if choice>>i&1 == 1 {
				t[i] = m.alt
				possible = possible && m.alt.Known()
			}
		}
		if possible {
			if faults := rec.faults(t[0], t[1], t[2]); faults < fewest {
				best, fewest = choice, faults
			}
		}
	}
	for i, m := range moments {
		if best>>i&1 == 1 {
			m.at = m.alt
		}
	}
	rec.chooseEligible()
}

// faults weighs how badly the times contradict each other, the recorded run
// time and the time limit.
func (rec *record) faults(submit, start, end segue.Time) int {
	faults := 0
	if start.Known() && start < submit {
		faults += 8
	}
	if !start.Known() || !end.Known() {
		return faults
	}
	run := end.Sub(start)
	if run < 0 {
		faults += 4
	}
	if rec.elapsed != notMeasured && run != rec.elapsed {
		faults += 2
	}
	if limit := rec.job.Limit; limit > 0 && limit != segue.Unlimited && run > limit+killGrace {
		faults++
	}
	return faults
}

func (rec *record) chooseEligible() {
	if e := &rec.eligible; e.alt.Known() && e.at < rec.submit.at {
		e.at = e.alt
	}
}
